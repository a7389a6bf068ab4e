import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct ModelTests {
  private static let failure = JobFailure(.exit(1), "exit 1")

  private func model(_ builder: RunBuilder, options: DashboardOptions = DashboardOptions()) -> Model {
    Model(run: builder.run, size: Size(width: 80, height: 24), options: options)
  }

  private func executing(since seconds: Double = 0) -> RunBuilder {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    builder.at(seconds)
    builder.move("a", .executing)
    return builder
  }

  @Test func theRunsOwnNamePrecedesThatOfItsFile() {
    let empty = Model(run: Run(), size: Size(width: 80, height: 24))
    #expect(empty.name == "opdash")
    let options = DashboardOptions(source: "release.yml")
    #expect(Model(run: Run(), size: Size(width: 80, height: 24), options: options).name == "release.yml")
    #expect(model(RunBuilder([]), options: options).name == "release")
  }

  @Test func aDashboardStaysOpenOnFailureAndUsesTheMouse() {
    let options = DashboardOptions()
    #expect(options.keepOpen == .onFailure && options.usesMouse && options.notice == .none && options.source == nil)
    #expect(model(RunBuilder([])).hasMouse)
    #expect(!model(RunBuilder([]), options: DashboardOptions(usesMouse: false)).hasMouse)
  }

  @Test func theShareIsOfWhatEndedWellAndOfOpenProgress() {
    #expect(Model(run: Run(), size: Size(width: 80, height: 24)).share == 0)
    var builder = RunBuilder("abcdefgh".map { .shell(String($0)) })
    for name in ["a", "b", "c", "d"] { builder.move(name, .executing) }
    builder.move("a", .succeeded(upToDate: false))
    builder.move("b", .failed(Self.failure, allowed: true))
    builder.move("c", .failed(Self.failure, allowed: false))
    builder.progress("d", 1, of: 2, .steps)
    builder.move("e", .succeeded(upToDate: true))
    #expect(model(builder).share == 3.5 / 8)
  }

  // MARK: Time

  @Test func theClockStopsWhileNothingMoves() {
    var builder = executing()
    builder.at(10)
    builder.state(.slotsChanged(3))
    #expect(model(builder).elapsed(at: .seconds(25)) == .seconds(25))
    #expect(model(builder).present(at: .seconds(25)) == .seconds(25))
    // An instant before the newest event is that of the event.
    #expect(model(builder).present(at: .seconds(4)) == .seconds(10))
    builder.move("a", .paused(started: true))
    #expect(!model(builder).isMoving && model(builder).elapsed(at: .seconds(25)) == .seconds(10))
    #expect(model(builder).present(at: .seconds(25)) == .seconds(10))
    builder.move("a", .backingOff(until: .seconds(40), number: 1, limit: 1, after: Self.failure))
    #expect(model(builder).isMoving && model(builder).elapsed(at: .seconds(25)) == .seconds(25))
    builder.move("a", .ready(for: .person))
    #expect(model(builder).isMoving)
    builder.move("a", .ready(for: .cluster(reason: nil)))
    #expect(model(builder).isMoving)
    builder.move("a", .ready(for: .slot))
    #expect(!model(builder).isMoving)
    builder.move("a", .executing)
    builder.state(.runFinished(RunSummary()))
    #expect(!model(builder).isMoving && model(builder).isOver)
  }

  @Test func afterTheLastEndThePresentIsThatEnd() {
    var builder = executing()
    builder.at(5)
    builder.move("a", .succeeded(upToDate: false))
    builder.move("b", .cancelled(by: .person))
    builder.at(9)
    builder.state(.slotsChanged(2))
    #expect(model(builder).isOver && model(builder).present(at: .seconds(25)) == .seconds(5))
    #expect(model(builder).elapsed(at: .seconds(25)) == .seconds(5))
  }

  // MARK: Frozen and past

  @Test func aDisplayIsFrozenAtTheFirstInstant() {
    var model = model(executing(since: 3))
    model.setFrozen(true, at: .seconds(8))
    model.setFrozen(true, at: .seconds(9))
    #expect(model.isFrozen && !model.isMoving && model.shownTime(.seconds(20)) == .seconds(8))
    #expect(model.elapsed(at: .seconds(20)) == .seconds(8))
    model.setFrozen(false)
    #expect(!model.isFrozen && model.isMoving && model.shownTime(.seconds(20)) == .seconds(20))
    model.setFrozen(true, at: .seconds(1))
    #expect(model.shownTime(.seconds(20)) == .seconds(3))
  }

  @Test func whatHappensWhileFrozenIsShownAfterwards() {
    var builder = executing()
    _ = builder.take()
    var model = model(builder)
    model.setFrozen(true)
    builder.move("b", .executing)
    model.apply(builder.take())
    #expect(model.run.counts.executing == 1 && model.live.counts.executing == 2 && model.index.open.count == 1)
    model.setFrozen(false)
    #expect(model.run.counts.executing == 2 && model.index.open == [JobID(0), JobID(1)])
  }

  @Test func thePastHasOnlyItsOwnJobs() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    builder.state(.jobAdded(JobID(2), .shell("c")))
    var model = model(builder)
    model.tags = [JobID(0), JobID(1), JobID(2)]
    model.cursor = JobID(1)
    model.wantedPast = .seconds(1)
    let past = RunBuilder([.shell("a"), .shell("b")]).run
    model.show(past, at: .seconds(1))
    #expect(model.isPast && model.isFrozen && model.live == builder.run && model.run == past)
    #expect(model.tags == [JobID(0), JobID(1)] && model.cursor == JobID(1))
    model.show(RunBuilder([.shell("a")]).run, at: .zero)
    #expect(model.tags == [JobID(0)] && model.cursor == nil && model.live == builder.run)
    model.setFrozen(false)
    #expect(!model.isPast && model.wantedPast == nil && model.run == builder.run && model.index.classes.count == 3)
  }

  /// The run of `a`, then of `a` and `b`, and a bench of `a`, `b` and `c` with all of them tagged and the cursor on `c`.
  private func grown() -> (first: Run, second: Run, bench: Bench) {
    var builder = RunBuilder([.shell("a")])
    let first = builder.run
    builder.state(.jobAdded(JobID(1), .shell("b")))
    let second = builder.run
    builder.state(.jobAdded(JobID(2), .shell("c")))
    var bench = Bench(builder)
    bench.select("c")
    bench.press(.character("A"))
    return (first, second, bench)
  }

  @Test func tagsAndCursorOfLaterJobsReturnWithThem() {
    var (first, second, bench) = grown()
    for (run, tags) in [(first, [0]), (second, [0, 1]), (first, [0])] {
      bench.model.show(run, at: .zero)
      FramePreparation.prepare(&bench.model, now: bench.now)
      #expect(bench.model.tags == Set(tags.map { JobID($0) }) && bench.cursor == "a")
    }
    bench.press(.character("Z"))
    #expect(bench.model.tags.count == 3 && bench.cursor == "c")
    bench.select("b")
    bench.model.show(first, at: .zero)
    bench.model.show(second, at: .zero)
    #expect(bench.cursor == "b")
  }

  @Test func whatAPersonChoosesInThePastStays() {
    var (_, second, bench) = grown()
    bench.model.show(second, at: .zero)
    FramePreparation.prepare(&bench.model, now: bench.now)
    bench.press(.down, .character("U"), .character("Z"))
    #expect(!bench.model.isFrozen && bench.model.tags.isEmpty && bench.cursor == "b")
  }

  @Test func theJobThatIsOpenedInThePastStays() {
    var (_, second, bench) = grown()
    bench.model.show(second, at: .zero)
    FramePreparation.prepare(&bench.model, now: bench.now)
    bench.press(.enter, .character("Z"))
    #expect(!bench.model.isFrozen && bench.cursor == "a")
  }

  private static let idle: [Key] = [.tab] + "lLcUw".map { .character($0) }

  @Test(arguments: idle) func aKeyThatChoosesNothingKeepsTheCursorOfThePresent(_ key: Key) {
    var (first, second, bench) = grown()
    for run in [second, first] {
      bench.model.show(run, at: .zero)
      FramePreparation.prepare(&bench.model, now: bench.now)
      bench.press(key)
      #expect(bench.cursor == "a")
    }
    bench.press(.character("Z"))
    #expect(!bench.model.isFrozen && bench.cursor == "c")
  }

  @Test func aCursorThatNobodyHasMovedIsKeptWhereAKeyHasFixedIt() {
    var bench = Bench(RunBuilder([.shell("a"), .shell("b")]))
    bench.play { $0.move("a", .executing) }
    let past = bench.builder.run
    bench.play { run in
      run.move("a", .succeeded(upToDate: false))
      run.move("b", .executing)
    }
    #expect(bench.cursor == "b" && !bench.model.isCursorTaken)
    for _ in 0..<2 {
      bench.model.show(past, at: .zero)
      FramePreparation.prepare(&bench.model, now: bench.now)
      bench.press(.tab)
      #expect(bench.cursor == "a")
    }
    bench.press(.end)
    #expect(bench.cursor == "b")
  }

  // MARK: The log of the past

  /// A job that has written so many lines.
  private func talker(_ count: Int) -> Bench { .talker((0..<count).map { "line \($0)" }) }

  private func line(_ bench: Bench) -> String? { bench.model.currentLine?.entry.line.text }

  /// Shows the instant after so many lines.
  private func show(_ count: Int, _ bench: inout Bench) {
    bench.model.show(talker(count).builder.run, at: .zero)
    FramePreparation.prepare(&bench.model, now: bench.now)
    #expect(bench.model.newer == 0 && bench.model.lines?.total == count)
  }

  /// The number of lines on the page of the log.
  private func shownLines(_ bench: Bench) -> Int {
    let layout = Layout(bench.model)
    guard let lines = bench.model.lines else { return 0 }
    let rows = bench.model.rows(lines, layout)
    return rows.page(from: bench.model.logTop(rows, layout), height: layout.log.height).count
  }

  @Test func thePlaceInALogReturnsWithItsLines() {
    var bench = talker(400)
    bench.press(.tab, .character("v"), .up)
    let page = bench.frame().text
    for count in [300, 1, 399, 2, 300] {
      show(count, &bench)
      #expect(line(bench) == "line \(count - 1)" && bench.model.markedCount == nil, "\(count)")
      #expect(shownLines(bench) == min(count, Layout(bench.model).log.height), "\(count)")
    }
    bench.press(.end)
    #expect(!bench.model.isPast && bench.frame().text == page && bench.model.markedCount == 2)
    bench.press(.character("y"))
    #expect(bench.copies == ["line 398\nline 399"])
  }

  @Test func aRangeIsMarkedAsFarAsThePastHasIt() {
    var bench = talker(400)
    bench.press(.tab, .up, .up, .up, .character("v"), .down, .down)
    show(398, &bench)
    #expect(bench.model.markedCount == 2 && line(bench) == "line 397")
    bench.press(.end)
    #expect(bench.model.markedCount == 3 && line(bench) == "line 398")
  }

  @Test func noInstantHoldsLinesOfAnother() {
    var bench = talker(9000)
    bench.press(.tab, .up)
    for count in [150, 1740, 5000] {
      show(count, &bench)
      #expect(line(bench) == "line \(count - 1)")
    }
    bench.press(.character("L"), .character("L"))
    show(150, &bench)
    bench.press(.end)
    #expect(line(bench) == "line 8998" && bench.model.newer == 0)
    #expect(shownLines(bench) == Layout(bench.model).log.height)
  }

  @Test(
    arguments: [
      [.up], [.pageUp], [.character("v"), .escape, .up], [.character("f"), .character("f"), .up],
    ] as [[Key]])
  func thePlaceToWhichAPersonMovesInThePastStays(_ keys: [Key]) {
    var bench = talker(400)
    bench.press(.tab, .character("g"))
    show(300, &bench)
    bench.press(.end)
    #expect(line(bench) == "line 0")
    show(300, &bench)
    bench.press(.character("G"), .up)
    for key in keys { bench.press(key) }
    let place = line(bench)
    for count in [100, 400, 300] { show(count, &bench) }
    #expect(line(bench) == place)
    bench.press(.end)
    #expect(line(bench) == place && place != "line 0" && !bench.model.log.follows)
  }

  @Test(arguments: idle + [.right, .left])
  func aKeyThatMovesNoLineKeepsThePlaceOfThePresent(_ key: Key) {
    let lines = (0..<400).map { "line \($0)" + String(repeating: ".", count: 200) }
    var bench = Bench.talker(lines)
    bench.press(.tab, .up)
    let place = line(bench)
    bench.model.show(Bench.talker(Array(lines[..<300])).builder.run, at: .zero)
    FramePreparation.prepare(&bench.model, now: bench.now)
    bench.press(key)
    #expect(line(bench)?.hasPrefix("line 299") == true)
    // One job's log, in which the place is.
    if key == .character("L") { bench.press(key) }
    bench.press(.character("Z"))
    #expect(!bench.model.isFrozen && line(bench) == place)
  }

  @Test func aPlaceThatThePresentHasLostIsItsOldestLine() {
    var bench = talker(9000)
    bench.press(.tab)
    show(150, &bench)
    bench.press(.up)
    show(150, &bench)
    bench.press(.end)
    #expect(line(bench) == "line 7000" && bench.model.newer == 0 && shownLines(bench) == Layout(bench.model).log.height)
  }

  @Test func theLinesBeingReadReturnThoughTheyHaveLeftMemory() {
    var bench = talker(100)
    bench.press(.tab, .character("g"))
    show(50, &bench)
    bench.play { run in for number in 0..<(LogRing.capacity + 50) { run.log("talker", "new \(number)") } }
    bench.press(.end)
    #expect(line(bench) == "line 0" && bench.model.newer == LogRing.capacity + 50)
  }

  @Test func thePlaceReturnsWithAJobThatWasAddedLater() {
    var (first, _, bench) = grown()
    bench.press(.character("U"))
    bench.play { run in
      run.move("c", .executing)
      for number in 0..<30 { run.log("c", "line \(number)") }
    }
    bench.press(.tab, .up, .character("v"), .up, .right)
    let page = bench.frame().text
    bench.model.show(first, at: .zero)
    FramePreparation.prepare(&bench.model, now: bench.now)
    #expect(bench.cursor == "a" && bench.model.log.follows)
    bench.press(.end)
    #expect(bench.cursor == "c" && bench.frame().text == page && bench.model.markedCount == 2)
  }

  @Test(arguments: [false, true]) func aPageOfAJobThatIsNotAddedYetSaysSo(_ isFiltered: Bool) {
    var (first, _, bench) = grown()
    bench.press(.character("U"))
    if isFiltered {
      bench.press(.character("/"))
      bench.type("c")
      bench.press(.enter)
    }
    bench.press(.enter)
    #expect(bench.model.page == .zoom && bench.cursor == "c")
    bench.model.show(first, at: .zero)
    FramePreparation.prepare(&bench.model, now: bench.now)
    let text = bench.frame().text(row: Layout(bench.model).page.y)
    #expect(bench.cursor == nil && text.contains("this job was not added yet"))
    for key in [Key.down, .tab, .character("y"), .character("x"), .character("F"), .end] { bench.press(key) }
    #expect(!bench.model.isPast && bench.model.page == .zoom && bench.cursor == "c")
  }

  // MARK: The events of the past

  /// A run to which `late1` and `late2` were added, at the event of `late1`, and its past before that.
  private func late() -> (past: Run, bench: Bench) {
    var bench = Bench(RunBuilder([.shell("a")]))
    bench.play { $0.move("a", .executing) }
    let past = bench.builder.run
    bench.play { run in
      run.at(1)
      run.state(.jobAdded(JobID(1), .shell("late1")))
      run.state(.jobAdded(JobID(2), .shell("late2")))
      run.state(.slotsChanged(3))
      run.move("late1", .executing)
      run.move("late2", .executing)
    }
    bench.press(.character("5"), .home, .down)
    #expect(bench.cursor == "late1" && bench.model.cursorRow == 1)
    return (past, bench)
  }

  private func isHighlighted(_ row: Int, _ bench: Bench) -> Bool {
    bench.frame()[70, Layout(bench.model).list.y + row].style.attributes.contains(.reverse)
  }

  @Test func theChosenEventReturnsWithItsRun() {
    var (past, bench) = late()
    for _ in 0..<2 {
      bench.model.show(past, at: .zero)
      FramePreparation.prepare(&bench.model, now: bench.now)
      #expect(bench.cursor == "a" && bench.model.rowCount == 1 && !isHighlighted(0, bench))
    }
    bench.press(.end)
    #expect(bench.cursor == "late1" && bench.model.cursorRow == 1 && !bench.model.events.follows)
    #expect(isHighlighted(1, bench) && bench.model.target == JobID(1))
  }

  @Test func whileNoLaterEventIsShownTheCursorStays() {
    var (past, bench) = late()
    bench.press(.home)
    bench.play { $0.move("a", .succeeded(upToDate: false)) }
    let (first, second) = (past, bench.builder.run)
    bench.builder.at(2)
    bench.play { $0.move("late2", .succeeded(upToDate: false)) }
    bench.play { $0.state(.slotsChanged(4)) }
    bench.press(.end, .up)
    #expect(bench.cursor == "late2")
    for (run, name) in [(second, "late2"), (first, "a"), (second, "late2")] {
      bench.model.show(run, at: run.time)
      FramePreparation.prepare(&bench.model, now: bench.now)
      #expect(bench.cursor == name && bench.model.target == bench.model.cursor)
    }
    bench.press(.end)
    #expect(bench.cursor == "late2" && bench.model.cursorRow == bench.model.rowCount - 2)
  }

  @Test func theCursorReturnsBesideTheEventsThatAreFollowed() {
    var (past, bench) = late()
    bench.press(.character("1"))
    bench.select("late2")
    bench.press(.character("5"))
    #expect(bench.cursor == "late2" && bench.model.events.follows)
    bench.model.show(past, at: .zero)
    FramePreparation.prepare(&bench.model, now: bench.now)
    bench.press(.end)
    #expect(bench.cursor == "late2" && bench.model.events.follows)
  }

  @Test func theEventThatIsChosenInThePastStays() {
    var (_, bench) = late()
    bench.press(.home)
    let past = bench.builder.run
    bench.builder.at(2)
    bench.play { $0.move("late2", .succeeded(upToDate: false)) }
    bench.model.show(past, at: past.time)
    FramePreparation.prepare(&bench.model, now: bench.now)
    bench.press(.down, .end)
    #expect(bench.cursor == "late1" && bench.model.cursorRow == 1)
  }

  @Test func anEventThatHasLeftMemoryIsChosenNoMore() {
    var (_, bench) = late()
    bench.play { run in for slots in 0..<(EventList.capacity * 2) { run.state(.slotsChanged(slots + 4)) } }
    #expect(bench.cursor == "late1" && bench.model.events.follows && bench.model.target == JobID(1))
  }

  @Test func anEventThatHasLeftMemoryInThePastMovesNoCursor() {
    var (past, bench) = late()
    bench.model.show(past, at: .zero)
    FramePreparation.prepare(&bench.model, now: bench.now)
    bench.play { run in
      for _ in 0..<EventList.capacity {
        for priority in [JobPriority.high, .low] { run.state(.priorityChanged(JobID(2), priority)) }
      }
    }
    bench.press(.end)
    #expect(bench.cursor == "late1" && bench.model.events.follows && bench.model.target == JobID(1))
  }

  /// A run of `a`, which has been asked to end, and its past before that.
  private func stopping() -> (past: Run, bench: Bench) {
    var builder = RunBuilder([.shell("a")])
    let past = builder.run
    builder.move("a", .executing)
    builder.cancel("a")
    builder.state(.stopRequested(.terminate, by: .policy))
    return (past, Bench(builder))
  }

  @Test func inThePastTheCountdownOfAStopContinues() {
    var (past, bench) = stopping()
    bench.model.show(past, at: .zero)
    #expect(bench.model.isMoving)
    bench.play { $0.move("a", .cancelled(by: .policy)) }
    #expect(!bench.model.isMoving)
  }

  @Test func aFrozenReplayOfAStopMovesNoMoreAfterItsEnd() {
    var (_, bench) = stopping()
    bench.model.isReplay = true
    bench.press(.character("Z"))
    #expect(bench.model.isMoving)
    bench.play { $0.state(.runFinished(RunSummary())) }
    #expect(bench.model.isFrozen && !bench.model.isMoving)
  }

  // MARK: Rows

  @Test(arguments: Panel.allCases.filter { $0 != .critical && $0 != .events })
  func aJobThatIsAskedToEndLeavesTheRowsOfRunningJobs(_ panel: Panel) {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    for name in ["a", "b"] { builder.move(name, .executing) }
    var bench = Bench(builder)
    bench.press(.character("L"), panel.key, .character("/"))
    bench.type("state:running")
    bench.press(.enter)
    #expect(bench.model.rowCount == 2 && bench.model.merged?.jobs == 2)
    bench.play { $0.cancel("b") }
    #expect(bench.model.rowCount == 1 && bench.model.merged?.jobs == 1)
    #expect(bench.model.found == "1/2")
  }

  @Test func aJobIsOnTheScreenWithItsRow() {
    var bench = Bench(RunBuilder((0..<40).map { .shell("\($0)") }))
    let height = Layout(bench.model).list.height
    func shown() -> [Int] { bench.model.onScreen.map(\.index).sorted() }
    #expect(shown() == Array(0..<height))
    bench.model.top = 5
    #expect(shown() == Array(5..<(5 + height)))
    bench.model.top = 40 - 2
    #expect(shown() == [38, 39])
    bench.model.page = .zoom
    #expect(shown() == [0])
    bench.model.page = .list
    bench.model.log.extent = .full
    #expect(shown() == [0])
    for subject in [LogReader.Subject.merged, .program] {
      bench.model.page = .list
      bench.model.showLog(of: subject)
      #expect(shown().isEmpty)
      bench.model.page = .zoom
      #expect(shown() == [0])
    }
  }

  @Test func theTargetsAreTheTagsElseTheCursor() {
    var bench = Bench(RunBuilder("abc".map { .shell(String($0)) }))
    #expect(bench.model.targets == [JobID(0)])
    bench.model.tags = [JobID(2), JobID(1)]
    #expect(bench.model.targets == [JobID(1), JobID(2)])
    bench.model.tags = []
    bench.model.cursor = nil
    #expect(bench.model.targets.isEmpty && !bench.model.someTarget { (_: JobID) in true })
  }

  @Test func theCursorLeavesOnlyAJobThatNeedsNoAttention() {
    var bench = Bench(RunBuilder("abc".map { .shell(String($0)) }))
    bench.play { $0.move("b", .executing) }
    #expect(bench.cursor == "b")
    bench.play {
      $0.move("b", .paused(started: true))
      $0.move("c", .executing)
    }
    #expect(bench.cursor == "b")
    bench.play { $0.move("b", .ready(for: .slot)) }
    #expect(bench.cursor == "c")
  }

  @Test func aTimelineLeavesRoomForWhatComesNextUntilARowIsChosen() {
    var bench = Bench(RunBuilder((10..<50).map { .shell("\($0)") }))
    bench.press(.character("3"))
    let height = Layout(bench.model).list.height
    bench.model.moveCursor(to: JobID(20))
    FramePreparation.prepare(&bench.model, now: bench.now)
    #expect(bench.model.cursorRow == 20 && bench.model.top == 20 - height + 1 + (height - 1) / 3)
    bench.model.top = 20
    FramePreparation.prepare(&bench.model, now: bench.now)
    #expect(bench.model.top == 20 - (height - 1) / 3)
    bench.model.isCursorTaken = true
    bench.model.top = 0
    FramePreparation.prepare(&bench.model, now: bench.now)
    #expect(bench.model.top == 20 - height + 1)
  }

  @Test func theCriticalPathBeginsAtItsTopUntilARowIsChosen() {
    let jobs = (10..<50).map { Job.shell("\($0)", needs: $0 == 10 ? [] : [JobNeed(JobID($0 - 11))]) }
    var bench = Bench(RunBuilder(jobs))
    bench.press(.character("4"))
    bench.model.moveCursor(to: JobID(30))
    FramePreparation.prepare(&bench.model, now: bench.now)
    #expect(bench.model.cursorRow == 30 && bench.model.top == 0)
    bench.press(.down)
    #expect(bench.model.cursorRow == 31 && bench.model.top == 31 - Layout(bench.model).list.height + 1)
  }
}
