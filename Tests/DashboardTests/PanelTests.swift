import JobModel
import Screen
import Testing

@testable import Dashboard

/// The five panels, which share the selected job.
struct PanelTests {
  private static let keys: [(Key, Panel)] = [
    (.character("1"), .list), (.character("2"), .tree), (.character("3"), .timeline), (.character("4"), .critical),
    (.character("5"), .events),
  ]

  private func bench(_ builder: RunBuilder = RichRun.builder(), size: Size = Size(width: 80, height: 24)) -> Bench {
    var builder = builder
    let events = builder.take()
    var bench = Bench(RunBuilder([]), size: size)
    bench.model = Model(run: Run(), size: size, options: DashboardOptions(timeZone: .gmt))
    bench.builder = builder
    bench.now = builder.time
    bench.send(.facts(events))
    return bench
  }

  @Test func everyPanelHasItsNumberAndKeepsTheSelectedJob() {
    var bench = bench()
    bench.select("fetch")
    for (key, panel) in Self.keys + Self.keys.reversed() {
      bench.press(key)
      #expect(bench.model.panel == panel)
      #expect(bench.cursor == "fetch")
      #expect(bench.frame().text.contains("log: fetch #1"))
    }
  }

  @Test func treeOrListGoesToAndFroAndLeavesAPage() {
    var bench = bench()
    bench.press(.character("t"))
    #expect(bench.model.panel == .tree)
    bench.press(.function(5))
    #expect(bench.model.panel == .list)
    bench.press(.enter, .character("3"))
    #expect(bench.model.page == .list && bench.model.panel == .timeline)
  }

  @Test(arguments: Panel.allCases)
  func movingAndAFilterWorkInEveryPanel(_ panel: Panel) {
    var bench = bench()
    bench.press(panel.key, .home, .down, .down)
    #expect(bench.model.cursorRow == 2)
    bench.press(.character("g"))
    #expect(bench.model.cursorRow == 0)
    bench.press(.character("G"))
    #expect(bench.model.cursorRow == bench.model.rowCount - 1)
    let all = bench.model.rowCount
    bench.press(.character("/"))
    bench.type("build")
    bench.press(.enter)
    // The chain is not filtered: without its other jobs it would be no chain.
    #expect(panel == .critical ? bench.model.rowCount == all : bench.model.rowCount < all)
  }

  @Test func theCriticalPathSaysThatItIsNotFiltered() {
    var bench = bench()
    bench.press(.character("4"), .character("/"))
    bench.type("build")
    #expect(bench.frame().text(row: 23).contains(" not filtered "))
    bench.press(.enter)
    let last = bench.frame().text(row: Layout(bench.model).more.y)
    #expect(last.hasSuffix("/build  not filtered"), "\(last)")
    // The cursor goes to every row.
    bench.press(.home)
    for row in 1..<bench.model.rowCount {
      bench.press(.down)
      #expect(bench.model.cursorRow == row)
    }
    // The list has no row of its job.
    let job = bench.cursor
    bench.press(.character("1"))
    #expect(bench.cursor == job && bench.model.cursorRow == nil)
    bench.press(.down)
    #expect(bench.cursor == "build[mac]")
  }

  @Test(arguments: Panel.allCases)
  func jobsMayBeAddedLateInEveryPanel(_ panel: Panel) {
    var bench = Bench(RunBuilder([]), size: Size(width: 100, height: 60))
    bench.model = Model(run: Run(), size: Size(width: 100, height: 60))
    bench.press(panel.key)
    var builder = diamond
    builder.move("base", .executing)
    for event in builder.take() {
      bench.send(.facts([event]))
      #expect(bench.frame().size.width == 100)
    }
  }

  @Test(arguments: Panel.allCases)
  func aClickSelectsTheJobOfItsRowAndTheWheelScrolls(_ panel: Panel) {
    var bench = bench(size: Size(width: 80, height: 16))
    bench.press(panel.key, .home)
    let list = Layout(bench.model).list
    bench.send(.mouse(MouseEvent(.click, x: 10, y: list.y + 2)))
    #expect(bench.model.cursorRow == 2)
    #expect(bench.cursor == bench.model.job(row: 2).map { bench.names([$0])[0] } || panel == .events)
    bench.send(.mouse(MouseEvent(.wheelDown, x: 10, y: list.y + 2)))
    #expect(bench.model.top == min(3, bench.model.rowCount - list.height))
    bench.send(.mouse(MouseEvent(.click, x: 10, y: list.y)))
    #expect(bench.model.cursorRow == bench.model.top)
  }

  // MARK: Layout

