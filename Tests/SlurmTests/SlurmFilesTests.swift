import Basics
import Foundation
import Support
import Testing

@testable import Slurm

/// The files of cluster jobs in the shared folder.
@Suite struct SlurmFilesTests {
  @Test func anAttemptIsWithdrawnUnlessAJobHasBegunIt() throws {
    let folder = try TemporaryFolder()
    let files = SlurmFiles(folder: folder.url.path())
    let identity = SlurmIdentity(run: "r", job: "a", attempt: 1)
    #expect(files.withdraw(identity))
    #expect(files.claim(of: identity) == nil)
    #expect(!files.withdraw(identity))
    let begun = SlurmIdentity(run: "r", job: "b", attempt: 1)
    try "7 node1\n".write(toFile: files.path(of: begun) + ".claim", atomically: true, encoding: .utf8)
    #expect(!files.withdraw(begun))
    #expect(!files.isWithdrawn(begun))
    // What can't be claimed by anybody.
    #expect(SlurmFiles(folder: "/none").withdraw(identity))
  }

  private let folder: TemporaryFolder
  private let files: SlurmFiles

  init() throws {
    folder = try TemporaryFolder()
    files = SlurmFiles(folder: folder.file("jobs").path())
    try #require(files.makeFolder() == nil)
  }

  private func write(_ text: String, to name: String) {
    #expect(files.write(text, to: "\(files.folder)/\(name)") == nil)
  }

  private func identity(_ job: String, _ attempt: Int) -> SlurmIdentity {
    SlurmIdentity(run: "r", job: job, attempt: attempt)
  }

  private func submissions(_ files: SlurmFiles) -> [String: Bool] {
    let found = files.submissions(run: "r")
    #expect(found.keys.allSatisfy { $0.run == "r" })
    return Dictionary(uniqueKeysWithValues: found.map { ($0.key.fileName, $0.value) })
  }

