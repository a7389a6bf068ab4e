import Testing

@testable import JobModel

/// A run and a watch that reads each of its events.
private struct Rig {
  var run = Run()
  var watch: WarningWatch
  var time: Duration = .zero
  /// The facts of the watch.
  var stated: [JobFact] = []

  init(_ jobs: [Job], slots: Int = 4, silenced: Set<RunWarning.Kind> = []) {
    watch = WarningWatch(silenced: silenced)
    state(
      .runStarted(
        RunStart(
          id: "r", name: "r", slots: slots, at: .init(timeIntervalSince1970: 0), jobs: jobs.count, pools: [:])))
    for (index, job) in jobs.enumerated() { state(.jobAdded(JobID(index), job)) }
  }

  mutating func state(_ fact: JobFact) {
    look(after: [apply(fact)])
  }

  private mutating func apply(_ fact: JobFact) -> JobEvent {
    let event = JobEvent(seq: run.nextSeq, time: time, fact: fact)
    run.apply(event)
    return event
  }

  private mutating func look(after events: [JobEvent]) {
    for fact in watch.facts(after: events, in: run, now: time) {
      stated.append(fact)
      _ = apply(fact)
    }
  }

  mutating func job(_ index: Int, _ state: JobState) {
    let last = run[JobID(index)].attempt?.number ?? 0
    let begins = state == .executing && !run[JobID(index)].state.isActive
    self.state(.jobState(JobID(index), state, attempt: begins ? last + 1 : last, pid: nil))
  }

  /// Moves the time on, and looks whenever the watch asks for it.
  mutating func pass(_ duration: Duration) {
    let end = time + duration
    while let next = watch.next, next <= end {
      time = max(time, next)
      look(after: [])
    }
    time = end
  }

  /// Moves the time on without a look meanwhile, as when the machine sleeps.
  mutating func sleep(_ duration: Duration) {
    time += duration
    look(after: [])
  }

  var kinds: [RunWarning.Kind] { run.warnings.map(\.kind) }
}

private func job(_ name: String, _ usual: UsualTime? = nil) -> Job {
  Job(name: name, work: .simulate(SimulatedWork()), usual: usual)
}

private func operation(_ name: String, _ className: String) -> Job {
  Job(name: name, work: .operation(OperationWork(className: className, visibility: .whole)))
}

@Suite struct WarningWatchTests {
  private static let usual = UsualTime(median: .seconds(4), ninetieth: .seconds(6), count: 9)

  // MARK: Cancelled and still executing

  @Test func aCancelledJobThatGoesOnIsWarnedOfInTime() {
    var rig = Rig([job("a")])
    rig.job(0, .executing)
    #expect(rig.watch.next == nil)
    rig.time = .seconds(3)
    rig.state(.cancelRequested(JobID(0), by: .person, kill: false))
    #expect(rig.watch.next == .seconds(13))
    rig.pass(.milliseconds(9_999))
    #expect(rig.kinds == [])
    rig.pass(.milliseconds(1))
    #expect(rig.kinds == [.cancelledExecuting] && rig.watch.next == nil)
    #expect(rig.run.warnings.first?.evidence == "cancelled by you 10.0s ago, and still executing")
    #expect(rig.run.warnings.first?.since == .seconds(3))
    rig.job(0, .cancelled(by: .person))
    #expect(rig.kinds == [])
    #expect(rig.stated.last == .warningCleared(.init(.cancelledExecuting, JobID(0))))
  }

  @Test func theGraceOfAProcessCountsFirst() {
    let work = ShellWork(.script("x"), stop: ShellWork.Stop(grace: .seconds(30)))
    var rig = Rig([Job(name: "a", work: .shell(work))])
    rig.job(0, .executing)
    rig.state(.cancelRequested(JobID(0), by: .person, kill: false))
    #expect(rig.watch.next == .seconds(40))
    rig.job(0, .cancelled(by: .person))
    #expect(rig.watch.next == nil)
  }

  // MARK: Slow and silent

