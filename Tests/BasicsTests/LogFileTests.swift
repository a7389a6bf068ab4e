import Basics
import Foundation
import Support
import Testing

struct LogFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { folder.file(name).path() }

  private func append(_ text: String, to name: String) -> String? {
    let file = LogFile(path: path(name))
    defer { file.close() }
    return file.append(Array(text.utf8))
  }

  private func content(_ name: String) -> String? { try? String(contentsOfFile: path(name), encoding: .utf8) }

  private func refusal(of name: String, _ reason: String) -> String {
    "the output is not kept from here on: \(path(name)): \(reason)"
  }

  @Test func onlyItsOwnerMayReadALog() throws {
    #expect(append("secret\n", to: "a.log") == nil)
    let attributes = try FileManager.default.attributesOfItem(atPath: path("a.log"))
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test func aLogIsAppendedTo() {
    #expect(append("one\n", to: "a.log") == nil)
    #expect(append("two\n", to: "a.log") == nil)
    #expect(content("a.log") == "one\ntwo\n")
  }

  @Test func aFullLogEndsWithALineThatSaysSo() {
    let file = LogFile(path: path("a.log"), limit: 20)
    let note = "the rest of the output is not kept: the log reached 20 bytes"
    #expect(file.append(Array("one\ntwo\n".utf8)) == nil)
    #expect(file.append(Array("three\nfour\nfive\n".utf8)) == "\(note): \(path("a.log"))")
    #expect(file.append(Array("six\n".utf8)) == nil)
    #expect(content("a.log") == "one\ntwo\nthree\nfour\n… \(note)\n")
  }

  @Test func aLongLineOfAFullLogIsCut() {
    let file = LogFile(path: path("a.log"), limit: 5)
    _ = file.append(Array("1234567890\n".utf8))
    #expect(content("a.log") == "12345\n… the rest of the output is not kept: the log reached 5 bytes\n")
  }

  @Test func theLimitCountsWhatIsThere() {
    #expect(append("0123456789\n", to: "a.log") == nil)
    let file = LogFile(path: path("a.log"), limit: 20)
    #expect(file.append(Array("0123456789\n".utf8)) != nil)
  }

  @Test(arguments: ["victim", "nothing there"])
  func aPlantedSymbolicLinkIsRefused(_ target: String) throws {
    try Data("mine".utf8).write(to: folder.file("victim"))
    try FileManager.default.createSymbolicLink(atPath: path("a.log"), withDestinationPath: path(target))
    #expect(append("output\n", to: "a.log") == refusal(of: "a.log", "a symbolic link"))
    #expect(content("victim") == "mine")
    #expect(folder.names() == ["a.log", "victim"])
  }

  @Test func aPlantedHardLinkIsRefused() throws {
    try Data("mine".utf8).write(to: folder.file("victim"))
    try #require(link(path("victim"), path("a.log")) == 0)
    #expect(append("output\n", to: "a.log") == refusal(of: "a.log", "a hard link to another file"))
    #expect(content("victim") == "mine")
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
  func aFileOfAnotherUserIsRefused() throws {
    try Data("theirs".utf8).write(to: folder.file("a.log"))
    try #require(chown(path("a.log"), 65534, 65534) == 0)
    #expect(append("output\n", to: "a.log") == refusal(of: "a.log", "a file of another user"))
    #expect(content("a.log") == "theirs")
  }

  @Test func whatIsNoRegularFileIsRefused() throws {
    try #require(mkfifo(path("a.log"), 0o600) == 0)
    #expect(append("output\n", to: "a.log") == refusal(of: "a.log", "a named pipe"))
    let reader = open(path("a.log"), O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    #expect(append("output\n", to: "a.log") == refusal(of: "a.log", "a named pipe"))
  }

  // MARK: The limit

  @Test func anOutputThatJustFillsTheLogIsWhole() {
    let file = LogFile(path: path("a.log"), limit: 8)
    #expect(file.append(Array("one\n".utf8)) == nil)
    #expect(file.append(Array("two\n".utf8)) == nil)
    #expect(file.isWhole)
    #expect(content("a.log") == "one\ntwo\n")
    #expect(file.append(Array("3".utf8)) != nil)
    #expect(!file.isWhole)
    #expect(content("a.log")?.hasPrefix("one\ntwo\n") == true)
    #expect(content("a.log")?.hasSuffix("\n… the rest of the output is not kept: the log reached 8 bytes\n") == true)
  }

  @Test(arguments: [(999_999, "999999 bytes"), (1_000_000, "1 MB"), (2_999_999, "2 MB")])
  func theNoteNamesTheLimit(limit: Int, text: String) throws {
    try Data().write(to: folder.file("a.log"))
    try #require(truncate(path("a.log"), off_t(limit)) == 0)
    let file = LogFile(path: path("a.log"), limit: limit)
    let note = "the rest of the output is not kept: the log reached \(text): \(path("a.log"))"
    #expect(file.append(Array("x\n".utf8)) == note)
  }

  @Test func aLogThatIsTooLongAlreadyGetsTheNoteOnly() {
    #expect(append("0123456789\n", to: "a.log") == nil)
    let file = LogFile(path: path("a.log"), limit: 4)
    #expect(file.append(Array("more\n".utf8)) != nil)
    #expect(content("a.log")?.hasPrefix("0123456789\n") == true)
    #expect(content("a.log")?.contains("more") == false)
  }

  // MARK: What goes wrong

  @Test func whatGoesWrongIsToldOnceAndNothingIsWrittenAfterIt() throws {
    try FileManager.default.createDirectory(at: folder.file("a.log"), withIntermediateDirectories: false)
    let file = LogFile(path: path("a.log"))
    #expect(file.isWhole)
    #expect(file.append(Array("one\n".utf8)) == refusal(of: "a.log", "a folder"))
    #expect(!file.isWhole)
    try FileManager.default.removeItem(at: folder.file("a.log"))
    #expect(file.append(Array("two\n".utf8)) == nil)
    #expect(folder.names() == [])
  }

  @Test func aLogInAFolderThatIsNotThereIsRefused() {
    #expect(append("output\n", to: "none/a.log") == refusal(of: "none/a.log", "No such file or directory"))
  }
}
