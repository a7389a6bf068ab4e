import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct MouseInputTests {
  private func bench(_ count: Int = 100, size: Size = Size(width: 80, height: 24)) -> Bench {
    Bench(RunBuilder((0..<count).map { .shell("job-\($0)") }), size: size)
  }

  private func send(_ action: MouseEvent.Action, _ x: Int, _ y: Int, _ bench: inout Bench) {
    bench.send(.mouse(MouseEvent(action, x: x, y: y)))
  }

  // MARK: The wheel

  @Test func theWheelMovesTheListByThreeRowsBetweenItsEnds() {
    var bench = bench()
    let layout = Layout(bench.model)
    let last = 100 - layout.list.height
    send(.wheelUp, 1, layout.list.y, &bench)
    #expect(bench.model.top == 0)
    send(.wheelDown, 1, layout.list.maxY - 1, &bench)
    #expect(bench.model.top == 3 && !bench.model.showsCursor)
    // The last line belongs to the list.
    send(.wheelDown, 1, layout.more.y, &bench)
    #expect(bench.model.top == 6)
    send(.wheelUp, 1, layout.list.y, &bench)
    #expect(bench.model.top == 3)
    for _ in 0..<40 { send(.wheelDown, 1, layout.list.y, &bench) }
    #expect(bench.model.top == last)
    // Header, titles and bottom line do not scroll.
    for y in [0, layout.titles.y, 23] {
      send(.wheelUp, 1, y, &bench)
      #expect(bench.model.top == last)
    }
  }

  @Test func theWheelMovesAPage() {
    var bench = bench(1, size: Size(width: 40, height: 12))
    bench.press(.character("?"))
    send(.wheelDown, 1, 5, &bench)
    #expect(bench.model.pageTop == 3)
    send(.wheelUp, 1, 5, &bench)
    #expect(bench.model.pageTop == 0)
  }

  @Test func theWheelOverTheLogAndItsBarMovesTheLog() {
    var bench = Bench.talker((0..<100).map { "line \($0)" })
    let layout = Layout(bench.model)
    send(.wheelDown, 1, layout.log.y, &bench)
    #expect(bench.model.log.follows)
    send(.wheelUp, 1, layout.logBar.y, &bench)
    let top = bench.model.log.top.line
    #expect(bench.model.log.cursor == top + layout.log.height - 1 && bench.model.isCursorTaken)
    send(.wheelUp, 1, layout.log.maxY - 1, &bench)
    #expect(bench.model.log.top.line == top - 3)
    send(.wheelDown, 1, layout.log.y, &bench)
    #expect(bench.model.log.top.line == top)
    for _ in 0..<3 { send(.wheelDown, 1, layout.log.y, &bench) }
    // The last page; it does not follow by itself.
    #expect(bench.model.log.top.line == top + 3 && !bench.model.log.follows)
    #expect(bench.model.top == 0)
  }

  @Test func theWheelBeforeTheFrameOfNewLinesMovesToThem() {
    var bench = Bench.talker((0..<100).map { "line \($0)" })
    bench.press(.tab, .up)
    let top = bench.model.log.top.line
    for number in 0..<3 { bench.builder.log("talker", "new \(number)") }
    _ = Update.apply(.facts(bench.builder.take()), to: &bench.model, now: bench.now)
    send(.wheelDown, 1, Layout(bench.model).log.y, &bench)
    #expect(bench.model.log.top.line == top + 3)
  }

  @Test func theWheelMovesTheChoiceOfAnOpenPalette() {
    var bench = Bench.talker((0..<100).map { "line \($0)" })
    let log = Layout(bench.model).log
    bench.press(.character(":"))
    send(.wheelDown, 1, log.y, &bench)
    send(.wheelDown, 1, 3, &bench)
    #expect(bench.model.prompt == .palette(LineEditor(""), 2))
    send(.wheelUp, 1, log.y, &bench)
    #expect(bench.model.prompt == .palette(LineEditor(""), 1))
    #expect(bench.model.log.follows && bench.model.top == 0 && bench.model.showsCursor)
  }

  // MARK: Clicks

  @Test func aDoubleClickOnAnEventOfTheRunOpensNoJob() {
    var bench = bench(3)
    bench.play { run in for slots in 1...3 { run.state(.slotsChanged(slots)) } }
    bench.press(.character("5"))
    send(.doubleClick, 1, Layout(bench.model).list.y, &bench)
    #expect(bench.model.page == .list && bench.model.cursorRow == 0)
    #expect(bench.model.notice?.text == "no job here")
  }

  @Test func aJobThatIsOpenedEndsTheFilterBeingTyped() {
    var bench = bench(3)
    bench.press(.character("/"))
    bench.type("job")
    send(.doubleClick, 1, Layout(bench.model).list.y + 1, &bench)
    #expect(bench.model.page == .zoom && bench.model.prompt == nil && bench.cursor == "job-1")
    bench.type("zz")
    #expect(bench.cursor == "job-1" && bench.model.filter.text == "job" && bench.model.page == .zoom)
  }

  @Test func aClickBelowTheRowsSelectsNothing() {
    var bench = bench(3)
    let list = Layout(bench.model).list
    send(.click, 1, list.y + 2, &bench)
    #expect(bench.cursor == "job-2")
    send(.click, 1, list.y + 3, &bench)
    send(.doubleClick, 1, list.y + 3, &bench)
    #expect(bench.cursor == "job-2" && bench.model.page == .list)
  }

  @Test func aClickOnAJobTakesTheFocusFromTheLog() {
    var bench = Bench.talker(["x"])
    bench.press(.tab)
    let layout = Layout(bench.model)
    send(.click, 1, layout.list.y, &bench)
    #expect(bench.model.focus == .list)
    bench.model.isCursorTaken = false
    send(.click, 1, layout.logBar.y, &bench)
    #expect(bench.model.focus == .log && bench.model.isCursorTaken && bench.model.log.follows)
  }

  @Test func aClickOnADescriptionTakesTheFocusFromItsLog() {
    var bench = Bench.talker(["x"])
    bench.press(.enter, .tab)
    #expect(bench.model.focus == .log)
    send(.click, 1, Layout(bench.model).page.y, &bench)
    #expect(bench.model.focus == .list && bench.model.page == .zoom)
  }

  @Test func onlyTheTitlesOfTheListSort() {
    var bench = bench(3)
    bench.press(.character("2"))
    send(.click, 4, Layout(bench.model).titles.y, &bench)
    #expect(bench.model.order.sort == .attention)
  }

  @Test func aTitleClickedAfterAnotherSortsUpwards() {
    var bench = bench(3)
    let y = Layout(bench.model).titles.y
    send(.click, 4, y, &bench)
    send(.click, 4, y, &bench)
    #expect(bench.model.order.sort == .name && bench.model.order.isInverted)
    send(.click, 4, y, &bench)
    #expect(!bench.model.order.isInverted)
    send(.click, 4, y, &bench)
    send(.click, 78, y, &bench)
    #expect(bench.model.order.sort == .eta && !bench.model.order.isInverted)
  }

  @Test func theBottomLineIsNoKeyWhileALineIsTyped() throws {
    var bench = bench(3)
    let help = try #require(Footer.hints(bench.model, width: 80).first { $0.command == .help })
    bench.press(.character("/"))
    send(.click, help.x, 23, &bench)
    #expect(bench.model.page == .list)
    bench.press(.escape)
    send(.click, help.x, 23, &bench)
    #expect(bench.model.page == .help)
  }

  @Test func aKeyOfTheBottomLineIsFromItsFirstToItsLastCell() throws {
    let hints = Footer.hints(bench(3).model, width: 80)
    let place = try #require(hints.firstIndex { $0.command == .help })
    #expect(place > 0 && hints[place].x == hints[place - 1].x + hints[place - 1].width)
    for (x, opens) in [
      (hints[place].x - 1, false), (hints[place].x, true), (hints[place].x + hints[place].width - 1, true),
      (hints[place].x + hints[place].width, false),
    ] {
      var bench = bench(3)
      send(.click, x, 23, &bench)
      #expect((bench.model.page == .help) == opens, "\(x)")
    }
  }

  @Test func onTheHelpPageNoClickQuits() {
    var bench = bench(3)
    bench.play { $0.move("job-0", .executing) }
    bench.press(.character("?"))
    let hints = Footer.hints(bench.model, width: 80)
    #expect(hints.map(\.command) == [.back, .help])
    for hint in hints {
      send(.click, hint.x, 23, &bench)
      #expect(bench.model.page == .list && bench.model.prompt == nil)
      bench.press(.character("?"))
    }
    #expect(Command.quit.request(&bench.model, bench.now).isEmpty)
    #expect(bench.model.page == .list && bench.model.prompt == nil)
  }

  @Test func aDoubleClickOnANameOfTheMergedLogGoesToItsJob() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    for name in ["a", "b"] {
      builder.move(name, .executing)
      builder.log(name, "of \(name)")
    }
    var bench = Bench(builder)
    bench.press(.character("L"), .character("l"))
    let log = Layout(bench.model).log
    send(.doubleClick, log.x + 9, log.y + 1, &bench)
    #expect(bench.cursor == "b" && bench.model.focus == .list && bench.model.log.extent == .half)
    #expect(bench.copies.isEmpty)
  }

  // MARK: Selections

  @Test func aDoubleClickOnABlankSelectsNothing() {
    var bench = Bench.talker(["ab cd"])
    let log = Layout(bench.model).log
    send(.doubleClick, log.x + 12, log.y, &bench)
    #expect(bench.copies.isEmpty && bench.model.log.selection == nil)
    send(.doubleClick, log.x + 13, log.y, &bench)
    #expect(bench.copies == ["cd"])
  }

  @Test func aDragWithinItsCellSelectsNothingUntilItHasLeftIt() {
    var bench = Bench.talker(["abcdef"])
    let log = Layout(bench.model).log
    send(.click, log.x + 12, log.y, &bench)
    send(.drag, log.x + 12, log.y, &bench)
    #expect(bench.model.log.selection?.isMade == false)
    send(.drag, log.x + 13, log.y, &bench)
    send(.drag, log.x + 12, log.y, &bench)
    #expect(bench.model.log.selection?.isMade == true)
    send(.release, log.x + 12, log.y, &bench)
    #expect(bench.copies == ["c"])
    // It is over: what follows extends it no more.
    send(.drag, log.x + 15, log.y, &bench)
    send(.release, log.x + 15, log.y, &bench)
    #expect(bench.copies == ["c"])
  }

  @Test func besideAndBelowTheLinesTheirEndsAreMeant() {
    var bench = Bench.talker(["abc", "de"])
    let log = Layout(bench.model).log
    send(.click, log.x, log.y, &bench)
    send(.drag, log.x + 11, log.y + 4, &bench)
    send(.release, log.x + 11, log.y + 4, &bench)
    #expect(bench.copies == ["abc\nde"])
    send(.click, log.x + 60, log.y, &bench)
    send(.drag, log.x + 10, log.y + 1, &bench)
    send(.release, log.x + 10, log.y + 1, &bench)
    #expect(bench.copies.last == "\nd")
  }
}
