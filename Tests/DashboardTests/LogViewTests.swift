import Foundation
import JobModel
import Screen
import Testing

@testable import Dashboard

struct LogViewTests {
  /// One job that executes and has written `count` lines.
  private func bench(lines count: Int, size: Size = Size(width: 80, height: 24)) -> Bench {
    .talker((0..<count).map { "line \($0)" }, size: size)
  }

  private func logRows(_ bench: Bench) -> [String] {
    let area = Layout(bench.model).log
    return (area.y..<area.maxY).map { bench.frame().text(row: $0) }
  }

  @Test func theLogFollowsItsNewestLine() {
    var bench = bench(lines: 50)
    #expect(logRows(bench).last?.hasSuffix("line 49") == true)
    bench.play { $0.log("talker", "line 50") }
    #expect(logRows(bench).last?.hasSuffix("line 50") == true)
  }

  @Test func scrollingUpEndsFollowAndNewLinesLeaveTheViewWhereItIs() {
    var bench = bench(lines: 50)
    bench.press(.tab, .pageUp)
    #expect(!bench.model.log.follows)
    let before = logRows(bench)
    #expect(before.first?.hasSuffix("line \(50 - before.count * 2 + 1)") == true)
    bench.play { run in for number in 50..<90 { run.log("talker", "line \(number)") } }
    #expect(logRows(bench) == before)
    bench.press(.character("f"))
    #expect(logRows(bench).last?.hasSuffix("line 89") == true)
  }

  @Test func theWheelOverTheLogScrollsItAndEndsFollow() {
    var bench = bench(lines: 50)
    let log = Layout(bench.model).log
    bench.send(.mouse(MouseEvent(.wheelUp, x: 5, y: log.y + 1)))
    #expect(!bench.model.log.follows)
    #expect(bench.model.focus == .list)
    #expect(logRows(bench).last?.hasSuffix("line 46") == true)
  }

  @Test func theEndOfTheLogFollowsAgainAndItsBeginningIsTheFirstLine() {
    var bench = bench(lines: 50)
    bench.press(.tab, .character("g"))
    #expect(logRows(bench).first?.hasSuffix("line 0") == true)
    bench.press(.pageDown, .character("G"))
    #expect(bench.model.log.follows)
  }

  @Test func theWheelOverALogThatFitsLeavesItFollowing() {
    var bench = bench(lines: 3)
    bench.send(.mouse(MouseEvent(.wheelUp, x: 5, y: Layout(bench.model).log.y)))
    #expect(bench.model.log.follows)
  }

  @Test func linesThatLeftAreCountedAndTheFileIsNamed() {
    let bench = bench(lines: LogRing.capacity + 500, size: Size(width: 110, height: 24))
    let bar = bench.frame().text(row: Layout(bench.model).logBar.y)
    #expect(bar.contains("500 older in /state/r1/logs/talker.0.1.log"))
    #expect(bar.contains("2500 lines"))
  }

  @Test func linesThatLeaveMemoryWhileTheyAreReadStayUntilTheReaderGoesOn() {
    var bench = bench(lines: 100)
    bench.press(.tab, .character("g"))
    let before = logRows(bench)
    bench.play { run in for number in 0..<LogRing.capacity + 50 { run.log("talker", "new \(number)") } }
    #expect(logRows(bench) == before)
    #expect(bench.frame().text(row: Layout(bench.model).logBar.y).contains("2050 newer"))
    for _ in 0..<99 { bench.press(.down) }
    #expect(logRows(bench).last?.hasSuffix("line 99") == true)
    bench.press(.down)
    #expect(logRows(bench).first?.hasSuffix("new 50") == true)
    #expect(!bench.frame().text(row: Layout(bench.model).logBar.y).contains("newer"))
  }

  @Test func aReaderWhoseLinesAreStillThereHasTheNewOnesBelow() {
    var bench = bench(lines: 100)
    bench.press(.tab, .up)
    bench.play { run in for number in 0..<LogRing.capacity - 50 { run.log("talker", "new \(number)") } }
    for _ in 0..<10 { bench.press(.down) }
    #expect(bench.model.currentLine?.entry.line.text == "new 8")
  }

  @Test func longLinesAreCutAndSlidAndWrapped() {
    var bench = bench(lines: 0)
    let words = (0..<40).map { "word\($0)" }.joined(separator: " ")
    bench.play { $0.log("talker", words) }
    bench.press(.tab)
    #expect(logRows(bench)[0].hasSuffix(">"))
    bench.press(.right)
    #expect(!logRows(bench)[0].contains("word0 "))
    bench.press(.character("w"))
    let text = logRows(bench).joined()
    #expect(text.contains("word39"))
    #expect(bench.model.log.shift == 0)
  }

  @Test func aLineTallerThanThePageIsScrolledRowByRow() {
    var bench = bench(lines: 1)
    bench.play { $0.log("talker", String(repeating: "x", count: 69 * 20) + "end") }
    bench.play { $0.log("talker", "after") }
    bench.press(.character("w"), .tab, .character("g"))
    #expect(logRows(bench).first?.hasSuffix("line 0") == true)
    let line = { bench.model.currentLine?.entry.line.text.prefix(3) }
    bench.press(.down)
    #expect(line() == "xxx")
    for _ in 0..<14 { bench.press(.down) }
    #expect(line() == "xxx")
    #expect(logRows(bench).last?.hasSuffix("end") == true)
    bench.press(.down)
    #expect(line() == "aft")
    bench.press(.up)
    #expect(line() == "xxx")
    for _ in 0..<15 { bench.press(.up) }
    #expect(line() == "lin")
  }