  @Test func aJobThatIsSlowAndSilentIsWarnedOf() {
    var rig = Rig([job("a", Self.usual)])
    rig.job(0, .executing)
    rig.pass(.seconds(15))
    #expect(rig.kinds == [])
    rig.pass(.seconds(1))
    #expect(rig.kinds == [.slowAndSilent])
    #expect(
      rig.run.warnings.first?.evidence
        == "executes for 16.0s, usually 4.0s, without progress or output for 16.0s")
    rig.pass(.seconds(2))
    rig.state(.jobLog(JobID(0), attempt: 1, LogLine(.stdout, "here I am")))
    #expect(rig.kinds == [] && rig.watch.next == .seconds(28))
    rig.pass(.seconds(10))
    #expect(rig.kinds == [.slowAndSilent])
  }

  @Test func outputOrProgressPutsItOff() {
    var rig = Rig([job("a", Self.usual)])
    rig.job(0, .executing)
    for step in 1...20 {
      rig.pass(.seconds(6))
      if step.isMultiple(of: 2) {
        rig.state(.jobProgress(JobID(0), JobProgress(done: Int64(step), total: nil, unit: .steps)))
      } else {
        rig.state(.jobLog(JobID(0), attempt: 1, LogLine(.stdout, "\(step)")))
      }
    }
    #expect(rig.stated == [])
  }

  @Test func aJobWithFewRecordedRunsHasNoUsualTime() {
    var rig = Rig([job("a", UsualTime(median: .seconds(1), ninetieth: .seconds(1), count: 2)), job("b")])
    for index in 0..<2 { rig.job(index, .executing) }
    #expect(rig.watch.next == nil)
  }

  @Test func theTimesOfItsClassAreUsualForAnOperation() {
    var rig = Rig((0..<6).map { operation("\($0)", "Import") })
    for index in 0..<5 {
      rig.job(index, .executing)
      rig.pass(.seconds(2))
      rig.job(index, .succeeded(upToDate: false))
    }
    rig.job(5, .executing)
    rig.pass(.seconds(12))
    #expect(rig.kinds == [.slowAndSilent] && rig.run.warnings[0].jobs == [JobID(5)])
  }

  @Test(arguments: ["BlockOperation", "TaskOperation<Int>"]) func aGeneralClassHasNoUsualTime(_ name: String) {
    var rig = Rig((0..<9).map { operation("\($0)", name) })
    for index in 0..<8 {
      rig.job(index, .executing)
      rig.job(index, .succeeded(upToDate: false))
    }
    rig.job(8, .executing)
    #expect(rig.watch.next == nil)
  }

  // MARK: The queue

  @Test func aSuspendedQueueWithReadyJobsIsWarnedOf() {
    var rig = Rig([job("a"), job("b")])
    rig.state(.drainChanged(true))
    #expect(rig.watch.next == nil)
    rig.time = .seconds(5)
    rig.job(1, .ready(for: .slot))
    rig.pass(.seconds(29))
    #expect(rig.kinds == [])
    rig.pass(.seconds(1))
    #expect(rig.kinds == [.queueSuspended])
    #expect(rig.run.warnings[0].evidence == "nothing starts for 30.0s while 1 job is ready")
    rig.job(0, .ready(for: .slot))
    #expect(rig.run.warnings.count == 1)
    rig.state(.drainChanged(false))
    #expect(rig.kinds == [])
  }

  @Test func theEndOfASuspensionLeavesNoTimeBehind() {
    var rig = Rig([job("a"), job("b", Self.usual)])
    rig.state(.drainChanged(true))
    rig.job(0, .ready(for: .slot))
    #expect(rig.watch.next == .seconds(30))
    rig.state(.drainChanged(false))
    #expect(rig.watch.next == nil)
    rig.job(1, .executing)
    rig.state(.drainChanged(true))
    rig.state(.drainChanged(false))
    #expect(rig.watch.next == .seconds(16))
  }

  @Test func oneJobBeforeALongLineIsWarnedOf() {
    var rig = Rig((0...10).map { job("\($0)") }, slots: 1)
    for index in 0...10 { rig.job(index, .ready(for: .slot)) }
    rig.job(0, .executing)
    #expect(rig.watch.next == .seconds(60))
    rig.pass(.seconds(50))
    rig.state(.jobLog(JobID(0), attempt: 1, LogLine(.stdout, "half")))
    rig.pass(.seconds(29))
    #expect(rig.kinds == [])
    rig.pass(.seconds(1))
    #expect(rig.kinds == [.longLine])
    #expect(rig.run.warnings[0].evidence == "has the only slot for 1m20s while 10 jobs are ready")
    rig.state(.slotsChanged(2))
    #expect(rig.kinds == [])
  }

  @Test func aShortLineOrTwoSlotsAreNoLongLine() {
    for (count, slots) in [(9, 1), (10, 2)] {
      var rig = Rig((0...count).map { job("\($0)") }, slots: slots)
      for index in 0...count { rig.job(index, .ready(for: .slot)) }
      rig.job(0, .executing)
      #expect(rig.watch.next == nil)
    }
  }

  // MARK: All

  @Test func theTimeOfASleepingMachineDoesNotCount() {
    var rig = Rig([job("a", Self.usual)])
    rig.job(0, .executing)
    rig.sleep(.seconds(3600))
    #expect(rig.kinds == [] && rig.watch.next == .seconds(3610))
    rig.pass(.seconds(10))
    #expect(rig.kinds == [.slowAndSilent])
  }

  @Test func silencedKindsAreNotStated() {
    var rig = Rig([job("a", Self.usual)], silenced: [.slowAndSilent])
    rig.job(0, .executing)
    rig.pass(.seconds(60))
    #expect(rig.stated == [])
    let other = RunWarning(.slowAndSilent, [], "", since: .zero)
    #expect(rig.watch.raise(other, at: rig.time) == nil)
  }

  @Test func aWarningIsRaisedOnceAndSoManyAtMost() {
    var watch = WarningWatch()
    let warnings = (0...RunWarning.limits.warnings).map { RunWarning(.slotsHeld, [JobID($0)], "", since: .zero) }
    #expect(watch.clear(warnings[0].key) == nil)
    #expect(watch.raise(warnings[0], at: .zero) == .warningRaised(warnings[0]))
    #expect(watch.raise(warnings[0], at: .zero) == nil)
    #expect(warnings.dropFirst().filter { watch.raise($0, at: .zero) != nil }.count == RunWarning.limits.warnings - 1)
    #expect(watch.clear(warnings[0].key) == .warningCleared(warnings[0].key))
  }

  @Test func anOrdinaryHourRaisesNone() {
    let short = UsualTime(median: .seconds(30), ninetieth: .seconds(45), count: 20)
    var rig = Rig((0..<300).map { job("\($0)", short) }, slots: 4)
    for index in 0..<300 { rig.job(index, .ready(for: .slot)) }
    var running: [(job: Int, end: Duration)] = []
    var next = 0
    for second in 0..<3600 {
      for (place, (index, end)) in running.enumerated().reversed() where end <= rig.time {
        // A job that is cancelled ends a moment later.
        rig.job(index, index.isMultiple(of: 50) ? .cancelled(by: .person) : .succeeded(upToDate: false))
        running.remove(at: place)
      }
      while running.count < 4, next < 300 {
        rig.job(next, .executing)
        running.append((next, rig.time + .seconds(20 + next % 40)))
        next += 1
      }
      if second == 1200 { rig.state(.drainChanged(true)) }
      if second == 1220 { rig.state(.drainChanged(false)) }
      if second.isMultiple(of: 7), let (index, end) = running.first, index.isMultiple(of: 50),
        rig.time + .seconds(8) > end
      {
        rig.state(.cancelRequested(JobID(index), by: .person, kill: false))
      }
      rig.pass(.seconds(1))
    }
    #expect(rig.run.counts.done == 300 && rig.stated == [])
  }
}
