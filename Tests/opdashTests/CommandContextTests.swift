import Foundation
import Reports
import Support
import Testing

@testable import Session
@testable import opdash

/// The files that commands read and write.
@Suite @MainActor struct CommandContextTests {
  private let world = ProgramWorld()

  @Test func aNewTraceIsForItsOwnerOnlyAndAnOldOneKeepsItsMode() throws {
    let folder = try TemporaryFolder()
    try Data().write(to: folder.file("old"))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.file("old").path())
    for (name, mode) in [("new", 0o600), ("old", 0o644)] {
      world.perform("run a.yml --trace \(folder.file(name).path())")
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name).path())
      #expect(attributes[.posixPermissions] as? Int == mode)
    }
  }

  @Test func aTraceFileThatCannotBeWrittenStartsNothing() {
    world.perform("run a.yml --trace /nowhere/x")
    #expect(world.errors.text == "opdash: can't write /nowhere/x: No such file or directory\n")
    #expect(world.graph == nil)
    #expect(world.statuses == [2])
  }

  @Test func twoReportsInOneFileAreRefused() {
    world.perform("run a.yml --trace /w/./x --junit /w/x --events /w/y")
    #expect(world.errors.text == "opdash: --junit and --trace name one file, /w/x: give each its own\n")
    #expect(world.graph == nil)
    #expect(world.statuses == [2])
  }

  @Test(arguments: ["run a.yml --events F", "run a.yml --trace ./G", "get -i F --junit F", "report last --html F"])
  func aFileThatTheCommandReadsIsNotWrittenToByIt(_ line: String) throws {
    let folder = try TemporaryFolder()
    let own = line.hasPrefix("run") ? "a.yml" : line.hasPrefix("get") ? "F" : "state/opdash/opdash.db"
    try FileManager.default.createDirectory(at: folder.file("state/opdash"), withIntermediateDirectories: true)
    let path = folder.file(own).path()
    try Data("jobs:".utf8).write(to: folder.file(own))
    if own != "F" { #expect(link(path, folder.file("F").path()) == 0) }
    #expect(symlink(path, folder.file("G").path()) == 0)
    world.environment.currentDirectory = folder.url.path()
    world.environment.variables["XDG_STATE_HOME"] = folder.file("state").path()
    world.perform(line)
    #expect(world.errors.text.hasSuffix(" \(path), which this command reads: name another file\n"))
    #expect(world.errors.text.hasPrefix("opdash: --"))
    #expect(world.graph == nil && world.statuses == [2])
    #expect(try String(contentsOf: folder.file(own), encoding: .utf8) == "jobs:")
  }

  @Test(arguments: [
    "upload: { file: F, url: 'http://h/' }", "{ run: 'cat F', inputs: [F] }", "{ run: 'cat F', inputs: ['?'] }",
  ])
  func aReportDoesNotReplaceTheFileOfAJob(_ job: String) throws {
    let folder = try TemporaryFolder()
    try Data("content".utf8).write(to: folder.file("F"))
    let path = folder.file("F").path()
    let work = job.replacing("F", with: path).replacing("'?'", with: "'\(folder.url.path())/?'")
    world.text = "jobs: { send: \(work.hasPrefix("{") ? work : "{ \(work) }") }"
    for option in ["--events", "--junit"] {
      world.perform("run a.yml \(option) \(path)")
      let fault = "\(option) \(path) is the file of job send, \(path), which this command reads: name another file\n"
      #expect(world.errors.text.hasSuffix(fault))
    }
    #expect(world.graph == nil && world.statuses == [2, 2])
    #expect(try String(contentsOf: folder.file("F"), encoding: .utf8) == "content")
  }

  @Test(arguments: [("--events", ReportFormat.events), ("--junit", .junit), ("--trace", .trace)], [true, false])
  func anEarlierReportIsReplacedUnlessAJobNamesIt(_ option: (String, ReportFormat), isNamed: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("F").path()
    world.text = "jobs: { a: { run: 'true', inputs: ['\(isNamed ? path : folder.url.path())'] } }"
    for text in ["", option.1.head + "…"] {
      try Data(text.utf8).write(to: folder.file("F"))
      world.graph = nil
      world.perform("run a.yml \(option.0) \(path)")
      #expect((world.graph == nil) == isNamed)
    }
  }

  @Test func aDownloadDoesNotReplaceTheFileThatNamesIt() throws {
    let folder = try TemporaryFolder()
    try Data("http://h/list".utf8).write(to: folder.file("list"))
    let path = folder.file("list").path()
    world.text = "jobs: { fetch: { download: { url: 'http://h/list', to: '\(path)' } } }"
    world.perform("run \(path)")
    let fault = "the file \(path) of job fetch is the job file \(path), which this command reads: name another file"
    #expect(world.errors.text == "opdash: \(fault)\n")
    #expect(world.graph == nil && world.statuses == [2])
  }

  @Test func withoutAHomeThePlaceOfTheRecordsMustBeGiven() {
    world.environment.variables = [:]
    world.perform("run a.yml")
    #expect(world.statuses == [2])
    #expect(world.errors.text.contains("--state DIR"))
  }
}
