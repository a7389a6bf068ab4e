import Basics
import Foundation
import Session
import Support
import Testing

/// Files that a command reads and must not write.
struct FilesReadTests {
  private let folder: TemporaryFolder
  private let read: FilesRead

  init() throws {
    folder = try TemporaryFolder()
    try Data("jobs:".utf8).write(to: folder.file("x.yml"))
    var read = FilesRead()
    read.add(folder.file("x.yml").path(), "the job file")
    read.add(folder.file("none").path(), "the list")
    self.read = read
  }

  private func path(_ name: String) -> String { folder.file(name).path() }

  private func refusal(_ option: String, _ name: String) -> UsageError {
    UsageError("\(option) \(path(name)) is the job file \(path("x.yml")), which this command reads: name another file")
  }

  private func content(_ name: String) -> String? { try? String(contentsOfFile: path(name), encoding: .utf8) }

  @Test func aFileThatIsReadIsRefusedByAnyOfItsNames() throws {
    try #require(symlink(path("x.yml"), path("link")) == 0 && link(path("x.yml"), path("hard")) == 0)
    for name in ["x.yml", "link", "hard"] {
      #expect(throws: refusal("--events", name)) { try Output.files([("--events", path(name))], besides: read) }
    }
    #expect(content("x.yml") == "jobs:")
  }

  @Test func whereOneIsRefusedNoneIsMadeOrEmptied() throws {
    try Data("old".utf8).write(to: folder.file("trace"))
    let wanted = [("--junit", path("new")), ("--trace", path("trace")), ("--events", path("x.yml"))]
    #expect(throws: refusal("--events", "x.yml")) { try Output.files(wanted, besides: read) }
    #expect(folder.names() == ["trace", "x.yml"] && content("trace") == "old")
  }

  @Test func anotherFileIsWritten() throws {
    try Data("old".utf8).write(to: folder.file("events"))
    let outputs = try Output.files([("--events", path("events")), ("--trace", "/dev/null")], besides: read)
    #expect(content("events") == "old")
    for output in outputs { output.empty() }
    outputs[0].write(line: "new")
    #expect(content("events") == "new\n")
    #expect(outputs.map(\.name) == [path("events"), "/dev/null"])
  }

  @Test func whereOneCannotBeWrittenNoneIsMadeOrEmptied() throws {
    try Data("old".utf8).write(to: folder.file("trace"))
    try #require(symlink("made", path("link")) == 0)
    let wanted = [("--events", path("new")), ("--html", path("link")), ("--trace", path("trace"))]
    let fault = UsageError("can't write \(path("none/x")): No such file or directory")
    #expect(throws: fault) { try Output.files(wanted + [("--junit", path("none/x"))]) }
    #expect(folder.names() == ["link", "trace", "x.yml"] && content("trace") == "old")
  }

  @Test func twoNamesOfOneFileAreRefused() throws {
    try Data("old".utf8).write(to: folder.file("a"))
    try #require(link(path("a"), path("b")) == 0)
    let fault = UsageError("--junit and --trace name one file, \(path("b")): give each its own")
    #expect(throws: fault) { try Output.files([("--junit", path("a")), ("--trace", path("b"))]) }
    #expect(content("a") == "old")
  }

  @Test func anOutputThatIsOpenIsChecked() throws {
    let output = try Output.file(path("out"))
    #expect(throws: Never.self) { try output.check(read) }
    var own = FilesRead()
    own.add(path("out"), "the list")
    let fault = UsageError("\(path("out")) is the list \(path("out")), which this command reads: name another file")
    #expect(throws: fault) { try output.check(own) }
  }
}
