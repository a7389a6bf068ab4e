import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct UpdateNavigationTests {
  private func bench(_ count: Int, size: Size = Size(width: 80, height: 24)) -> Bench {
    Bench(RunBuilder((0..<count).map { .shell("job-\($0)") }), size: size)
  }

  // MARK: Steps

  @Test(
    arguments: [
      (.up, 9, -1), (.down, 9, 1), (.pageUp, 9, -8), (.pageDown, 9, 8), (.halfUp, 9, -4), (.halfDown, 9, 4),
      (.pageUp, 1, -1), (.pageDown, 1, 1), (.halfUp, 1, -1), (.halfDown, 1, 1), (.pageDown, 0, 1), (.right, 9, 0),
      (.left, 9, 0),
    ] as [(Movement, Int, Int)])
  func anActionMovesByItsPartOfThePage(_ movement: Movement, _ height: Int, _ rows: Int) {
    #expect(movement.rows(height: height) == rows)
  }

  @Test func firstAndLastMovePastEveryRow() {
    #expect(Movement.first.rows(height: 9) < -1_000_000 && Movement.last.rows(height: 9) > 1_000_000)
  }

  @Test func afterTheLastCaseComesTheFirst() {
    #expect(SortColumn.attention.moved(by: 1) == .name && SortColumn.attention.moved(by: -1) == .eta)
    #expect(SortColumn.eta.moved(by: 1) == .attention && SortColumn.rate.moved(by: -1) == .progress)
    #expect(LogReader.Extent.half.moved(by: 1) == .full && LogReader.Extent.full.moved(by: 1) == .off)
  }

  // MARK: The cursor and the page

  @Test func aPageOfTheListIsOneRowLessThanItsHeight() {
    var bench = bench(100)
    let height = Layout(bench.model).list.height
    bench.press(.pageDown)
    #expect(bench.cursor == "job-\(height - 1)" && bench.model.top == 0)
    bench.press(.down)
    #expect(bench.cursor == "job-\(height)" && bench.model.top == 1)
    bench.press(.control("d"))
    #expect(bench.cursor == "job-\(height + height / 2)" && bench.model.top == 1 + height / 2)
    bench.press(.pageUp)
    #expect(bench.cursor == "job-\(height / 2 + 1)" && bench.model.top == height / 2 + 1)
    bench.press(.control("u"))
    #expect(bench.cursor == "job-1" && bench.model.top == 1)
    bench.press(.up)
    #expect(bench.cursor == "job-0" && bench.model.top == 0)
  }

  @Test func withoutARowOfTheCursorTheFirstStepGoesToAnEnd() {
    for (key, row) in [(Key.down, 0), (.up, 0), (.end, 2)] {
      var bench = bench(3)
      bench.model.cursor = nil
      _ = Update.apply(.input(.key(key)), to: &bench.model, now: bench.now)
      #expect(bench.model.cursorRow == row, "\(key)")
    }
  }

  @Test func theHelpPageScrollsBetweenItsEnds() {
    var bench = bench(1, size: Size(width: 40, height: 12))
    bench.press(.character("?"))
    let height = Layout(bench.model).page.height
    let last = HelpPage.height(bench.model) - height
    #expect(last > height)
    for (key, top) in [
      (Key.up, 0), (.down, 1), (.pageDown, height), (.control("d"), height + height / 2), (.pageUp, 1 + height / 2),
      (.home, 0), (.end, last), (.down, last), (.up, last - 1),
    ] {
      bench.press(key)
      #expect(bench.model.pageTop == top, "\(key)")
    }
    bench.press(.character("?"), .character("?"))
    #expect(bench.model.page == .help && bench.model.pageTop == 0)
  }

  @Test(arguments: [Key.escape, .character("?"), .enter, .character("q")])
  func theHelpLeadsBackToThePageBelow(_ key: Key) {
    var bench = Bench(RichRun.builder(), size: Size(width: 40, height: 12))
    bench.press(.enter, .down, .character("?"), .down, key)
    #expect(bench.model.page == .zoom && bench.model.pageTop == 1)
    bench.press(.escape, .character("?"), key)
    #expect(bench.model.page == .list)
  }

  @Test func theHelpKeepsThePaneAndItsRange() {
    var bench = Bench.talker((0..<30).map { "line \($0)" })
    bench.press(.enter, .tab, .character("v"), .character("?"))
    #expect(bench.frame().text(row: 23) == " Esc back   ? help")
    bench.press(.escape)
    #expect(bench.model.page == .zoom && bench.model.focus == .log && bench.model.log.mark != nil)
    bench.press(.character("?"))
    bench.send(.resized(Size(width: 80, height: 8)))
    bench.press(.escape)
    #expect(bench.model.page == .zoom && bench.model.focus == .list)
  }

  @Test(arguments: [Key.character("?"), .enter])
  func aPageThatFitsIntoALargerScreenIsWhole(_ key: Key) {
    var bench = Bench(RichRun.builder(), size: Size(width: 40, height: 12))
    bench.press(key, .end)
    #expect(bench.model.pageTop > 0)
    bench.send(.resized(Size(width: 120, height: 40)))
    #expect(bench.model.pageTop == 0)
  }

  @Test(arguments: [Key.character("?"), .enter])
  func thePlaceOnAPageOverwritesNoText(_ key: Key) {
    var bench = Bench(RichRun.builder(), size: Size(width: 40, height: 8))
    bench.press(key)
    let page = Layout(bench.model).page
    for _ in 0..<100 {
      let row = bench.frame().text(row: page.y)
      #expect(row.count == 39 && row.contains(#/  \d+/\d+$/#), "\(row)")
      bench.press(.down)
    }
  }

  @Test func aZoomedJobsDescriptionScrollsAndBeginsAtItsTop() {
    var bench = Bench(RichRun.builder(), size: Size(width: 80, height: 8))
    bench.press(.enter)
    let last = DetailPane.height(bench.model) - Layout(bench.model).page.height
    #expect(bench.model.page == .zoom && last > 0)
    bench.press(.end)
    #expect(bench.model.pageTop == last)
    bench.press(.escape, .enter)
    #expect(bench.model.page == .zoom && bench.model.pageTop == 0)
  }

  // MARK: Columns and branches

  @Test func theLogIsSlidByEightCellsBetweenItsEnds() {
    var bench = Bench.talker([String(repeating: "x", count: 300)])
    bench.press(.right)
    #expect(bench.model.log.shift == 8)
    bench.press(.right, .left, .left, .left)
    #expect(bench.model.log.shift == 0)
    for _ in 0..<40 { bench.press(.right) }
    // The end of the text is in the last of 69 cells.
    #expect(bench.model.log.shift == 300 - 69)
    // A search may have slid it farther.
    bench.model.log.shift = 290
    bench.press(.right)
    #expect(bench.model.log.shift == 290)
    bench.play { $0.log("talker", String(repeating: "x", count: 400), isCut: true) }
    for _ in 0..<40 { bench.press(.right) }
    // With the mark and the path of its file.
    #expect(bench.model.log.shift == 400 + 2 + 39 - 69 && bench.frame().text.contains("x.. whole in /"))
    bench.press(.character("w"))
    #expect(bench.model.log.shift == 0 && bench.model.notice?.text == "long lines are wrapped")
    bench.press(.right)
    #expect(bench.model.log.shift == 0)
    bench.press(.character("w"))
    #expect(bench.model.notice?.text == "long lines are cut")
  }

  @Test func aBranchIsClosedLeftAndEnteredRight() {
    let builder = RunBuilder([
      .shell("base"), .shell("left", needs: [JobNeed(JobID(0))]), .shell("top", needs: [JobNeed(JobID(1))]),
    ])
    var bench = Bench(builder)
    bench.press(.character("2"), .home)
    #expect(bench.cursor == "top")
    bench.press(.right)
    #expect(bench.cursor == "left")
    bench.press(.right)
    #expect(bench.cursor == "base")
    bench.press(.right)
    #expect(bench.cursor == "base")
    bench.press(.left)
    #expect(bench.cursor == "left")
    bench.press(.left)
    #expect(bench.cursor == "left" && bench.model.rowCount == 2)
    bench.press(.left)
    #expect(bench.cursor == "top" && bench.model.rowCount == 2)
    bench.press(.left, .left)
    #expect(bench.cursor == "top" && bench.model.rowCount == 1)
    bench.press(.right)
    #expect(bench.cursor == "top" && bench.model.rowCount == 2)
  }

  // MARK: Back

  @Test func escapeTakesBackOneThingAtATime() {
    var bench = Bench.talker((0..<40).map { "line \($0)" })
    bench.press(.character(" "), .character("/"))
    bench.type("talk")
    bench.press(.enter, .tab, .character("/"))
    bench.type("line 1")
    bench.press(.enter, .character("v"))
    bench.press(.escape)
    #expect(bench.model.log.mark == nil && bench.model.log.query == "line 1")
    bench.press(.escape)
    #expect(bench.model.log.query.isEmpty && bench.model.focus == .log)
    bench.press(.escape)
    #expect(bench.model.focus == .list && bench.model.filter.text == "talk")
    bench.press(.escape)
    #expect(bench.model.filter.isEmpty && bench.model.tags == [JobID(0)])
    bench.press(.escape)
    #expect(bench.model.tags.isEmpty && bench.model.isCursorTaken)
    bench.model.showsCursor = false
    bench.press(.escape)
    #expect(!bench.model.isCursorTaken && bench.model.showsCursor)
  }

  @Test func escapeLeavesAZoomedJobAfterItsSearch() {
    var bench = Bench.talker((0..<40).map { "line \($0)" })
    bench.press(.enter, .tab, .character("/"))
    bench.type("line 1")
    bench.press(.enter, .escape)
    #expect(bench.model.page == .zoom && bench.model.log.query.isEmpty && bench.model.focus == .log)
    bench.press(.escape)
    #expect(bench.model.page == .list && bench.model.focus == .list)
  }

  @Test func escapeMakesAFullLogHalf() {
    var bench = Bench.talker(["x"])
    bench.press(.character("l"))
    #expect(bench.model.log.extent == .full && bench.model.isCursorTaken)
    bench.press(.escape)
    #expect(bench.model.log.extent == .half && bench.model.focus == .list)
  }

  // MARK: Panes

  @Test func thePaneKeyGoesToAndFro() {
    var bench = Bench.talker(["x"])
    bench.press(.tab)
    #expect(bench.model.focus == .log && bench.model.isCursorTaken)
    bench.press(.tab)
    #expect(bench.model.focus == .list)
  }

  @Test func thereMayBeNoRoomForTheLogBesideTheList() {
    var bench = Bench(RunBuilder([.shell("a")]), size: Size(width: 40, height: 12))
    bench.press(.character("l"), .character("l"))
    #expect(bench.model.log.extent == .off && bench.model.notice == nil)
    bench.press(.character("l"))
    #expect(bench.model.notice?.text == "no room for the log beside the list" && bench.model.focus == .list)
  }

  @Test func theFilterKeyIsASearchOnlyInTheLog() {
    var bench = Bench.talker(["x"])
    bench.press(.tab, .character("/"))
    #expect(bench.model.prompt == .search(LineEditor("")))
    bench.press(.escape, .enter, .character("/"))
    #expect(bench.model.prompt == .filter(LineEditor("")) && bench.model.page == .list)
    bench.press(.escape, .enter, .tab, .character("/"))
    #expect(bench.model.prompt == .search(LineEditor("")) && bench.model.page == .zoom)
  }

  @Test func aSmallerScreenWithoutALogTakesTheFocusToTheList() {
    var bench = Bench.talker(["x"])
    bench.press(.tab)
    bench.send(.resized(Size(width: 80, height: 20)))
    #expect(bench.model.focus == .log)
    bench.send(.resized(Size(width: 50, height: 20)))
    #expect(bench.model.focus == .list && bench.model.size == Size(width: 50, height: 20))
  }

  @Test func aSearchEndsWithTheLogThatItLooksThrough() {
    var bench = Bench.talker(["x", "y", "x"])
    bench.press(.tab, .character("/"))
    bench.type("x")
    bench.send(.resized(Size(width: 50, height: 20)))
    #expect(bench.model.prompt == nil && bench.model.focus == .list)
    bench.press(.enter)
    #expect(bench.model.page == .zoom && bench.model.log.currentMatch == nil)
  }

  @Test(arguments: [false, true]) func aBannerInPlaceOfTheLogTakesTheFocusToTheList(isFrozen: Bool) {
    var bench = Bench.talker(["x"], size: Size(width: 80, height: 15))
    bench.press(.tab)
    #expect(bench.model.focus == .log)
    if isFrozen {
      bench.press(.character("Z"))
    } else {
      // A key may come before the next frame.
      bench.builder.move("talker", .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
      _ = Update.apply(.facts(bench.builder.take()), to: &bench.model, now: bench.now)
    }
    #expect(!bench.model.showsLog && bench.model.focus == .list)
  }

  @Test func aJobsPageThatLosesItsLogTakesTheFocus() {
    var bench = Bench.talker(["x"])
    bench.press(.enter, .tab)
    #expect(bench.model.focus == .log)
    bench.send(.resized(Size(width: 80, height: 13)))
    #expect(bench.model.page == .zoom && bench.model.focus == .list)
  }

  @Test func theKeyOfTheShownPanelMakesAFullLogHalf() {
    var bench = Bench.talker(["x"])
    bench.press(.character("l"), .character("1"))
    #expect(bench.model.log.extent == .half && !Layout(bench.model).list.isEmpty)
  }

  // MARK: Tags

  @Test func tagsAreCountedAndATagMovesOn() {
    let builder = RunBuilder([
      .shell("a"), .shell("b", needs: [JobNeed(JobID(0))]), .shell("c", needs: [JobNeed(JobID(1))]), .shell("d"),
    ])
    var bench = Bench(builder)
    bench.press(.character(" "))
    #expect(bench.model.tags == [JobID(0)] && bench.cursor == "b")
    bench.press(.up, .character(" "))
    #expect(bench.model.tags.isEmpty && bench.cursor == "b")
    bench.press(.character("c"))
    #expect(bench.model.tags == [JobID(1), JobID(2)] && bench.model.notice?.text == "2 jobs tagged")
    bench.press(.character("A"))
    #expect(bench.model.tags.count == 4 && bench.model.notice?.text == "4 jobs tagged")
    bench.press(.character("U"))
    #expect(bench.model.tags.isEmpty)
    bench.press(.end, .character("c"))
    #expect(bench.model.tags == [JobID(3)] && bench.model.notice?.text == "1 job tagged")
  }

  @Test func aTagInTheLogMovesNoCursor() {
    var bench = Bench.talker((0..<40).map { "line \($0)" })
    bench.press(.tab, .character(" "))
    #expect(bench.model.tags == [JobID(0)] && bench.model.log.follows)
    #expect(bench.model.notice?.text == "talker is tagged")
    bench.press(.up, .up, .character(" "))
    #expect(bench.model.tags.isEmpty && bench.model.currentLine?.entry.line.text == "line 37")
  }

  @Test func aFoldKeepsTheCursorOnTheScreen() {
    var bench = Bench(RichRun.builder())
    bench.model.showsCursor = false
    bench.press(.character("e"))
    #expect(bench.model.showsCursor && bench.model.isCursorTaken && bench.rows.prefix(2) == ["lint", "publish"])
  }
}
