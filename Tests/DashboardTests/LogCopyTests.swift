import JobModel
import Screen
import Testing

@testable import Dashboard

struct LogCopyTests {
  private func numbered(_ count: Int) -> [String] { (0..<count).map { "line \($0)" } }

  // MARK: The cursor

  @Test(arguments: [ScreenTraits.Palette.none, .eight, .sixteen, .many])
  func theCursorsLineStandsOutInEveryPaletteAndWithoutColour(_ palette: ScreenTraits.Palette) {
    var bench = Bench.talker(numbered(30))
    bench.press(.tab, .up, .up)
    let frame = bench.frame(ScreenTraits(isASCII: true, palette: palette))
    let log = Layout(bench.model).log
    let barred = (log.y..<log.maxY).filter { frame[log.x, $0].text == ">" }
    #expect(barred.map { frame.text(row: $0) } == [">00:01.0  line 27"])
    let other = frame.rows[log.y]
    #expect(frame.rows[barred[0]].allSatisfy { $0.style != .plain })
    #expect(other.contains { $0.style == .plain })
    bench.press(.tab)
    #expect(!(log.y..<log.maxY).contains { bench.frame()[log.x, $0].text == ">" })
  }

  @Test func theCursorMovesAndThePageOnlyAtItsEdges() {
    var bench = Bench.talker(numbered(50))
    let height = Layout(bench.model).log.height
    bench.press(.tab)
    for _ in 0..<(height - 1) { bench.press(.up) }
    let top = bench.model.log.top
    #expect(bench.model.currentLine?.seq == top.line)
    bench.press(.up)
    #expect(bench.model.log.top.line == top.line - 1)
    bench.press(.down)
    #expect(bench.model.log.top.line == top.line - 1)
    bench.press(.end)
    #expect(bench.model.log.follows)
  }

  @Test func thePageAndTheWheelTakeTheCursorAlong() {
    var bench = Bench.talker(numbered(100))
    bench.press(.tab, .pageUp)
    let log = Layout(bench.model).log
    func isSeen() -> Bool { (log.y..<log.maxY).contains { bench.frame()[log.x, $0].text == ">" } }
    #expect(isSeen())
    for _ in 0..<5 { bench.send(.mouse(MouseEvent(.wheelUp, x: 5, y: log.y))) }
    #expect(isSeen())
    bench.press(.control("u"), .character("g"))
    #expect(bench.model.currentLine?.entry.line.text == "line 0")
    bench.press(.pageDown, .control("d"))
    #expect(isSeen())
  }

  // MARK: Lines

  @Test func aLineIsCopiedAsItsJobWroteItWithoutEscapes() {
    var bench = Bench.talker(["\u{1B}[31mred\u{1B}[0m\tand\ttabs \u{1B}]8;;http://x\u{7}link\u{1B}]8;;\u{7}"])
    bench.press(.tab, .character("y"))
    #expect(bench.copies == ["red\tand\ttabs link"])
    #expect(bench.model.notice?.text == "copied 1 line, 17 bytes")
  }

  @Test func aLogThatFollowsCopiesItsNewestLineAndElseTheCursors() {
    var bench = Bench.talker(numbered(50))
    bench.press(.character("y"), .tab, .character("y"), .up, .character("y"))
    #expect(bench.copies == ["true", "line 49", "line 48"])
  }

  @Test func aWrappedLineIsCopiedAsOne() {
    let long = String(repeating: "0123456789", count: 30)
    var bench = Bench.talker([long, "last"])
    bench.press(.character("w"), .character("L"), .character("T"), .tab, .up, .character("y"))
    #expect(bench.copies == [long])
  }

  @Test func aRangeReachesBeyondTheScreenAndItsLengthIsSaid() {
    var bench = Bench.talker(numbered(100))
    bench.press(.tab, .up, .character("v"), .pageUp, .pageUp)
    let first = bench.model.currentLine?.entry.number ?? 0
    #expect(bench.frame().text(row: 23).contains("y copy \(98 - first + 1) lines"))
    bench.press(.character("y"))
    #expect(bench.copies == [(first...98).map { "line \($0)" }.joined(separator: "\n")])
    #expect(bench.model.log.mark == nil)
    #expect(!bench.model.log.follows)
  }

