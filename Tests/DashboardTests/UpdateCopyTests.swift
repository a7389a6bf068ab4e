import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct UpdateCopyTests {
  @Test(arguments: [(74_899, true), (74_900, true), (74_901, false)])
  func aTextOfAtMostTheClipboardsSizeIsCopied(_ bytes: Int, _ isCopied: Bool) {
    var bench = Bench.talker([String(repeating: "x", count: bytes)])
    bench.press(.tab, .character("y"))
    #expect(bench.copies.map(\.utf8.count) == (isCopied ? [bytes] : []))
    let refusal = "too long for terminals, 75 KB of 75 KB: it is in /state/r1/logs/talker.0.1.log"
    #expect(bench.model.notice?.text == (isCopied ? "copied 1 line, \(bytes) bytes" : refusal))
  }

  @Test func anEmptyLineIsNotCopied() {
    var bench = Bench.talker([""])
    bench.press(.tab, .character("y"))
    #expect(bench.copies.isEmpty && bench.model.notice?.text == "nothing to copy")
  }

  @Test func aRunWithoutALogFolderNamesNoFile() {
    var builder = RunBuilder([.shell("a")], folder: nil)
    builder.move("a", .executing)
    for number in 0...LogRing.capacity { builder.log("a", "\(number)") }
    var bench = Bench(builder)
    bench.press(.character("Y"))
    #expect(bench.model.notice?.text.hasSuffix("; 1 older are in no file") == true)
    bench.press(.character("F"))
    #expect(bench.model.notice?.text == "nothing to copy" && bench.copies.count == 1)
  }

  @Test func aWholeLogInMemoryNamesNoFile() {
    var bench = Bench.talker(["ab", "c"])
    bench.press(.character("Y"))
    #expect(bench.copies == ["ab\nc"] && bench.model.notice?.text == "copied 2 lines, 4 bytes")
  }

  @Test func aCutLineNamesTheKeyForItsFile() {
    var bench = Bench.talker([])
    bench.play { $0.log("talker", "ab", isCut: true) }
    bench.press(.tab, .character("y"))
    #expect(bench.model.notice?.text == "copied 1 line, 2 bytes; cut at 4 KiB, F copies the path of the whole")
    bench.press(.character("Y"))
    #expect(bench.model.notice?.text == "copied 1 line, 2 bytes; cut at 4 KiB, F copies the path of the whole")
  }

  @Test func thePathInTheListIsOfTheJobsNewestOutput() {
    var bench = Bench.talker(["a"])
    bench.press(.character("F"))
    #expect(bench.copies == ["/state/r1/logs/talker.0.1.log"])
    #expect(bench.model.notice?.text == "copied: /state/r1/logs/talker.0.1.log")
    var silent = Bench.talker([])
    silent.press(.character("F"))
    #expect(silent.copies.isEmpty && silent.model.notice?.text == "nothing to copy")
  }

  @Test func atTheOldestLineOfManyJobsThePathIsTheirFolder() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    for name in ["a", "b"] { builder.move(name, .executing) }
    for number in 0..<(LogRing.capacity + 1) {
      builder.log("a", "\(number)")
      builder.log("b", "\(number)")
    }
    var bench = Bench(builder)
    bench.press(.character("L"), .tab, .character("F"))
    #expect(bench.copies.last == "/state/r1/logs/b.1.1.log")
    bench.press(.character("g"), .character("F"))
    #expect(bench.copies.last == "/state/r1/logs")
    bench.press(.down, .character("F"))
    #expect(bench.copies.last == "/state/r1/logs/b.1.1.log")
  }

  @Test func aNotesPathIsOfTheLastAttemptThatWrote() {
    var builder = RunBuilder([.shell("a")])
    builder.move("a", .executing)
    builder.log("a", "x")
    builder.move("a", .backingOff(until: .zero, number: 1, limit: 1, after: JobFailure(.exit(1), "exit 1")))
    builder.move("a", .executing)
    builder.log("a", "redirected", .note)
    var bench = Bench(builder)
    bench.press(.tab, .character("F"))
    #expect(bench.copies == ["/state/r1/logs/a.0.1.log"])
  }
}
