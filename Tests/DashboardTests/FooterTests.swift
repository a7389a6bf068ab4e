import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct FooterTests {
  private func bench(_ names: [String], width: Int = 80, executing: [String] = []) -> Bench {
    var builder = RunBuilder(names.map { .shell($0) })
    for name in executing { builder.move(name, .executing) }
    return Bench(builder, size: Size(width: width, height: 24))
  }

  private func row(_ bench: Bench) -> String { bench.frame().text(row: 23) }

  // MARK: Questions

  @Test(arguments: [
    (51, " 1 job is running.  q cancels and quits  Esc stays"), (50, " 1 job is running.  q quits  Esc stays"),
  ])
  func theQuestionToQuitHasALongAndAShortAnswer(_ width: Int, _ text: String) {
    var bench = bench(["a"], width: width, executing: ["a"])
    bench.press(.character("q"))
    #expect(row(bench) == text)
  }

  @Test func theQuestionToQuitCountsAttempts() {
    var two = bench(["a", "b"], executing: ["a", "b"])
    two.press(.character("q"))
    #expect(row(two).hasPrefix(" 2 jobs are running.  "))
    var builder = RunBuilder([.shell("a")])
    builder.move("a", .ready(for: .slot))
    var ready = Bench(builder)
    ready.press(.character("q"))
    #expect(row(ready).hasPrefix(" Jobs are waiting.  "))
  }

  @Test(arguments: [
    (80, " Cancel alpha, beta, gamma, 3 running?  y cancels  Esc goes back"),
    (65, " Cancel alpha, beta, gamma, 3 running?  y cancels  Esc goes back"),
    (64, " Cancel alpha and 2 more, 3 running?  y cancels  Esc goes back"),
    (63, " Cancel alpha and 2 more, 3 running?  y cancels  Esc goes back"),
    (62, " Cancel 3 jobs, 3 running?  y cancels  Esc goes back"),
    (52, " Cancel 3 jobs, 3 running?  y  Esc"),
  ])
  func aQuestionNamesAsManyJobsAsFit(_ width: Int, _ text: String) {
    let names = ["alpha", "beta", "gamma"]
    var bench = bench(names, width: width, executing: names)
    bench.model.tags = Set(bench.model.run.ids)
    bench.press(.character("x"))
    #expect(row(bench) == text)
  }

  @Test func aQuestionSaysHowManyRunAndHowManyAreNotOnTheScreen() {
    var bench = bench((0..<30).map { "\($0)" }, executing: ["0"])
    bench.model.tags = [JobID(0), JobID(1), JobID(29)]
    bench.press(.character("x"))
    #expect(row(bench).hasPrefix(" Cancel 0, 1, 29, 1 running, 1 not on the screen?  "))
    bench.press(.escape)
    bench.model.tags = [JobID(28), JobID(29)]
    bench.press(.character("x"))
    #expect(row(bench).hasPrefix(" Cancel 28, 29, not on the screen?  "))
    bench.press(.escape, .character("p"))
    #expect(row(bench).hasPrefix(" Pause 28, 29, not on the screen?  y pauses  Esc goes back"))
  }

  // MARK: A line

  @Test func aLineBeingTypedHasItsHintAndTheCursor() {
    var bench = bench(["a", "b"])
    bench.press(.character("/"))
    bench.type("b")
    let hint = "1/2   Enter keeps  Esc clears"
    #expect(row(bench) == " /b" + String(repeating: " ", count: 79 - 3 - hint.count) + hint)
    #expect(bench.frame().cursor.map { [$0.x, $0.y] } == [3, 23])
    bench.press(.escape, .character(":"))
    #expect(row(bench).hasPrefix(" : ") && row(bench).hasSuffix("   Enter runs it  Esc back"))
    bench.press(.escape)
    #expect(bench.frame().cursor == nil)
  }

  @Test(arguments: [(59, false), (60, true)])
  func theKeysOfALineNeedSixtyColumns(_ width: Int, _ isShown: Bool) {
    var bench = bench(["a"], width: width)
    bench.press(.character("/"))
    #expect(row(bench).hasSuffix("Esc clears") == isShown)
    #expect(row(bench).contains("1/1"))
  }

  @Test func theEndOfALongLineIsShown() {
    var bench = bench(["a"], width: 40)
    bench.press(.character("/"))
    let text = (0..<40).map { String($0 % 10) }.joined()
    bench.type(text)
    #expect(row(bench) == " /" + text.suffix(33) + " 0/1")
    #expect(bench.frame().cursor.map { [$0.x, $0.y] } == [35, 23])
  }

  @Test func theCursorStaysInALineThatIsLongerThanItsRoom() {
    var bench = bench(["a"], width: 40)
    bench.press(.character("/"))
    bench.type((0..<40).map { String($0 % 10) }.joined())
    bench.press(.left)
    #expect(row(bench).hasPrefix(" /" + "78901234567890123456789012345678" + "9") && row(bench).hasSuffix(" 0/1"))
    #expect(bench.frame().cursor.map { [$0.x, $0.y] } == [34, 23])
    bench.press(.home)
    #expect(row(bench).hasPrefix(" /0123456789") && bench.frame().cursor.map { [$0.x, $0.y] } == [2, 23])
  }

  @Test func wideLettersMoveTheCursorByTwoCells() {
    var bench = bench(["a"])
    bench.press(.character("/"))
    bench.type("漢字x")
    #expect(bench.frame().cursor.map { [$0.x, $0.y] } == [7, 23])
    bench.press(.left, .left)
    #expect(bench.frame().cursor.map { [$0.x, $0.y] } == [4, 23])
    let frame = bench.frame(ScreenTraits(isASCII: false, palette: .none))
    #expect(frame.text(row: 23).hasPrefix(" /漢字x"))
  }

  @Test func aSearchCountsItsLines() {
    var bench = Bench.talker(["one", "two", "one"])
    bench.press(.tab, .character("/"))
    #expect(row(bench).hasSuffix("   Enter keeps  Esc clears") && !row(bench).contains("line"))
    bench.type("one")
    #expect(row(bench).hasSuffix("2 lines   Enter keeps  Esc clears"))
  }

  // MARK: Keys

  private func hints(_ bench: Bench, _ width: Int) -> [String] {
    Footer.hints(bench.model, width: width).map { "\($0.x) \($0.key) \($0.word)" }
  }

  @Test func theKeysFillTheLineHelpAndQuitFirst() {
    let bench = bench(["a", "b"], executing: ["a"])
    // x cancel, p pause, Enter zoom, / filter: a blank on each side of the key, two behind the word.
    #expect(
      hints(bench, 80).prefix(6) == [
        "0 x cancel", "11 p pause", "21 Enter zoom", "34 / filter", "45 ? help", "54 q quit",
      ])
    // Without the last two blanks all that is needed.
    #expect(hints(bench, 17) == ["0 ? help", "9 q quit"])
    #expect(hints(bench, 16) == ["0 ? help"])
    #expect(hints(bench, 8) == ["0 ? help"] && hints(bench, 7).isEmpty)
    #expect(hints(bench, 28) == ["0 x cancel", "11 ? help", "20 q quit"])
    #expect(hints(bench, 27) == ["0 p pause", "10 ? help", "19 q quit"])
  }

  @Test func aNoticeStandsAtTheRightAndTakesItsRoom() {
    var bench = bench(["a", "b"], executing: ["a"])
    bench.model.notice = Model.Notice(text: String(repeating: "n", count: 49), until: .seconds(9))
    // Three blanks are between them.
    #expect(hints(bench, 80) == ["0 x cancel", "11 ? help", "20 q quit"])
    #expect(row(bench).count == 79 && row(bench).hasPrefix(" x cancel   ? help   q quit   nn"))
    bench.model.notice?.text += "n"
    #expect(hints(bench, 80) == ["0 p pause", "10 ? help", "19 q quit"])
  }

  @Test(arguments: [(58, 58), (78, 78), (79, 78), (200, 78)])
  func aLongNoticeLosesItsEnd(_ count: Int, _ width: Int) {
    var bench = bench(["a"])
    bench.model.notice = Model.Notice(text: String(repeating: "n", count: count), until: .seconds(9))
    for (traits, mark) in [(GoldenTests.ascii, ".."), (GoldenTests.utf8, "…")] {
      let text = bench.frame(traits).text(row: 23).split(separator: " ").last ?? ""
      #expect(text.count == width && text.hasSuffix(count > width ? "n\(mark)" : "n"))
    }
  }

  @Test func aNoticeKeepsTheEndOfItsPath() {
    var bench = bench(["a"])
    let path = "/state/run-with-a-long-name/logs/talker.0.1.log"
    bench.model.notice = Model.Notice(
      text: "copied 2000 lines, 31890 bytes; 500 older are in \(path)", until: .seconds(9))
    #expect(
      bench.frame(GoldenTests.utf8).text(row: 23)
        == " copied 2000 lines, 31890 bytes; 500 ol…un-with-a-long-name/logs/talker.0.1.log")
  }
}