  @Test func searchingFindsUpperAndLowerCaseMarksAndWalks() {
    var bench = bench(lines: 50)
    bench.play { $0.log("talker", "an ERROR here") }
    bench.play { $0.log("talker", "line 51") }
    bench.press(.tab, .character("/"))
    bench.type("error")
    #expect(bench.frame().text(row: 23).contains("1 line"))
    bench.press(.enter)
    #expect(bench.model.currentLine?.entry.line.text == "an ERROR here")
    let frame = bench.frame()
    let row = frame.rows.first { $0.map(\.text).joined().contains("an ERROR here") } ?? []
    // All of the cursor's line is reversed.
    let marked = row.filter { $0.style.attributes == [.bold, .underline] }.map(\.text).joined()
    #expect(marked == "ERROR")
    bench.press(.character("/"), .control("u"))
    bench.type("line 1")
    bench.press(.enter)
    let first = bench.model.log.currentMatch
    bench.press(.character("n"))
    #expect(bench.model.log.currentMatch != first)
    bench.press(.character("N"))
    #expect(bench.model.log.currentMatch == first)
    bench.press(.escape)
    #expect(bench.model.log.query.isEmpty)
    #expect(bench.model.focus == .log)
  }

  @Test func aMatchInAWrappedLineIsBroughtIntoView() {
    var bench = bench(lines: 40)
    let far = String(repeating: "x", count: 69 * 12)
    bench.play { $0.log("talker", "\(far)needley\(far)") }
    for _ in 0..<40 { bench.play { $0.log("talker", "after") } }
    bench.press(.character("w"), .tab, .character("/"))
    bench.type("needle")
    bench.press(.enter)
    #expect(logRows(bench).contains { $0.contains("needle") })
    bench.press(.character("w"), .character("n"))
    #expect(logRows(bench).contains { $0.contains("xneedley") })
    #expect(bench.model.log.shift > 0)
  }

  @Test(arguments: [1, 2, 7, 20, 69])
  func wrappedRowsHoldTheWholeLineAndNeverPassTheEdge(_ width: Int) {
    let line = "漢字かな e\u{301}tude 👩‍👩‍👧 👍🏽 ❤️ n\u{303}o\u{308} 한국어 z" + String(repeating: "é漢", count: 30)
    let cells = LogText.cells(line)
    let rows = LogText.wrap(cells, width: width)
    #expect(rows.flatMap { $0.map(\.text) }.joined() == line)
    for row in rows where row.count > 1 { #expect(row.reduce(0) { $0 + TextWidth.of($1.text) } <= width) }
  }

  @Test func theOldestLineSaysWhereOlderLinesAre() {
    var bench = bench(lines: LogRing.capacity + 500, size: Size(width: 40, height: 12))
    bench.press(.character("l"), .character("g"))
    #expect(bench.frame().text.contains("500 older: F copies"))
    bench.press(.character("F"))
    #expect(bench.effects == [.copy("/state/r1/logs/talker.0.1.log")])
  }

  @Test func matchesKeptLineByLineAreTheMatchesFoundAnew() {
    var bench = bench(lines: 10)
    bench.press(.tab, .character("/"))
    bench.type("7")
    for round in 0..<30 {
      bench.play { run in for number in 0..<100 { run.log("talker", "round \(round) \(number)") } }
    }
    var anew = LogReader()
    anew.query = "7"
    anew.search(bench.model.lines)
    #expect(bench.model.log.matches == anew.matches)
    #expect(!anew.matches.isEmpty)
  }

  @Test func anotherJobsLogBeginsAtItsEnd() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    builder.move("a", .executing)
    for number in 0..<50 { builder.log("a", "line \(number)") }
    var bench = Bench(builder)
    bench.press(.tab, .up, .tab, .down)
    #expect(bench.cursor == "b")
    #expect(bench.model.log.follows)
  }

  @Test func outputIsDrawnWithoutControlSequences() {
    var bench = bench(lines: 0)
    let nasty = "a\u{1B}[2Jb\u{1B}]0;title\u{07}c\u{9B}31md\u{1B}P1;2\u{1B}\\e\u{202E}f\tg\u{8}h\u{1B}[31mred\u{1B}[0m"
    bench.play { $0.log("talker", nasty) }
    let frame = bench.frame(ScreenTraits(isASCII: false, palette: .many))
    for cell in frame.rows.joined() { #expect(cell.text.unicodeScalars.allSatisfy(TextWidth.isPrintable)) }
    let row = frame.rows.first { $0.map(\.text).joined().contains("red") } ?? []
    #expect(row.contains { $0.text == "r" && $0.style.foreground == .indexed(1) })
  }

  @Test func timesGoFromTheRunsClockToTheWallsToNone() {
    var bench = bench(lines: 1)
    #expect(logRows(bench)[0].hasPrefix(" 00:01.0  line 0"))
    bench.press(.character("T"))
    #expect(logRows(bench)[0].hasPrefix(" 00:00:01  line 0"))
    bench.press(.character("T"))
    #expect(logRows(bench)[0].hasPrefix("  line 0"))
  }

  @Test func copyTakesTheLineInTheLogAndTheCommandInTheList() {
    var bench = bench(lines: 50)
    bench.press(.character("y"), .tab, .character("y"), .up, .character("y"))
    #expect(bench.effects == [.copy("true"), .copy("line 49"), .copy("line 48")])
  }

  @Test func theLogPaneGoesFromHalfToFullToOff() {
    var bench = bench(lines: 50)
    bench.press(.character("l"))
    #expect(Layout(bench.model).list.isEmpty)
    #expect(bench.model.focus == .log)
    bench.press(.character("l"))
    #expect(Layout(bench.model).log.isEmpty)
    #expect(bench.model.focus == .list)
    bench.press(.character("l"))
    #expect(!Layout(bench.model).log.isEmpty && !Layout(bench.model).list.isEmpty)
  }
}
