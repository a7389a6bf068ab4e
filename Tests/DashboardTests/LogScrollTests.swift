import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct LogScrollTests {
  private func talker(_ count: Int) -> Bench { .talker((0..<count).map { "line \($0)" }) }

  private func line(_ bench: Bench) -> String? { bench.model.currentLine?.entry.line.text }

  /// The text of the page's first line.
  private func top(_ bench: Bench) -> String? { bench.model.lines?.line(bench.model.log.top.line)?.entry.line.text }

  // MARK: Moving

  @Test func atAnEndThePageStaysAndTheCursorGoesThere() {
    var bench = talker(20)
    let height = Layout(bench.model).log.height
    bench.press(.tab, .up, .pageUp)
    #expect(top(bench) == "line \(20 - height - (height - 1))")
    // The cursor stays on the page.
    #expect(line(bench) == "line \(20 - height)")
    bench.press(.pageUp, .pageUp, .pageUp)
    #expect(top(bench) == "line 0" && line(bench) == "line 0")
    bench.press(.control("d"))
    #expect(top(bench) == "line \(height / 2)" && line(bench) == "line \(height / 2)")
    bench.press(.pageDown, .pageDown, .pageDown)
    #expect(top(bench) == "line \(20 - height)" && line(bench) == "line 19" && !bench.model.log.follows)
  }

  @Test func firstAndLastOfARangeReachTheEndsOfTheLog() {
    var bench = talker(20)
    bench.press(.tab, .character("g"))
    #expect(line(bench) == "line 0" && top(bench) == "line 0")
    bench.press(.character("v"), .character("G"))
    #expect(line(bench) == "line 19" && bench.model.markedCount == 20 && !bench.model.log.follows)
    bench.press(.character("v"), .character("G"))
    #expect(bench.model.log.mark == nil && bench.model.log.follows)
  }

  @Test(arguments: [Size(width: 80, height: 18), Size(width: 30, height: 24)])
  func theLineOfTheCursorStaysOnAPageThatBecomesSmaller(_ size: Size) {
    var bench = talker(60)
    bench.press(.tab, .character("l"), .up)
    #expect(line(bench) == "line 58")
    bench.press(.character("l"), .character("l"), .tab)
    bench.send(.resized(size))
    bench.press(.enter)
    let log = Layout(bench.model).log
    #expect(!log.isEmpty && line(bench) == "line 58")
    #expect((log.y..<log.maxY).contains { bench.frame().text(row: $0).hasSuffix("line 58") })
  }

  @Test func keysActOnALineThatIsShownWhereTheLogLosesTheCursors() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    for name in ["a", "b"] { builder.move(name, .executing) }
    for number in 0..<60 { builder.log(number % 2 == 0 ? "a" : "b", "line \(number)") }
    var bench = Bench(builder)
    bench.press(.character("L"), .tab, .character("g"))
    for _ in 0..<21 { bench.press(.down) }
    #expect(line(bench) == "line 21")
    bench.press(.tab, .character("/"))
    bench.type("a")
    bench.press(.enter, .tab, .character("y"))
    #expect(bench.copies == ["line 22"])
    let log = Layout(bench.model).log
    let barred = (log.y..<log.maxY).filter { bench.frame()[log.x, $0].text == ">" }
    #expect(barred.map { bench.frame().text(row: $0).hasSuffix("line 22") } == [true])
  }

  @Test func aSearchBeginsAtTheShownPlace() {
    var bench = talker(60)
    bench.press(.tab, .character("g"), .pageDown, .pageDown)
    let top = bench.model.lines?.position(of: bench.model.log.top.line) ?? 0
    bench.press(.character("/"))
    bench.type("line")
    bench.press(.enter)
    #expect(line(bench) == "line \(top)")
    bench.press(.character("n"))
    #expect(line(bench) == "line \(top + 1)")
    for _ in 0..<5 { bench.send(.mouse(MouseEvent(.wheelDown, x: 5, y: Layout(bench.model).log.y))) }
    let shown = bench.model.lines?.position(of: bench.model.log.top.line) ?? 0
    #expect(shown > top + 1)
    bench.press(.character("n"))
    #expect(line(bench) == "line \(shown + 1)")
  }

  /// Delivers lines that no frame shows yet.
  private func write(_ count: Int, _ bench: inout Bench) {
    for number in 0..<count { bench.builder.log("talker", "new \(number)") }
    _ = Update.apply(.facts(bench.builder.take()), to: &bench.model, now: bench.now)
  }

  @Test(arguments: [(Key.down, "new 0"), (.pageDown, "line 59"), (.character("G"), "new 2")])
  func aKeyBeforeTheFrameOfNewLinesMovesToThem(_ key: Key, _ text: String) {
    var bench = talker(60)
    bench.press(.tab, .up, .down, .character("v"))
    write(3, &bench)
    bench.press(key)
    #expect(line(bench) == text && bench.model.markedCount == (key == .character("G") ? 4 : key == .down ? 2 : 1))
    let height = Layout(bench.model).log.height
    #expect(top(bench) == "line \(60 - height + (key == .down ? 1 : 3))")
  }

  @Test func aSearchBeforeTheFrameOfNewLinesFindsThem() {
    var bench = talker(60)
    bench.press(.tab, .up, .character("/"))
    bench.type("new")
    write(3, &bench)
    bench.press(.enter)
    #expect(line(bench) == "new 0" && bench.model.notice == nil)
  }

  @Test func theFollowKeyStopsAndGoesOn() {
    var bench = talker(20)
    bench.press(.character("f"))
    #expect(!bench.model.log.follows && line(bench) == "line 19")
    bench.press(.character("f"))
    #expect(bench.model.log.follows)
  }

  @Test func aLogWithoutLinesIsFollowed() {
    var bench = talker(0)
    bench.press(.tab, .up, .pageUp, .character("f"), .character("v"))
    #expect(bench.model.log.follows && bench.model.log.mark == nil && bench.model.focus == .log)
  }

  @Test func onlyAWayUpSaysWhereOlderLinesAre() {
    var bench = talker(LogRing.capacity + 3)
    for (key, isSaid) in [
      (Key.character("g"), true), (.down, false), (.up, true), (.pageUp, true), (.control("u"), true),
      (.pageDown, false),
    ] {
      bench.model.focus = .log
      bench.model.notice = nil
      bench.press(key)
      #expect((bench.model.notice?.text == "3 older: F copies path") == isSaid, "\(key)")
    }
  }

  // MARK: Searching

  @Test func aSearchInALogThatIsReadGoesOnFromThePage() {
    var bench = talker(30)
    bench.press(.tab, .character("g"), .character("/"))
    bench.type("line 2")
    bench.press(.enter)
    #expect(line(bench) == "line 2" && bench.model.log.matchNumber == 1)
    bench.press(.character("n"))
    #expect(line(bench) == "line 20")
    bench.press(.character("N"), .character("N"))
    #expect(line(bench) == "line 29" && bench.model.notice?.text == "past the top: the last match")
    bench.press(.character("/"), .control("u"))
    bench.type("line 0")
    bench.press(.enter)
    #expect(line(bench) == "line 0" && bench.model.notice?.text == "past the end: the first match")
    bench.press(.character("/"), .control("u"))
    bench.type("none")
    bench.press(.enter)
    #expect(bench.model.notice?.text == "not found: none" && line(bench) == "line 0")
  }

  @Test func aSearchInVainSaysWhichLinesWereSearched() {
    var bench = talker(LogRing.capacity + 3)
    bench.press(.tab, .character("n"))
    #expect(bench.model.notice?.text == "nothing is searched: press /")
    bench.press(.character("/"))
    bench.type("none")
    for key in [Key.enter, .character("n")] {
      bench.model.notice = nil
      bench.press(key)
      #expect(bench.model.notice?.text == "not found in the newest 2000 lines: none")
    }
  }

  @Test func aMatchIsInTheMiddleOfThePage() {
    var bench = talker(60)
    let height = Layout(bench.model).log.height
    bench.press(.tab, .character("/"))
    bench.type("line 30")
    bench.press(.enter)
    #expect(top(bench) == "line \(30 - height / 2)")
    bench.press(.character("/"), .control("u"))
    bench.type("line 59")
    bench.press(.enter)
    #expect(top(bench) == "line \(60 - height)")
  }

  /// The text has 69 cells.
  @Test(arguments: [(0, 0), (62, 0), (63, 40), (100, 77)])
  func aMatchBeyondTheEdgeIsSlidIntoView(_ column: Int, _ shift: Int) {
    var bench = Bench.talker([String(repeating: ".", count: column) + "needle" + String(repeating: ".", count: 90)])
    bench.press(.tab, .character("/"))
    bench.type("needle")
    bench.press(.enter)
    #expect(bench.model.log.shift == shift)
  }

  /// The last cell of a row may have the mark of the text beyond it.
  @Test(arguments: ["漢", ".", "e\u{301}"], 0...100)
  func aSearchShowsTheWholeMatch(_ letter: String, _ count: Int) {
    for rest in [0, 1, 90] {
      let line = String(repeating: letter, count: count) + "needle" + String(repeating: letter, count: rest)
      var bench = Bench.talker([line])
      bench.press(.tab, .character("/"))
      bench.type("needle")
      bench.press(.enter)
      #expect(bench.frame().text(row: Layout(bench.model).log.y).contains("needle"), "\(rest)")
    }
  }

  @Test func aMatchLeftOfTheViewIsSlidBack() {
    var bench = Bench.talker(["..needle" + String(repeating: ".", count: 190)])
    bench.press(.tab, .right, .character("/"))
    #expect(bench.model.log.shift == 8)
    bench.type("needle")
    bench.press(.enter)
    #expect(bench.model.log.shift == 0)
  }

  @Test func aMatchUnderTheMarkAtTheLeftIsSlidBack() {
    var bench = Bench.talker(["........needle" + String(repeating: ".", count: 190)])
    bench.press(.tab, .right, .character("/"))
    bench.type("needle")
    bench.press(.enter)
    #expect(bench.frame().text(row: Layout(bench.model).log.y).contains("needle"))
  }

  /// A reader of the first of 100 lines, all of which have left memory.
  private func late() -> Bench {
    var bench = talker(100)
    bench.press(.tab, .character("g"))
    bench.play { run in for number in 0..<(LogRing.capacity + 50) { run.log("talker", "new \(number)") } }
    return bench
  }

  @Test func aSearchOfHeldLinesSaysThatThereAreNewerOnes() {
    var bench = late()
    bench.press(.character("/"))
    bench.type("new")
    #expect(bench.frame().text(row: 23).contains("0 lines here "))
    let answer = "not found in the lines being read; 2050 newer: f follows"
    for key in [Key.enter, .character("n")] {
      bench.model.notice = nil
      bench.press(key)
      #expect(bench.model.notice?.text == answer)
      #expect(bench.frame().text(row: 23).hasSuffix(answer))
    }
    #expect(bench.frame().text(row: Layout(bench.model).logBar.y).contains(" /new 0 here  2050 newer "))
    bench.press(.character("/"), .control("u"))
    bench.type("line 99")
    bench.press(.enter, .character("n"))
    #expect(bench.model.notice?.text == "past the lines being read: the first match")
    bench.press(.character("N"))
    #expect(bench.model.notice?.text == "past the lines being read: the last match")
    bench.press(.character("f"), .character("/"), .control("u"))
    bench.type("none")
    bench.press(.enter)
    #expect(bench.model.notice?.text == "not found in the newest 2000 lines: none")
    #expect(bench.frame().text(row: Layout(bench.model).logBar.y).contains(" /none 0  "))
  }

  // MARK: Many jobs, one job, the program

  @Test func eachLogIsSaid() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    builder.move("a", .executing)
    builder.log("a", "x")
    var bench = Bench(builder)
    func notice(_ key: Key) -> String? {
      bench.press(key)
      return bench.model.notice?.text
    }
    #expect(notice(.character("L")) == "the log of 2 jobs" && bench.model.isCursorTaken)
    #expect(notice(.character("L")) == "the log of one job")
    bench.play { $0.state(.programLog(LogLine(.stdout, "y"))) }
    #expect(notice(.character("L")) == "the log of 2 jobs and the program")
    #expect(notice(.character("L")) == "the output of the program")
    #expect(notice(.character("L")) == "the log of one job")
    bench.press(.character(" "))
    #expect(notice(.character("L")) == "the log of 1 job")
  }

  @Test func fromTheLineOfAnotherJobItsOwnLogIsRead() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    for name in ["a", "b"] { builder.move(name, .executing) }
    for name in ["a", "b", "a"] { builder.log(name, "of \(name)") }
    var bench = Bench(builder)
    bench.press(.character("L"), .tab, .up, .character("v"))
    #expect(line(bench) == "of b" && bench.model.log.mark != nil)
    bench.press(.character("L"))
    #expect(bench.cursor == "b" && line(bench) == "of b" && !bench.model.log.follows && bench.model.log.mark == nil)
  }

  @Test func whatTheProgramWroteIsNotReadFromAJobsLine() {
    var builder = RunBuilder([.shell("a")])
    builder.move("a", .executing)
    for number in 0..<9 { builder.log("a", "\(number)") }
    builder.state(.programLog(LogLine(.stdout, "y")))
    var bench = Bench(builder)
    bench.press(.tab, .up, .character("L"), .character("L"))
    #expect(bench.model.showsProgram && bench.model.log.follows && line(bench) == "y")
    bench.press(.up, .character("L"))
    #expect(bench.model.log.follows && line(bench) == "8")
  }

  // MARK: Errors

  @Test func theErrorOfATruncatedLogSaysSo() {
    var bench = Bench.talker((0..<LogRing.capacity).map { "\($0)" } + ["error: x", "y"])
    bench.press(.character("E"))
    #expect(bench.model.notice?.text == "the first error; older lines are in the file only")
    #expect(line(bench) == "error: x")
  }

  @Test func theLineOfAnErrorIsShownFromItsStart() {
    var bench = Bench.talker(["error: x" + String(repeating: ".", count: 190)])
    bench.press(.tab, .right, .right, .character("E"))
    #expect(bench.model.log.shift == 0)
  }

  @Test func withoutAnErrorHeldLinesAreNotTheWholeLog() {
    var bench = late()
    bench.press(.character("E"))
    #expect(bench.model.notice?.text == "no error in the lines being read; 2050 newer: f follows")
    var written = Bench.talker([])
    written.play { $0.log("talker", "x", .stderr) }
    written.press(.tab, .up)
    written.play { run in for number in 0..<(LogRing.capacity + 50) { run.log("talker", "error \(number)") } }
    written.press(.character("E"))
    #expect(written.model.notice?.text == "no line being read names an error: the first of stderr")
  }

  @Test func inTheMergedLogAnErrorOfAnOlderAttemptIsPassedOver() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    for name in ["a", "b"] { builder.move(name, .executing) }
    builder.log("a", "error: old")
    builder.move("a", .backingOff(until: .zero, number: 1, limit: 1, after: JobFailure(.exit(1), "exit 1")))
    builder.move("a", .executing)
    builder.log("b", "error: b")
    builder.state(.programLog(LogLine(.stdout, "z")))
    var bench = Bench(builder)
    bench.press(.character("L"), .character("E"))
    #expect(line(bench) == "error: b")
  }
}