  @Test func escapeEndsTheRangeAndNothingElse() {
    var bench = Bench.talker(numbered(50))
    bench.press(.character("v"), .up, .up)
    #expect(bench.model.focus == .log && bench.model.log.mark != nil)
    #expect(bench.frame().text(row: 23).contains("Esc end range"))
    bench.press(.escape)
    #expect(bench.model.log.mark == nil && bench.model.focus == .log)
    bench.press(.character("y"))
    #expect(bench.copies == ["line 47"])
  }

  @Test func aRangeGoesToTheEndWithoutFollowing() {
    var bench = Bench.talker(numbered(50))
    bench.press(.tab, .character("g"), .character("v"), .character("G"), .character("y"))
    #expect(bench.copies == [numbered(50).joined(separator: "\n")])
  }

  @Test func linesOfARangeStayWhileOthersLeaveMemory() {
    var bench = Bench.talker(numbered(50))
    bench.press(.tab, .character("g"), .character("v"), .down)
    bench.play { run in for number in 0..<LogRing.capacity { run.log("talker", "new \(number)") } }
    bench.press(.down, .character("y"))
    #expect(bench.copies == ["line 0\nline 1\nline 2"])
  }

  // MARK: All

  @Test func theWholeLogIsWhatIsInMemoryAndTheRestIsNamed() {
    var bench = Bench.talker(numbered(LogRing.capacity + 7))
    bench.press(.character("Y"))
    let lines = bench.copies.first?.split(separator: "\n")
    #expect(lines?.count == LogRing.capacity)
    #expect(lines?.first == "line 7")
    #expect(bench.model.notice?.text.hasPrefix("copied 2000 lines, ") == true)
    #expect(bench.model.notice?.text.hasSuffix("; 7 older are in /state/r1/logs/talker.0.1.log") == true)
  }

  @Test func aTextTooLongForTerminalsIsNotCopiedAndItsFileIsNamed() {
    var bench = Bench.talker((0..<50).map { _ in String(repeating: "x", count: 2000) })
    bench.press(.character("Y"))
    #expect(bench.copies.isEmpty)
    let notice = "too long for terminals, 100 KB of 75 KB: it is in /state/r1/logs/talker.0.1.log"
    #expect(bench.model.notice?.text == notice)
    #expect(bench.frame().text(row: 23).hasSuffix("/state/r1/logs/talker.0.1.log"))
  }

  @Test func theMergedLogIsCopiedWithoutNames() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    for name in ["a", "b"] {
      builder.move(name, .executing)
      builder.log(name, "of \(name)")
    }
    var bench = Bench(builder)
    bench.press(.character("L"), .character("Y"))
    #expect(bench.copies == ["of a\nof b"])
  }

  // MARK: The file

  @Test func aCutLineNamesTheFileThatHasItWholeAndItsPathIsCopied() {
    var bench = Bench.talker([], size: Size(width: 110, height: 24))
    bench.play { run in
      run.log("talker", String(repeating: "x", count: 300), isCut: true)
      run.log("talker", "after")
    }
    bench.press(.tab, .up)
    let bar = bench.frame().text(row: Layout(bench.model).logBar.y)
    #expect(bar.contains("cut at 4 KiB in /state/r1/logs/talker.0.1.log"))
    bench.press(.character("y"))
    #expect(bench.model.notice?.text.contains("cut at 4 KiB") == true)
    bench.press(.character("F"))
    #expect(bench.copies.last == "/state/r1/logs/talker.0.1.log")
    bench.press(.character("w"))
    #expect(bench.frame().text.contains(".. whole in /state/r1/logs/talker.0.1.log"))
  }

  @Test func aLongNameLeavesTheBarRoomForThePath() {
    let name = "integration-tests-against-staging-eu-west"
    var builder = RunBuilder([.shell(name)])
    builder.move(name, .executing)
    for number in 0..<2500 { builder.log(name, "\(number)") }
    let bench = Bench(builder)
    let bar = bench.frame().text(row: Layout(bench.model).logBar.y)
    #expect(bar.contains("500 older in /") && bar.contains("1.log ") && bar.contains("2500 lines"))
  }

  @Test func thePathIsOfTheAttemptThatWroteTheLine() {
    var bench = Bench.talker(["old"])
    bench.play { run in
      run.move("talker", .backingOff(until: .seconds(2), number: 1, limit: 1, after: JobFailure(.exit(1), "exit 1")))
      run.move("talker", .executing)
      run.log("talker", "new")
    }
    bench.press(.tab, .character("F"), .up, .character("F"))
    #expect(bench.copies == ["/state/r1/logs/talker.0.2.log", "/state/r1/logs/talker.0.1.log"])
  }
}