  private static let odd: RunBuilder = {
    var run = RichRun.builder()
    let names = ["名前の長いジョブ", "e\u{301}tude", "👩‍👩‍👧 family", "a", String(repeating: "long-", count: 30)]
    var jobs = run.run.jobs.map(\.job)
    for (place, name) in names.enumerated() { jobs[place + 2].name = name }
    var odd = RunBuilder(jobs, pools: ["heavy": 2, "net": 4])
    for event in run.take().dropFirst(jobs.count + 1) {
      odd.time = event.time
      odd.state(event.fact)
    }
    return odd
  }()

  private static let sizes: [Size] = (0..<40).map { step in
    Size(width: 30 + (step * 67) % 271, height: 5 + (step * 37) % 96)
  }

  /// Every pane draws within its area: the lines between panes are whole, and no row is wider than the screen.
  @Test(arguments: Panel.allCases)
  func panesStayApartAtEverySize(_ panel: Panel) {
    for size in Self.sizes {
      var bench = bench(Self.odd, size: size)
      bench.press(panel.key, .down, .character("e"))
      let frame = bench.frame()
      let layout = Layout(bench.model)
      for y in 0..<size.height {
        let cells = frame.rows[y].reduce(0) { $0 + TextWidth.of($1.text) }
        #expect(cells == size.width, "row \(y) of \(size)")
        if !layout.detail.isEmpty, layout.detail.contains(x: layout.detail.x, y: y) {
          #expect(frame[layout.detail.x - 1, y].text == "|", "row \(y) of \(size)\n\(frame.text)")
        }
      }
      if !layout.logBar.isEmpty {
        #expect(frame.text(row: layout.logBar.y).dropFirst(layout.logBar.x).hasPrefix("-- log: "))
      }
      if !layout.more.isEmpty { #expect(frame.text(row: layout.more.y).contains("/"), "\(size)") }
      let panes = [layout.header, layout.banner, layout.titles, layout.list, layout.more, layout.strip]
      let isBeside = layout.log.x > 0
      let rest = isBeside ? [layout.footer] : [layout.logBar, layout.log, layout.footer]
      if isBeside { #expect(layout.log.maxY == layout.footer.y && layout.detail.maxY == layout.logBar.y) }
      let heights = (panes + rest).reduce(0) { $0 + $1.height }
      #expect(heights == size.height, "\(size)")
    }
  }

  @Test(arguments: 30...300)
  func theColumnsOfTheCriticalPathNeverOverlap(_ width: Int) {
    for (longest, time) in [(1, 5), (8, 5), (20, 5), (60, 5), (1, 7), (20, 7), (60, 8), (60, 9)] {
      let columns = CriticalColumns(width: width, longestName: longest, longestTime: time)
      let all = [
        columns.name, columns.share, columns.took, columns.waited, columns.ends, columns.slack, columns.saving,
      ]
      let spans = all.compactMap(\.self)
      for (left, right) in zip(spans, spans.dropFirst()) { #expect(left.end < right.x) }
      #expect((spans.last?.end ?? 0) < width)
      #expect(spans[0].width >= 4)
    }
  }

  @Test func aTreeKeepsItsNamesAsLongAsTheyFit() {
    var bench = bench(diamond, size: Size(width: 80, height: 24))
    bench.press(.character("2"))
    for name in ["top", "left", "base", "alone"] { #expect(bench.frame().text.contains(name)) }
    for width in 44...300 {
      let tree = Columns(width: width, longestName: 60, isTree: true)
      #expect(tree.status >= Columns(width: width, longestName: 60).status)
    }
  }

  // MARK: What was skipped

  @Test func aFailureCollapsesAndCountsTheJobsThatItSkipped() {
    var bench = bench()
    #expect(bench.rows.first == "lint")
    #expect(!bench.rows.contains("publish") && !bench.rows.contains("tag"))
    #expect(bench.frame().text(row: 3).contains("+ 2 skipped"))
    bench.press(.character("e"))
    #expect(Array(bench.rows.prefix(4)) == ["lint", "publish", "tag", "sign"])
    #expect(bench.frame().text(row: 3).contains("- 2 skipped"))
    bench.press(.down, .character("e"))
    #expect(bench.cursor == "lint")
    #expect(bench.rows.count == 24)
  }

  @Test func failuresAreNeverFoldedAwayAndOtherOrdersFoldNothing() {
    var bench = bench()
    #expect(bench.rows.contains("lint") && bench.rows.contains("sign"))
    bench.press(.character(">"))
    #expect(bench.rows.count == 26)
  }

  @Test func aSkippedJobThatRunsAgainHasItsOwnRow() {
    var bench = bench()
    bench.play { $0.move("publish", .executing) }
    #expect(bench.rows.contains("publish"))
    #expect(bench.frame().text(row: 3).contains("+ 1 skipped"))
  }

  // MARK: The tree

  private var diamond: RunBuilder {
    func need(_ ids: Int...) -> [JobNeed] { ids.map { JobNeed(JobID($0)) } }
    return RunBuilder([
      .shell("base"), .shell("left", needs: need(0)), .shell("right", needs: need(0)),
      .shell("top", needs: need(1, 2)), .shell("alone"),
    ])
  }

  private func tree(_ bench: Bench) -> [String] {
    bench.model.tree.rows.map {
      String(repeating: "-", count: $0.depth) + bench.names([$0.job])[0] + ($0.isRepeat ? "^" : "")
    }
  }

  @Test func theTreeShowsNeedsInTheFilesOrderAndASharedOneOnce() {
    var bench = bench(diamond)
    bench.press(.character("2"))
    #expect(tree(bench) == ["top", "-left", "--base", "-right", "--base^", "alone"])
    #expect(bench.frame().text.contains("`-base x2") || bench.frame().text.contains("` base x2"))
    bench.play { $0.move("base", .executing) }
    #expect(tree(bench) == ["top", "-left", "--base", "-right", "--base^", "alone"])
  }

  @Test func aBranchCanBeFoldedByKeyAndOpensForTheSelectedJob() {
    var bench = bench(diamond)
    bench.press(.character("2"), .home, .down, .character("e"))
    #expect(tree(bench) == ["top", "-left", "-right", "--base", "alone"])
    bench.press(.right)
    #expect(tree(bench).count == 6)
    bench.press(.right)
    #expect(bench.cursor == "base")
    bench.press(.left)
    #expect(bench.cursor == "left")
    bench.press(.left, .left, .left)
    #expect(tree(bench) == ["top", "alone"])
    bench.press(.character("1"))
    bench.select("left")
    bench.press(.character("2"))
    #expect(bench.cursor == "left" && bench.model.cursorRow == 1)
  }

  @Test func aRepeatedJobIsOneJobOnTwoRows() {
    var bench = bench(diamond)
    bench.press(.character("2"), .home, .down, .down)
    #expect(bench.cursor == "base" && bench.model.cursorRow == 2)
    bench.press(.down, .down)
    #expect(bench.cursor == "base" && bench.model.cursorRow == 4)
  }

  @Test func aFilteredTreeKeepsTheRowsAboveItsMatches() {
    var bench = bench(diamond)
    bench.press(.character("2"), .character("/"))
    bench.type("right")
    #expect(tree(bench) == ["top", "-right"])
    bench.press(.escape)
    #expect(tree(bench).count == 6)
  }

  @Test func aChainAsLongAsTheRunNeedsNoRecursion() {
    let jobs = (0..<20_000).map { Job.shell("j\($0)", needs: $0 == 0 ? [] : [JobNeed(JobID($0 - 1))]) }
    var bench = bench(RunBuilder(jobs))
    bench.press(.character("2"), .character("G"))
    #expect(bench.cursor == "j0")
    #expect(bench.frame().text.contains("j0 "))
  }

  // MARK: The timeline

  private var waits: RunBuilder {
    var run = RunBuilder([.shell("a"), .shell("b", needs: [JobNeed(JobID(0))])], slots: 1)
    run.move("a", .ready(for: .slot))
    run.at(4)
    run.move("a", .executing)
    run.at(10)
    run.move("a", .backingOff(until: .seconds(15), number: 1, limit: 1, after: JobFailure(.exit(1), "exit 1")))
    run.at(15)
    run.move("a", .executing)
    run.at(20)
    run.move("a", .succeeded(upToDate: false))
    run.move("b", .ready(for: .pool("net")))
    run.at(25)
    run.move("b", .executing)
    run.at(27)
    run.move("b", .paused(started: true))
    run.at(30)
    run.state(.slotsChanged(1))
    return run
  }

  private func bar(_ name: String, _ bench: Bench) -> String {
    let line = bench.frame().text.split(separator: "\n").first { $0.dropFirst(5).hasPrefix("\(name) ") } ?? ""
    return String(line.dropFirst(14))
  }

  @Test func aBarTellsWaitsAndAttemptsApart() {
    var bench = bench(waits)
    bench.press(.character("3"))
    let step = bench.model.window.scale(
      width: TimelinePane.extent(bench.model).width, now: bench.now, end: TimelinePane.extent(bench.model).end)
    #expect(step.step == .seconds(1))
    #expect(bar("a", bench).hasPrefix("----#####!~~~~~#####"))
    let b = String(repeating: ".", count: 20) + "=====##ppp|:"
    #expect(bar("b", bench).hasPrefix(b))
  }

  @Test func theColourOfABarIsTheAttemptsAndItsEndHasALetter() {
    var run = RunBuilder([.shell("a"), .shell("b")], slots: 2)
    for name in ["a", "b"] { run.move(name, .executing) }
    run.at(4)
    run.move("a", .paused(started: true))
    run.at(6)
    run.move("a", .executing)
    run.at(9)
    run.move("a", .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    run.move("b", .cancelled(by: .person))
    var bench = bench(run)
    bench.press(.character("3"))
    #expect(bar("a", bench).contains("#ppp") && bar("a", bench).contains("#!"))
    #expect(bar("b", bench).hasSuffix("#c"))
    let frame = bench.frame(ScreenTraits(isASCII: true, palette: .sixteen))
    let row =
      frame.rows.first { $0.map(\.text).joined().contains(" a ") && $0.map(\.text).joined().contains("ppp") } ?? []
    #expect(row.filter { $0.text == "#" }.allSatisfy { $0.style.foreground == .indexed(1) })
  }

  @Test func theTimelineZoomsAndPansAndComesBack() {
    var bench = bench(waits)
    bench.press(.character("3"))
    #expect(bench.frame().text.contains("|1s "))
    bench.press(.character("i"), .character("i"))
    #expect(bench.frame().text.contains("|200ms"))
    #expect(bench.frame().text.contains("NOW"))
    bench.press(.left, .left, .left)
    #expect(!bench.frame().text.contains("NOW"))
    for _ in 0..<3 { bench.press(.right) }
    #expect(bench.frame().text.contains("NOW"))
    bench.press(.character("o"), .character("o"), .character("o"))
    #expect(bench.model.window == TimeWindow())
    bench.press(.character("i"), .character("i"), .character("0"))
    #expect(bench.model.window == TimeWindow())
  }

  @Test func zoomKeysSayThatTheyAreForTheTimeline() {
    var bench = bench()
    bench.press(.character("i"))
    #expect(bench.model.notice?.text == "that is for the timeline, 3")
    bench.press(.character("3"), .character(">"))
    #expect(bench.model.notice?.text == "only the list is sorted")
  }

  @Test func aTallScreenHasTheTimelineBelowTheList() {
    let bench = bench(size: Size(width: 100, height: 60))
    #expect(bench.frame().text.contains("timeline") && bench.frame().text.contains("NOW"))
    let low = self.bench(size: Size(width: 100, height: 43))
    #expect(!low.frame().text.contains("NOW"))
  }

  // MARK: The critical path

  @Test func theHeaderNamesWhatIsLeftOfTheChainAndTheListMarksIt() {
    let work = { (seconds: Int) in JobWork.simulate(SimulatedWork(duration: .seconds(seconds))) }
    var builder = RunBuilder(
      [
        Job(name: "first", work: work(5)),
        Job(name: "second", work: work(60), needs: [JobNeed(JobID(0))]),
        Job(name: "third", work: work(5), needs: [JobNeed(JobID(1))]),
        Job(name: "aside", work: work(9)),
      ], slots: 2)
    builder.at(1)
    builder.move("first", .executing)
    builder.at(2)
    builder.move("first", .succeeded(upToDate: false))
    builder.move("second", .executing)
    builder.move("aside", .executing)
    let bench = self.bench(builder)
    let rows = bench.frame().text.split(separator: "\n")
    #expect(rows[1].hasSuffix("critical second > third"))
    #expect(rows.first { $0.contains(" > second") }?.contains(" * ") == true)
    #expect(rows.first { $0.contains(" > aside") }?.contains("*") == false)
  }

  @Test func independentJobsHaveNoCriticalPath() {
    var builder = RunBuilder([.shell("one"), .shell("two")], slots: 2)
    builder.at(1)
    builder.move("one", .executing)
    #expect(!bench(builder).frame().text.contains("critical"))
  }

  @Test func theCriticalPathShowsTheChainThenWhatHasSlack() {
    var builder = RunBuilder(
      [
        Job(name: "long", work: .simulate(SimulatedWork(duration: .seconds(60)))),
        Job(name: "short", work: .simulate(SimulatedWork(duration: .seconds(10)))),
        Job(
          name: "last", work: .simulate(SimulatedWork(duration: .seconds(20))),
          needs: [JobNeed(JobID(0)), JobNeed(JobID(1))]),
      ], slots: 1)
    builder.move("long", .executing)
    var bench = bench(builder)
    bench.press(.character("4"))
    #expect(bench.names(bench.model.path.rows.map(\.job)) == ["long", "last", "short"])
    let text = bench.frame().text
    #expect(text.contains("~ends at 1:30  one slot more: ~0:10 sooner"))
    let row = text.split(separator: "\n").first { $0.contains("short") } ?? ""
    #expect(row.contains("~0:50"))
    let long = text.split(separator: "\n").first { $0.contains("* long ") } ?? ""
    #expect(long.contains("75%") && long.contains("none") && long.contains("~0:30"))
  }

  // MARK: Events

  @Test func eventsFollowUntilAPersonGoesBack() {
    var bench = bench()
    bench.press(.character("5"))
    #expect(bench.model.events.follows)
    bench.press(.up)
    #expect(!bench.model.events.follows)
    let row = bench.model.cursorRow
    bench.play { $0.move("index", .executing) }
    #expect(bench.model.cursorRow == row)
    bench.press(.end)
    #expect(bench.model.events.follows)
    #expect(bench.frame().text.contains("running"))
  }

  @Test func eventsTellWhatAPersonChanged() {
    var bench = bench()
    bench.press(.character("5"))
    bench.play { run in
      run.state(.slotsChanged(9))
      run.state(.drainChanged(true))
      if let id = run.run.id(named: "index") { run.state(.priorityChanged(id, .high)) }
      if let id = run.run.id(named: "fetch") { run.state(.cancelRequested(id, by: .person, kill: true)) }
    }
    let text = bench.frame().text
    for words in ["9 slots", "nothing new starts", "priority high", "kill asked for by you"] {
      #expect(text.contains(words), "\(words)")
    }
  }

  @Test func eventsAreFilteredByJobStateAndWords() {
    var bench = bench()
    bench.press(.character("5"), .character("/"))
    bench.type("state:failed")
    #expect(bench.model.events.rows.count == 3)
    bench.press(.control("u"))
    bench.type("lint !ready")
    let text = bench.frame().text
    #expect(text.contains("retry 1 of 1, after exit 1") && !text.contains("HTTP 503"))
    bench.play { $0.move("lint", .executing) }
    #expect(bench.frame().text.contains("try 3"))
  }

  @Test func eventsBeforeTheDashboardAreCounted() {
    var builder = RichRun.builder()
    _ = builder.take()
    var bench = Bench(builder)
    bench.press(.character("5"))
    #expect(bench.frame().text.contains("older ones are not kept"))
    bench.play { $0.move("index", .executing) }
    #expect(bench.model.events.rows.count == 1)
  }

  @Test func onlyJobsAddedAfterTheStartAreEvents() {
    var bench = bench()
    bench.press(.character("5"))
    #expect(!bench.frame().text.contains("added"))
    let count = bench.model.rowCount
    bench.play { $0.state(.jobAdded(JobID(26), .shell("late", needs: [JobNeed(JobID(24))]))) }
    #expect(bench.model.rowCount == count + 1)
    #expect(bench.frame().text.contains("added to the run"))
    for panel in "1234" {
      bench.press(.character(panel))
      #expect(bench.model.rowCount > 0)
    }
  }

  @Test func oldEventsLeaveInBulkAndTheRestKeepsItsPlace() {
    var list = EventList(after: Run())
    let run = RunBuilder([.shell("a")]).run
    for seq in 0..<30_000 { list.add(JobEvent(seq: 0, time: .zero, fact: .slotsChanged(seq))) }
    list.update(run, .everything)
    #expect(list.rows.count + list.lost == 30_000)
    #expect(list.rows.count <= EventList.capacity * 2)
    #expect(list[list.rows.count - 1].fact == .slotsChanged(29_999))
    #expect(list[0].fact == .slotsChanged(list.lost))
  }

  @Test func aFrozenDisplayShowsNoNewEvents() {
    var bench = bench()
    bench.press(.character("5"), .character("Z"))
    let count = bench.model.rowCount
    bench.play { $0.move("index", .executing) }
    #expect(bench.model.rowCount == count)
    bench.press(.character("Z"))
    #expect(bench.model.rowCount == count + 1)
  }

  // MARK: Palette and questions

  @Test func thePaletteListsEveryActionWithItsKeyAndDoesWhatIsChosen() {
    var model = Model(run: Run(), size: Size(width: 80, height: 24))
    model.attachment = .full
    // All but itself, and the one that only a program's operations have.
    #expect(CommandPalette.matches("", in: model).count == KeyMap.standard.bindings.count - 2)
    var bench = bench()
    bench.press(.character(":"))
    bench.type("drain")
    #expect(bench.frame().text.contains("drain: start nothing new") && bench.frame().text.contains("P"))
    bench.press(.enter)
    #expect(bench.commands == [.setDraining(true)])
    #expect(bench.model.prompt == nil)
    bench.press(.character(":"))
    bench.type("critical")
    bench.press(.enter)
    #expect(bench.model.panel == .critical)
  }

  @Test func thePaletteSaysWhyAnActionCannotBeDone() {
    var bench = bench()
    bench.select("checkout")
    bench.press(.character(":"))
    bench.type("pause")
    bench.press(.enter)
    #expect(bench.model.notice?.text == "nothing to pause")
    bench.press(.character(":"), .escape)
    #expect(bench.model.prompt == nil && bench.effects.isEmpty)
  }

  @Test func endingSeveralRunningJobsAsksFirstAndOneDoesNot() {
    var bench = bench()
    bench.select("fetch")
    bench.press(.character(" "))
    bench.select("migrate")
    bench.press(.character(" "), .character("x"))
    #expect(bench.commands.isEmpty)
    #expect(bench.frame().text(row: 23).contains("Cancel fetch, migrate, 2 running?"))
    bench.press(.escape)
    #expect(bench.commands.isEmpty && bench.model.prompt == nil)
    bench.press(.character("X"), .character("y"))
    #expect(bench.commands.count == 1)
    bench.press(.character("U"))
    bench.select("fetch")
    bench.press(.character("x"))
    #expect(bench.commands.count == 2)
  }

  @Test(arguments: ["x", "X", "p", "r", "R", "]"] as [Character])
  func aKeyOnAJobThatIsNotOnTheScreenNamesItAndAsks(_ key: Character) throws {
    var builder = RunBuilder((0..<100).map { .shell("job-\($0)") })
    builder.move("job-1", .executing)
    builder.move("job-2", .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    let name = "xXp".contains(key) ? "job-1" : "]".contains(key) ? "job-3" : "job-2"
    var bench = bench(builder)
    bench.select(name)
    for _ in 0..<9 { bench.send(.mouse(MouseEvent(.wheelDown, x: 10, y: 6))) }
    bench.press(.character(key))
    #expect(bench.commands.isEmpty)
    let question = bench.frame().text(row: 23)
    #expect(question.contains(name) && question.contains("not on the screen?"), "\(question)")
    bench.press(.escape)
    #expect(bench.commands.isEmpty && bench.model.prompt == nil)
    bench.press(.character(key), .character("y"))
    #expect(bench.commands.count == 1)
  }

  @Test func taggedJobsThatAFilterHidesAreNamed() {
    var bench = bench()
    bench.select("fetch")
    bench.press(.character(" "), .character("/"))
    bench.type("lint")
    bench.press(.enter, .character("x"))
    #expect(bench.commands.isEmpty)
    #expect(bench.frame().text(row: 23).contains("Cancel fetch, not on the screen?"))
    bench.press(.character("y"))
    #expect(bench.commands.count == 1)
  }

  @Test func tagAllTagsWhatTheFilterShows() {
    var bench = bench()
    bench.press(.character("/"))
    bench.type("build")
    bench.press(.enter, .character("A"), .escape)
    #expect(Set(bench.names(Array(bench.model.tags))) == ["build[mac]", "build[linux]"])
  }

  // MARK: The end

  @Test func oneKeyRetriesAllFailedJobsFromTheFinalBanner() throws {
    var builder = RunBuilder([
      .shell("lint"), .shell("test"), .shell("flaky", allowFailure: true), .shell("ok"),
      .shell("publish", needs: [JobNeed(JobID(0))]),
    ])
    for name in ["lint", "test", "flaky", "ok"] { builder.move(name, .executing) }
    builder.at(65)
    for name in ["lint", "test"] { builder.move(name, .failed(JobFailure(.exit(1), "exit 1"), allowed: false)) }
    builder.move("publish", .skipped(because: .job(JobID(0))))
    builder.move("flaky", .failed(JobFailure(.exit(1), "exit 1"), allowed: true))
    builder.move("ok", .succeeded(upToDate: false))
    for width in [80, 120] {
      var bench = Bench(builder, size: Size(width: width, height: 24))
      let banner = bench.frame().text(row: 2)
      #expect(banner.hasPrefix(" Ended after 1:05: 2 failed, 1 skipped, 1 "), "\(banner)")
      #expect(banner.hasSuffix("^R retries all failed  q quits"), "\(banner)")
      bench.press(.control("r"))
      #expect(bench.commands == [.retry([JobID(0), JobID(1)], withDependents: false)])
    }
  }

  @Test func theKeyLeavesWhatAPersonHasCancelledAndNotWhatThePolicyHas() {
    func job(_ name: String, needs: Int...) -> Job { .shell(name, needs: needs.map { JobNeed(JobID($0)) }) }
    var builder = RunBuilder([
      job("build"), job("check", needs: 0), job("pack", needs: 1), job("docs", needs: 0), job("publish", needs: 3),
      job("other"),
    ])
    builder.move("docs", .cancelled(by: .person))
    builder.move("publish", .skipped(because: .job(JobID(3))))
    builder.move("build", .executing)
    builder.move("build", .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    builder.move("check", .skipped(because: .job(JobID(0))))
    for name in ["pack", "other"] { builder.move(name, .cancelled(by: .policy)) }
    var bench = Bench(builder)
    bench.press(.control("r"))
    #expect(bench.commands == [.retry([JobID(0), JobID(2)], withDependents: false)])
    #expect(bench.model.notice?.text == "retrying build and the skipped dependents")
  }

  @Test(arguments: [JobState.succeeded(upToDate: false), .cancelled(by: .person), .skipped(because: .job(JobID(1)))])
  func onlyAnEndWithoutACancelledJobIsGood(state: JobState) {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    builder.move("b", .executing)
    builder.move("b", .succeeded(upToDate: false))
    builder.move("a", state)
    let traits = ScreenTraits(isASCII: true, palette: .sixteen)
    let style = Bench(builder).frame(traits).rows[2][1].style
    #expect(style == (state == .cancelled(by: .person) ? Theme(traits).warning : Theme(traits).good))
  }

  @Test func theClockDoesNotCountTheTimeBetweenTheEndAndARetry() {
    var builder = RunBuilder([.shell("a")])
    builder.move("a", .executing)
    builder.at(10)
    builder.move("a", .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    var bench = Bench(builder)
    bench.now = .seconds(500)
    #expect(bench.frame().text(row: 0).contains(" 0:10 "))
    bench.play { run in
      run.at(500)
      run.move("a", .waiting)
      run.move("a", .executing)
    }
    bench.now = .seconds(505)
    #expect(bench.frame().text(row: 0).contains(" 0:15 "))
    bench.play { run in
      run.at(507)
      run.move("a", .succeeded(upToDate: false))
    }
    #expect(bench.builder.run.length == .seconds(17))
  }

  @Test func aFrozenDisplayKeepsTheTimeOfItsFreezing() {
    var builder = RunBuilder([.shell("a")])
    builder.move("a", .executing)
    var bench = Bench(builder)
    bench.now = .seconds(4)
    bench.press(.character("Z"))
    bench.now = .seconds(9)
    let frame = bench.frame()
    #expect(frame.text(row: 0).contains(" 0:04 "))
    #expect(frame.text(row: 2).hasPrefix(" FROZEN at 0:04, 0 events since then"))
    #expect(frame.text(row: 4).hasSuffix("0:04"))
    bench.press(.character("Z"))
    #expect(bench.frame().text(row: 0).contains(" 0:09 "))
  }

  @Test func aShortRunTellsTenthsOfASecond() {
    var builder = RunBuilder([.shell("a")])
    builder.move("a", .executing)
    builder.at(0.73)
    builder.move("a", .succeeded(upToDate: false))
    let bench = Bench(builder)
    #expect(bench.frame().text(row: 2).hasPrefix(" Ended after 0.7s: 1 ok"))
  }

  @Test func aFailureThatClosesTheRunIsNamedWhileTheRestFinishes() {
    var builder = RunBuilder([.shell("lint"), .shell("slow"), .shell("late")])
    builder.move("lint", .executing)
    builder.move("slow", .executing)
    builder.move("lint", .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    builder.move("late", .cancelled(by: .policy))
    let text = bench(builder).frame().text
    #expect(text.contains("lint failed: exit 1. Nothing new starts, 1 job: slow still running"))
    #expect(text.contains("cancelled, lint failed"))
  }

  @Test func aStopCountsDownToTheKill() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    builder.move("a", .executing)
    builder.at(3)
    builder.state(.stopRequested(.terminate, by: .signal))
    builder.cancel("a", by: .signal)
    builder.move("b", .cancelled(by: .signal))
    var bench = Bench(builder)
    bench.now = .seconds(4)
    let text = bench.frame().text
    #expect(text.contains("Stopping 1 job: a, killed in 0:04") && text.contains("Ctrl-C kills now"))
    #expect(text.contains("stopping, killed in 0:04"))
  }

  @Test(arguments: [(40, 12), (30, 5)])
  func aSmallScreenSaysStateCountsFailuresAndKeys(_ width: Int, _ height: Int) {
    let bench = bench(size: Size(width: width, height: height))
    let lines = bench.frame().text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[0].contains(" RUN ") && lines[0].contains("8/26") && lines[0].contains("2 failed"))
    #expect(lines[height - 1].contains("? help") && lines[height - 1].contains("q quit"))
  }

  @Test func theHeaderCountsOnlyWorkThatIsDone() {
    var builder = RunBuilder((0..<4).map { .shell("job-\($0)") })
    builder.move("job-0", .executing)
    builder.move("job-1", .executing)
    let begun = bench(builder).frame().text(row: 1)
    #expect(begun.hasSuffix(" 0%") && !begun.contains("#"), "\(begun)")
    builder.move("job-0", .succeeded(upToDate: false))
    builder.move("job-1", .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    for name in ["job-2", "job-3"] { builder.move(name, .skipped(because: .job(JobID(1)))) }
    let bar = bench(builder).frame().text(row: 1)
    #expect(bar.hasSuffix(" 25%") && bar.contains("#!") && bar.contains("!x"), "\(bar)")
    // The run has ended, so that nothing of its bar is open.
    #expect(bar.contains("x]") && !bar.contains("."), "\(bar)")
  }

  @Test func freezingKeepsMeasuredDurations() {
    var builder = RunBuilder((0..<4).map { .shell("job-\($0)") }, slots: 1)
    builder.move("job-0", .executing)
    builder.at(10)
    builder.move("job-0", .succeeded(upToDate: false))
    builder.move("job-1", .executing)
    var bench = Bench(builder)
    let estimate = bench.model.estimate
    bench.press(.character("Z"), .character("Z"))
    #expect(estimate != nil && bench.model.estimate == estimate)
  }

  @Test func theQuestionIsClosedWhenItsJobsHaveEnded() {
    var bench = bench()
    for name in ["fetch", "migrate"] {
      bench.select(name)
      bench.press(.character(" "))
    }
    bench.press(.character("x"))
    #expect(bench.model.prompt != nil)
    bench.play { run in for name in ["fetch", "migrate"] { run.move(name, .succeeded(upToDate: false)) } }
    #expect(bench.model.prompt == nil)
  }

  // MARK: The detail

  @Test func theDetailShowsTheSlackOfItsJob() {
    var bench = bench(diamond, size: Size(width: 120, height: 40))
    bench.play { $0.move("base", .executing) }
    bench.select("base")
    #expect(bench.frame().text.contains("critical: the run waits for it"))
    bench.select("alone")
    #expect(bench.frame().text.contains("~0:02 of slack"))
    #expect(bench.model.path.schedule == nil)
  }

  @Test func theTextOfASlackStaysTheSameAsTimePasses() {
    let run = RunBuilder([.shell("long"), .shell("short")]).run
    let texts = (0..<1000).compactMap { step in
      let forecast = Forecast(run, now: .milliseconds(70_300 + step * 5)) { .seconds([600, 270][$0.index]) }
      return forecast.slack(JobID(1)).map { PathForecast.text(slack: $0) }
    }
    #expect(Set(texts) == ["~5:30"])
  }

  @Test func theDetailListsTheJobsThatCancellingWouldSkip() {
    var bench = bench(size: Size(width: 120, height: 50))
    bench.select("fetch")
    let text = bench.frame().text
    #expect(text.contains("Cancelling it skips 2") && text.contains("build[linux], announce"))
    bench.press(.enter)
    #expect(bench.frame().text.contains("Cancelling it skips 2"))
  }

  @Test func theDetailNamesTheLogOfTheAttemptThatWroteLast() {
    var bench = bench(size: Size(width: 120, height: 40))
    bench.select("lint")
    #expect(bench.frame().text.contains("/state/r1/logs/lint.1.1.log"))
    bench.select("docs")
    #expect(!bench.frame().text.contains("/state/r1"))
  }

  @Test func aSteadyRateDrawsNoFullBarAndASilentJobNone() {
    #expect(Sparkline.text([5, 5], width: 9, isASCII: true) == "**")
    #expect(Sparkline.text([0, 1, 2, 4], width: 3, isASCII: false) == "▂▄▇")
    #expect(Sparkline.text([0, 0], width: 3, isASCII: false) == "▁▁")
    #expect(Sparkline.text([], width: 3, isASCII: true).isEmpty)
  }
}