  @Test func submissionsAreToldByTheFilesOfTheirAttempts() {
    for name in ["a.2.claim", "a.10.out", "a.2.out", "a.9.exit", "b.c.1.values", "h.1.sent", "h.2.sent", "h.2.claim"] {
      write("", to: name)
    }
    for name in ["x.7.sh", "d.4.kill", "e.out", "f.x.out", "g.1.halt", "noise"] { write("", to: name) }
    write("a.2\nk.1\nnoise\n", to: "x.batch")
    #expect(
      submissions(files) == [
        "a.2": true, "a.10": false, "a.9": false, "b.c.1": false, "h.1": false, "h.2": true, "k.1": false,
      ])
    #expect(submissions(SlurmFiles(folder: files.folder + "/none")) == [:])
  }

  @Test func aNameThatIsNotTextHidesNoOther() {
    write("", to: "a.2.claim")
    close(open(BytePath(files.folder).appending(BytePath([0xFF])).cString, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
    #expect(submissions(files) == ["a.2": true])
  }

  @Test func onlyNodesLeaveFilesOfAttempts() {
    for name in ["x.batch", "x.7.sh", "d.4.kill", "e.out", "g.1.halt", "h.1.sent"] { write("", to: name) }
    #expect(!files.hasAttempts())
    write("", to: "a.2.out")
    #expect(files.hasAttempts())
  }

  @Test func anAbandonedAttemptIsWithdrawnAndKeepsItsOutput() {
    for ending in ["sent", "claim", "out", "exit", "values", "halt", "kill"] { write("", to: "a.1.\(ending)") }
    for name in ["a.2.claim", "b.1.out"] { write("", to: name) }
    files.abandon(identity("a", 1))
    #expect(folder.names(in: "jobs") == ["a.1.claim", "a.1.kill", "a.1.out", "a.2.claim", "b.1.out"])
    #expect(files.isWithdrawn(identity("a", 1)) && !files.isWithdrawn(identity("a", 2)))
  }

  @Test func scriptsAndValuesAreRemovedAfterARun() {
    for name in ["x.0.sh", "x.1.sh", "a.1.values", "a.1.out", "x.batch", "a.1.claim"] { write("", to: name) }
    files.removeScriptsAndValues()
    #expect(folder.names(in: "jobs") == ["a.1.claim", "a.1.out", "x.batch"])
  }

  @Test func aNodeThatHasWrittenItsNameIsAClaimant() {
    for (name, text) in [
      ("a.1", "12 node1\n"), ("b.1", "12_3 node2\n"), ("c.1", "14\n"), ("d.1", ""), ("e.1", "15 node1\n"),
    ] { write(text, to: name + ".claim") }
    write("16 node9\n", to: "f.1.exit")
    #expect(files.claimants() == ["node1", "node2"])
    #expect(files.claim(of: identity("b", 1)) == SlurmJobID(12, index: 3))
    #expect(files.claim(of: identity("c", 1)) == SlurmJobID(14))
    #expect(files.claim(of: identity("d", 1)) == nil)
    #expect(files.hasClaim(of: identity("d", 1)))
    #expect(!files.hasClaim(of: identity("f", 1)))
  }

  @Test func aFileIsWrittenAnewForItsOwnerAlone() throws {
    let path = files.folder + "/a"
    #expect(files.write("a longer text", to: path) == nil)
    for text in ["short", "1"] {
      #expect(files.write(text, to: path) == nil)
      #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
  }

  @Test func aFileThatCannotBeWrittenIsNamedWithTheReason() {
    let path = files.folder + "/none/a"
    #expect(files.write("x", to: path) == "\(path) can't be written: No such file or directory")
    let link = files.folder + "/link"
    #expect(symlink(folder.file("target").path(), link) == 0)
    #expect(files.write("x", to: link)?.hasPrefix("\(link) can't be written: ") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.file("target").path()))
  }

  @Test func whatHasTakenAFilesPlaceIsNotWaitedFor() {
    for name in ["a.1.exit", "a.1.claim", "x.batch", "a.1.kill"] {
      #expect(mkfifo("\(files.folder)/\(name)", 0o600) == 0)
    }
    #expect(files.exit(of: identity("a", 1)) == nil && files.claim(of: identity("a", 1)) == nil)
    #expect(files.batch(named: "x", run: "r") == nil && files.claimants() == [])
    let path = files.folder + "/a.1.kill"
    #expect(files.write("", to: path) == "\(path) can't be written: it is a named pipe: name a regular file")
  }

  @Test func aFolderThatCannotBeMadeIsNamed() {
    write("", to: "file")
    let path = files.folder + "/file/jobs"
    #expect(
      SlurmFiles(folder: path).makeFolder()?.hasPrefix("the folder of the cluster jobs can't be made: \(path): ")
        == true)
  }

  @Test func aHaltIsReadAsItWasRecorded() {
    _ = files.makeFolder()
    let identity = identity("a", 1)
    #expect(files.halt(of: identity) == SlurmFiles.Halt())
    var halt = SlurmFiles.Halt()
    halt.begin(isStop: false)
    files.record(halt, of: identity)
    #expect(files.halt(of: identity) == halt && halt.since == nil)
    halt.begin(isStop: true)
    halt.since = halt.since.map { $0 - 100 }
    files.record(halt, of: identity)
    #expect(files.halt(of: identity) == halt && halt.stopped >= .seconds(100))
    halt.end()
    #expect(!halt.isStanding && halt.total >= 100 && halt.since == nil)
    files.record(halt, of: identity)
    #expect(files.halt(of: identity) == halt)
    files.record(SlurmFiles.Halt(), of: identity)
    #expect(access(files.path(of: identity) + ".halt", F_OK) != 0)
  }

  @Test func theListOfAnArrayNamesItsAttemptsInOrder() {
    write("b.2\na.1\n\nnoise\n", to: "x.batch")
    #expect(
      files.batch(named: "x", run: "r")
        == [("b", 2), ("a", 1)].map { SlurmIdentity(encodedRun: "r", job: $0, attempt: $1) })
    #expect(files.batch(named: "y", run: "r") == nil)
  }

  @Test func eachFileOfAnAttemptHasItsPlace() {
    let attempt = identity("a b", 3)
    #expect(files.outputPath(of: attempt) == files.folder + "/a%20b.3.out")
    #expect(files.valuesPath(of: attempt) == files.folder + "/a%20b.3.values")
    #expect(files.path(ofBatch: "x") == files.folder + "/x.batch")
    #expect(files.path(ofScript: 4, batch: "x") == files.folder + "/x.4.sh")
    files.orderKill(of: attempt)
    #expect(folder.names(in: "jobs") == ["a%20b.3.kill"])
  }
}
