import Foundation
import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct EventListTests {
  private static let failure = JobFailure(.exit(1), "exit 1")

  private func start(_ jobs: Int) -> JobFact {
    .runStarted(RunStart(id: "r", name: "r", slots: 1, at: Date(timeIntervalSince1970: 0), jobs: jobs))
  }

  private func event(_ seq: Int, _ fact: JobFact) -> JobEvent { JobEvent(seq: seq, time: .zero, fact: fact) }

  /// The events `slotsChanged(0)` and so on, of a run that has as many.
  private func slots(_ count: Int) -> (list: EventList, run: Run) {
    var (list, run) = (EventList(after: Run()), Run())
    for seq in 0..<count {
      let event = event(seq, .slotsChanged(seq))
      run.apply(event)
      list.add(event)
    }
    list.update(run, .everything)
    return (list, run)
  }

  private func shown(_ list: EventList) -> [JobFact] { list.rows.indices.map { list[$0].fact } }

  @Test(
    arguments: [
      (.jobProgress(JobID(0), JobProgress(done: 1, total: 2, unit: .steps)), false),
      (.jobLog(JobID(0), attempt: 1, LogLine(.stdout, "x")), false), (.programLog(LogLine(.stdout, "x")), false),
      (.jobRestored(JobID(0), EarlierSuccess(run: "r", at: Date(timeIntervalSince1970: 0), took: .zero)), false),
      (.inputsHashed(JobID(0), "00"), false), (.jobState(JobID(0), .executing, attempt: 1, pid: nil), true),
      (.jobOutputs(JobID(0), ["a": "1"]), true), (.jobPlaced(JobID(0), ClusterPlace(id: "1")), true),
      (.cancelRequested(JobID(0), by: .person, kill: false), true), (.poolChanged("net", 2), true),
      (.clusterChanged(fault: nil), true), (.arrivalsEnded, true), (.priorityChanged(JobID(0), .high), true),
      (.drainChanged(true), true), (.stopRequested(.kill, by: .person), true), (.runFinished(RunSummary()), true),
    ] as [(JobFact, Bool)])
  func whatListAndLogShowIsNoRow(_ fact: JobFact, _ isShown: Bool) {
    var list = EventList(after: Run())
    var builder = RunBuilder([.shell("a")])
    let event = event(builder.run.nextSeq, fact)
    builder.state(fact)
    list.add(event)
    list.update(builder.run, .everything)
    #expect(list.rows.count == (isShown ? 1 : 0))
  }

  @Test func aServiceWhoseEndIsAskedForIsNotSaidToRun() {
    var (list, builder) = (EventList(after: Run()), RunBuilder([.shell("a"), .shell("b")]))
    let facts: [JobFact] = [
      .jobState(JobID(0), .executing, attempt: 1, pid: nil), .jobState(JobID(0), .serving, attempt: 1, pid: nil),
      .cancelRequested(JobID(0), by: .restart, kill: false),
      .jobState(JobID(0), .executing, attempt: 1, pid: nil), .cancelRequested(JobID(0), by: .person, kill: true),
      .jobState(JobID(1), .executing, attempt: 1, pid: nil),
    ]
    for fact in facts {
      list.add(event(builder.run.nextSeq, fact))
      builder.state(fact)
    }
    list.update(builder.run, .everything)
    #expect(shown(list) == Array(facts[..<3] + facts[4...]))
  }

  @Test func aFilterFindsJobsThatNobodyHasStarted() {
    var (list, builder) = (EventList(after: Run()), RunBuilder([.shell("a"), .shell("b")]))
    for (job, cause) in [JobState.SkipCause.manual, .outcome].enumerated() {
      let fact = JobFact.jobState(JobID(job), .skipped(because: cause), attempt: 0, pid: nil)
      list.add(event(builder.run.nextSeq, fact))
      builder.state(fact)
    }
    list.update(builder.run, JobFilter("state:not-started"))
    #expect(list.rows.count == 1 && list[0].fact.job == JobID(0))
    list.update(builder.run, JobFilter("state:skipped"))
    #expect(list.rows.count == 2)
  }

  @Test func theJobsThatTheRunBeganWithAreNoRows() {
    var (list, run) = (EventList(after: Run()), Run())
    let facts = [
      start(2), .jobAdded(JobID(0), .shell("a")), .jobAdded(JobID(1), .shell("b")), .jobAdded(JobID(2), .shell("c")),
    ]
    for (seq, fact) in facts.enumerated() {
      let event = event(seq, fact)
      run.apply(event)
      list.add(event)
    }
    list.update(run, .everything)
    #expect(shown(list) == [facts[0], facts[3]])
    // So it is for a dashboard that comes after the start.
    list = EventList(after: RunBuilder([.shell("a"), .shell("b")]).run)
    #expect(list.lost == 3)
    list.add(event(3, facts[2]))
    list.add(event(4, facts[3]))
    list.update(run, .everything)
    #expect(list.rows.isEmpty)
    run.apply(event(4, .slotsChanged(1)))
    list.update(run, .everything)
    #expect(shown(list) == [facts[3]])
  }

  // MARK: Its capacity

  @Test func twiceTheCapacityIsKeptAndOneMoreLeavesTheCapacity() {
    let most = EventList.capacity * 2
    #expect(EventList.capacity == 5000)
    var (list, run) = slots(most)
    #expect(list.lost == 0 && list.rows.count == most)
    let next = event(most, .slotsChanged(most))
    run.apply(next)
    list.add(next)
    #expect(list.lost == most + 1 - EventList.capacity)
    #expect(list.rows.count == EventList.capacity - 1)
    list.update(run, .everything)
    #expect(list.rows.count == EventList.capacity)
    #expect(list[0].fact == .slotsChanged(list.lost))
    #expect(list[EventList.capacity - 1].fact == .slotsChanged(most))
    // Another filter looks at the kept ones only.
    list.update(run, JobFilter("slots"))
    #expect(list.rows.count == EventList.capacity && list[0].fact == .slotsChanged(list.lost))
  }

  @Test func eventsThatNobodyLookedAtLeaveToo() {
    var (list, run) = (EventList(after: Run()), Run())
    for seq in 0...(EventList.capacity * 2) {
      let event = event(seq, .slotsChanged(seq))
      run.apply(event)
      list.add(event)
    }
    list.update(run, .everything)
    #expect(list.rows.count == EventList.capacity && list[0].fact == .slotsChanged(list.lost))
  }

  // MARK: The cursor

  @Test func theCursorStaysOnItsEventAndTheLastRowFollows() {
    var (list, run) = slots(5)
    #expect(list.follows && list.row == 4)
    list.choose(row: 3)
    #expect(!list.follows && list.row == 3)
    let next = event(5, .slotsChanged(5))
    run.apply(next)
    list.add(next)
    list.update(run, .everything)
    #expect(list.row == 3)
    list.choose(row: 4)
    #expect(!list.follows && list.row == 4)
    list.choose(row: 5)
    #expect(list.follows && list.row == 5)
    list.choose(row: -3)
    #expect(!list.follows && list.row == 0)
    list.choose(row: 9)
    #expect(list.follows)
  }

  @Test func aCursorThatTheFilterHidesIsOnTheRowBefore() {
    var (list, run) = slots(5)
    list.choose(row: 2)
    list.update(run, JobFilter("!2"))
    #expect(list.rows == [0, 1, 3, 4] && list.row == 1)
    list.update(run, JobFilter("4"))
    #expect(list.rows == [4] && list.row == 0)
    list.update(run, JobFilter("9"))
    #expect(list.rows.isEmpty && list.row == nil)
    list.update(run, .everything)
    #expect(list.row == 2)
    list = EventList(after: run)
    #expect(list.row == nil)
  }

  @Test func theCursorOnAShortWaitGoesOnWithItsJob() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    var list = EventList(after: builder.run)
    _ = builder.take()
    func update() {
      for event in builder.take() { list.add(event) }
      list.update(builder.run, .everything)
    }
    builder.move("a", .executing)
    builder.move("b", .ready(for: .slot))
    builder.state(.slotsChanged(3))
    update()
    list.choose(row: 1)
    builder.move("b", .executing)
    update()
    #expect(list.rows.count == 3 && list.chosen?.fact.job == JobID(1))
  }

  // MARK: The job of the cursor

  /// A run that has changed its slots, then started `a` and `b`; `a` has ended in `state`.
  private func events(_ state: JobState) -> Bench {
    let jobs = ["a", "b"].map { Job.shell($0, uses: ["net": 1]) }
    var bench = Bench(RunBuilder(jobs, pools: ["net": 2, "disk": 2]))
    bench.play { run in
      run.state(.slotsChanged(3))
      for name in ["a", "b"] { run.move(name, .executing) }
      if state != .executing { run.move("a", state) }
    }
    bench.select("a")
    bench.press(.character("5"))
    return bench
  }

  private static let jobCommands: [Command] =
    Command.all.filter { $0.section == .acting && ![.approve, .tagAll, .untag].contains($0) }
    + [.zoom, .morePool, .fewerPool]

  @Test(arguments: jobCommands, [.executing, .failed(failure, allowed: false), .ready(for: .slot)] as [JobState])
  func anEventOfTheRunItselfIsOfNoJob(_ command: Command, _ state: JobState) {
    var bench = events(state)
    bench.press(.home)
    #expect(bench.model.cursorRow == 0 && bench.cursor == "a" && bench.model.target == nil)
    #expect(command.request(&bench.model, bench.now).isEmpty)
    #expect(bench.model.prompt == nil && bench.model.tags.isEmpty && bench.model.page == .list)
    #expect(bench.model.notice?.text == "no job here")
    // Its log can be read, and tagged jobs can be ended.
    bench.press(.tab)
    #expect(bench.model.target == JobID(0))
    bench.model.tags = [JobID(1)]
    bench.press(.tab, .character("x"))
    #expect(bench.commands == [.cancel([JobID(1)], by: .person)])
  }

  @Test(arguments: [("state:running", 0, "a"), ("state:running", 1, "b"), ("b", 0, "b"), ("exit", 0, "a")])
  func underAFilterTheCursorIsOnTheJobOfItsRow(_ filter: String, _ row: Int, _ name: String) {
    var bench = events(.failed(Self.failure, allowed: false))
    bench.press(.home, .down, .character("/"))
    bench.type(filter)
    bench.press(.enter)
    bench.model.choose(row: row)
    FramePreparation.prepare(&bench.model, now: bench.now)
    // The last row is that of the newest event, which is followed.
    #expect(bench.cursor == name || bench.model.events.follows)
    #expect(bench.model.events.chosen.map { $0.fact.job == bench.model.target } != false)
  }

  @Test func anotherJobThatIsSelectedLeavesTheChosenEvent() {
    var bench = events(.executing)
    bench.press(.home, .down)
    #expect(bench.cursor == "a" && !bench.model.events.follows)
    bench.press(.character("1"))
    bench.select("b")
    bench.press(.character("5"))
    #expect(bench.cursor == "b" && bench.model.events.follows)
  }

  @Test func ofAnEventOfTheRunItselfNothingIsCopied() {
    var bench = events(.executing)
    bench.press(.home)
    #expect(bench.model.target == nil)
    bench.press(.character("y"))
    #expect(bench.copies.isEmpty && bench.model.notice?.text == "nothing to copy")
    bench.press(.down, .character("y"))
    #expect(bench.copies == ["true"])
  }

  @Test(arguments: ["a", "b"]) func theJobOfALogsLineIsTheTarget(_ name: String) {
    var bench = events(.executing)
    bench.play { run in for name in ["a", "b"] { run.log(name, "of \(name)") } }
    bench.press(.home, .character("L"), .tab)
    bench.press(name == "a" ? .up : .down)
    #expect(bench.model.currentLine?.entry.line.text == "of \(name)")
    bench.press(.enter)
    #expect(bench.model.focus == .list && bench.cursor == name && bench.model.target == bench.model.cursor)
    bench.press(.character("x"))
    #expect(bench.commands.count == 1)
  }

  // MARK: The past

  @Test func aPastRunHasNoLaterEvents() {
    var (list, run) = (EventList(after: Run()), Run())
    for seq in 0..<6 {
      let event = JobEvent(seq: seq, time: .seconds(seq), fact: .slotsChanged(seq))
      run.apply(event)
      list.add(event)
    }
    list.update(slots(3).run, .everything, at: .seconds(2))
    #expect(list.rows == [0, 1, 2])
    list.update(slots(2).run, .everything, at: .milliseconds(1500))
    #expect(list.rows == [0, 1])
    list.update(run, .everything)
    #expect(list.rows == [0, 1, 2, 3, 4, 5])
    run.apply(event(6, .slotsChanged(6)))
    list.update(run, .everything)
    #expect(list.rows.count == 6)
  }

  /// Events that stand for missed ones do not have the numbers that the record of the run has.
  @Test(arguments: ["", "late"]) func thePastOfMissedEventsEndsAtItsInstant(_ filter: String) throws {
    var bench = Bench(RunBuilder([.shell("a")]))
    bench.play { run in
      run.at(1)
      run.move("a", .executing)
    }
    var later = bench.builder
    later.at(10)
    for step in 1...50 { later.progress("a", Int64(step), of: 50, .steps) }
    let early = later.run
    later.at(50)
    later.state(.jobAdded(JobID(1), .shell("late")))
    later.move("late", .executing)
    let middle = later.run
    later.at(60)
    later.state(.slotsChanged(3))
    bench.now = .seconds(60)
    bench.send(.facts(try #require(bench.builder.run.events(to: later.run))))
    bench.press(.character("5"), .character("/"))
    bench.type(filter)
    bench.press(.enter, .home)
    func texts() -> [String] {
      bench.model.events.rows.indices.map { row in
        let event = bench.model.events[row]
        return "\(event.fact.job?.index ?? -1) \(event.fact.text(in: bench.model.run))"
      }
    }
    let all = ["0 running", "1 added to the run", "1 running", "-1 6 slots", "-1 3 slots"]
    let live = texts()
    #expect(Set(live).isSubset(of: all) && live.contains("1 running"))
    for (run, time, shown) in [(early, 10, ["0 running"]), (middle, 55, ["0 running", "1 running"])] {
      bench.model.show(run, at: .seconds(time))
      FramePreparation.prepare(&bench.model, now: bench.now)
      #expect(texts() == shown.filter { filter.isEmpty || $0.hasPrefix("1") })
      #expect(bench.frame().text.contains("PAST"))
    }
    bench.press(.end)
    #expect(texts() == live)
  }

  // MARK: The filter

  @Test(arguments: [
    ("lint", 2), ("state:failed", 1), ("state:running", 1), ("kind:shell", 2), ("!kind:shell", 2), ("try", 0),
    ("slots", 2), ("!slots", 2), ("exit", 1), ("the run starts", 1), ("", 4),
  ])
  func aFilterLooksAtNameStateKindAndWords(_ text: String, _ count: Int) {
    var builder = RunBuilder([.shell("lint")])
    builder.move("lint", .executing)
    builder.move("lint", .failed(Self.failure, allowed: false))
    builder.state(.slotsChanged(3))
    var list = EventList(after: Run())
    let run = builder.run
    for event in builder.take() { list.add(event) }
    list.update(run, JobFilter(text))
    #expect(list.rows.count == count)
  }
}
