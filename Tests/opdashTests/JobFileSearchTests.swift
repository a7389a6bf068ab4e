import Foundation
import Session
import Support
import Testing

@testable import opdash

struct JobFileSearchTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(at: folder.file("a/b"), withIntermediateDirectories: true)
  }

  private func choose(_ words: String..., in place: String = "a/b") throws -> JobFileSearch.Choice {
    try JobFileSearch(directory: folder.file(place).path()).choose(words)
  }

  private func make(_ name: String) throws { try Data("jobs:".utf8).write(to: folder.file(name)) }

  @Test func theFileIsHereOrInTheNearestFolderAbove() throws {
    try make("opdash.json")
    #expect(try choose() == .init(file: "../../opdash.json", isAbove: true))
    try make("a/opdash.yaml")
    #expect(try choose("x", "y") == .init(file: "../opdash.yaml", jobs: ["x", "y"], isAbove: true))
    try FileManager.default.createDirectory(at: folder.file("a/b/opdash.yml"), withIntermediateDirectories: false)
    #expect(try choose().isAbove)
    try make("a/b/opdash.json")
    #expect(try choose() == .init(file: "opdash.json"))
    try make("a/b/opdash.yaml")
    #expect(try choose() == .init(file: "opdash.yaml"))
  }

  @Test func aWordThatLooksLikeAFileIsOne() throws {
    try make("a/b/opdash.yml")
    for file in ["-", "ci.yml", "ci.yaml", "ci.json", "./ci", "/x/ci"] {
      #expect(try choose(file, "job") == .init(file: file, jobs: ["job"]))
    }
  }

  /// As the instance of a matrix of platforms has one.
  @Test func aWordWithASlashThatIsNoFileIsAJob() throws {
    try make("opdash.yml")
    try make("a/b/ci")
    #expect(try choose("a/b/ci", in: "") == .init(file: "a/b/ci"))
    for job in ["build[linux/amd64]", "ci/x"] {
      #expect(try choose(job, "more", in: "") == .init(file: "opdash.yml", jobs: [job, "more"]))
    }
    for file in ["./ci/x", "../x", "/none", "ci/x.yml"] { #expect(try choose(file, in: "") == .init(file: file)) }
    let search = JobFileSearch(directory: folder.url.path())
    #expect(search.jobs(["ci/x", "y"], of: folder.file("opdash.yml").path()) == ["ci/x", "y"])
  }

  @Test func anyFileIsTakenWhereNoneIsFound() throws {
    try make("a/b/ci")
    // The temporary folder may be below somebody's job file.
    guard try JobFileSearch(directory: folder.url.path()).find() == nil else { return }
    #expect(try choose("ci", "job") == .init(file: "ci", jobs: ["job"]))
    #expect(throws: UsageError("no job file is named, and there is no opdash.yml here or in a folder above")) {
      try choose()
    }
    #expect(
      throws: UsageError("'biuld' is neither a file nor a job: there is no opdash.yml here or in a folder above")
    ) { try choose("biuld") }
    try make("a/b/opdash.yml")
    #expect(try choose("ci") == .init(file: "opdash.yml", jobs: ["ci"]))
  }

  @Test func aCommandWithoutJobsTakesAnyWordAsAFile() throws {
    try make("opdash.yml")
    try make("a/b/ci")
    let search = JobFileSearch(directory: folder.file("a/b").path())
    for file in ["ci", "ci.conf", "none", "-", "ci.yml"] { #expect(try search.choose(file: file) == .init(file: file)) }
    #expect(try search.choose(file: nil) == .init(file: "../../opdash.yml", isAbove: true))
  }

  @Test func theOperandForAFileFindsIt() throws {
    let search = JobFileSearch(directory: folder.file("a/b").path())
    try make("a/b/opdash.json")
    #expect(search.operand(for: "opdash.json") == "")
    try make("a/b/opdash.yml")
    #expect(search.operand(for: "opdash.yml") == "")
    let operands = [
      "opdash.json": "opdash.json", "ci.yml": "ci.yml", "x.conf": "./x.conf", "d/x": "d/x", "-": "./-",
      "-a.yml": "./-a.yml", "two words.yml": "'two words.yml'",
    ]
    for (file, operand) in operands { #expect(search.operand(for: file) == " \(operand)") }
  }

  @Test func theJobsOfAnEarlierRunAreKnownWhateverFilesAreThere() throws {
    try make("a/b/opdash.yml")
    let search = JobFileSearch(directory: folder.file("a/b").path())
    let file = folder.file("a/b/myjobs").path()
    for words in [["myjobs", "build"], ["./myjobs", "build"], ["build"]] {
      #expect(search.jobs(words, of: file) == ["build"])
    }
    #expect(search.jobs([], of: file) == [])
  }

  @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
  func anotherUsersLinkAboveMustBeNamed() throws {
    try make("mine")
    let link = folder.file("opdash.yml").path()
    #expect(symlink(folder.file("mine").path(), link) == 0)
    #expect(try choose().isAbove)
    #expect(lchown(link, 12_345, 12_345) == 0)
    #expect(throws: UsageError("../../opdash.yml belongs to another user: name it to use it nevertheless")) {
      try choose()
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
  func anotherUsersFileAboveMustBeNamed() throws {
    try make("opdash.yml")
    chown(folder.file("opdash.yml").path(), 12_345, 12_345)
    // Root trusts nobody but itself and the owner of the folder that it is in.
    #expect(throws: UsageError("../../opdash.yml belongs to another user: name it to use it nevertheless")) {
      try choose()
    }
    #expect(try choose("../../opdash.yml").file == "../../opdash.yml")
    chown(folder.file("a/b").path(), 12_345, 12_345)
    #expect(try choose().isAbove)
  }
}
