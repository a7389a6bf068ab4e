import Foundation
import Testing

@testable import JobModel

/// Builds a run from facts, numbering them.
struct Recorder {
  private(set) var run = Run()
  private var time = Duration.zero

  init(_ jobs: [Job], slots: Int = 2, pools: [String: Int] = [:], folder: String? = nil) {
    let date = Date(timeIntervalSince1970: 0)
    state(
      .runStarted(
        RunStart(id: "r", name: "g", slots: slots, at: date, jobs: jobs.count, pools: pools, folder: folder)))
    for (index, job) in jobs.enumerated() { state(.jobAdded(JobID(index), job)) }
  }

  mutating func state(_ fact: JobFact, after wait: Duration = .zero) {
    time += wait
    run.apply(JobEvent(seq: run.nextSeq, time: time, fact: fact))
  }

  /// Progress of job 0, in bytes of an unknown total.
  mutating func report(_ done: Int64, of total: Int64? = nil, after wait: Duration) {
    state(.jobProgress(JobID(0), JobProgress(done: done, total: total, unit: .bytes)), after: wait)
  }

  mutating func move(_ job: Int, to state: JobState, attempt: Int = 1, pid: Int32? = nil, after wait: Duration = .zero)
  {
    self.state(.jobState(JobID(job), state, attempt: attempt, pid: pid), after: wait)
  }

  subscript(job: Int) -> JobRecord { run[JobID(job)] }
}

@Suite struct RunTests {
  private let failure = JobFailure(.exit(1), "exit 1")

  @Test func everyJobIsCountedInItsStateAndNowhereElse() {
    var recorder = Recorder((0..<9).map { job("\($0)") })
    #expect(recorder.run.counts.waiting == 9)
    recorder.move(0, to: .ready(for: .slot), attempt: 0)
    recorder.move(1, to: .executing)
    recorder.move(2, to: .executing)
    recorder.move(2, to: .paused(started: true))
    recorder.move(3, to: .paused(started: false), attempt: 0)
    recorder.move(4, to: .backingOff(until: .seconds(1), number: 1, limit: 2, after: failure))
    recorder.move(5, to: .succeeded(upToDate: false))
    recorder.move(6, to: .failed(failure, allowed: true))
    recorder.move(7, to: .cancelled(by: .person), attempt: 0)
    recorder.move(8, to: .skipped(because: .job(JobID(6))), attempt: 0)
    let counts = recorder.run.counts
    #expect(counts.waiting == 0 && counts.ready == 1 && counts.executing == 1 && counts.paused == 2)
    #expect(counts.backingOff == 1 && counts.succeeded == 1 && counts.failed == 0 && counts.allowed == 1)
    #expect(counts.cancelled == 1 && counts.skipped == 1)
    #expect(counts.active == 2)
    #expect(counts.done == 4 && counts.all == 9)
  }

  @Test func aRunIsCompleteWhenEveryJobHasEnded() {
    var recorder = Recorder([job("a"), job("b")])
    #expect(!recorder.run.isComplete)
    recorder.move(0, to: .succeeded(upToDate: true))
    #expect(!recorder.run.isComplete)
    recorder.move(1, to: .skipped(because: .job(JobID(0))))
    #expect(recorder.run.isComplete)
    #expect(!Run().isComplete)
  }

  @Test func theLengthOfARunEndsWithItsLastJob() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing, after: .seconds(1))
    #expect(recorder.run.length == .seconds(1))
    recorder.move(0, to: .succeeded(upToDate: false), after: .seconds(2))
    recorder.state(.runFinished(RunSummary()), after: .seconds(60))
    #expect(recorder.run.length == .seconds(3))
  }

  @Test func unmetNeedsFollowTheStatesOfTheNeededJobs() {
    var recorder = Recorder([
      job("a"), job("ok", 0), job("finished", 0, when: .finished), job("failed", 0, when: .failed),
    ])
    func unmet(_ recorder: Recorder) -> [Int] { (1...3).map { recorder[$0].unmetNeeds } }
    #expect(unmet(recorder) == [1, 1, 1])
    recorder.move(0, to: .executing)
    #expect(unmet(recorder) == [1, 1, 1])
    recorder.move(0, to: .failed(failure, allowed: false))
    #expect(unmet(recorder) == [1, 0, 0])
    recorder.move(0, to: .waiting, attempt: 1)
    #expect(unmet(recorder) == [1, 1, 1])
    recorder.move(0, to: .failed(failure, allowed: true))
    #expect(unmet(recorder) == [0, 0, 0])
    recorder.move(0, to: .waiting, attempt: 1)
    recorder.move(0, to: .succeeded(upToDate: false))
    #expect(unmet(recorder) == [0, 0, 1])
    recorder.move(0, to: .waiting, attempt: 1)
    recorder.move(0, to: .skipped(because: .job(JobID(0))), attempt: 1)
    #expect(unmet(recorder) == [1, 0, 1])
  }

  @Test func aChangeBetweenTerminalStatesUpdatesTheNeeds() {
    var recorder = Recorder([job("a"), job("failed", 0, when: .failed)])
    recorder.move(0, to: .failed(failure, allowed: false))
    #expect(recorder[1].unmetNeeds == 0)
    recorder.move(0, to: .cancelled(by: .person))
    #expect(recorder[1].unmetNeeds == 1)
  }

  @Test func twoNeedsOfOneJobAreTwo() {
    var both = job("both", 0, 0)
    both.needs[1].when = .failed
    var recorder = Recorder([job("a"), both])
    #expect(recorder[0].dependents == [JobID(1)])
    #expect(recorder[1].unmetNeeds == 2)
    recorder.move(0, to: .succeeded(upToDate: false))
    #expect(recorder[1].unmetNeeds == 1)
  }

  @Test func needsOfLaterJobsAreLinkedOnceAllAreThere() {
    let recorder = Recorder([job("a", 2), job("b", 0), job("c")])
    #expect(recorder.run.jobs.map(\.dependents) == [[JobID(1)], [], [JobID(0)]])
  }

  @Test func attemptsKeepTheirTimesFailuresAndProcesses() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing, attempt: 1, pid: 41, after: .seconds(1))
    recorder.move(
      0, to: .backingOff(until: .seconds(9), number: 1, limit: 2, after: failure), attempt: 1, after: .seconds(2))
    recorder.move(0, to: .ready(for: .slot), attempt: 1, after: .seconds(4))
    recorder.move(0, to: .executing, attempt: 2, pid: 42, after: .seconds(8))
    recorder.move(0, to: .paused(started: true), attempt: 2, after: .seconds(1))
    recorder.move(0, to: .executing, attempt: 2, after: .seconds(3))
    recorder.move(0, to: .succeeded(upToDate: false), attempt: 2, after: .seconds(5))
    let attempts = recorder[0].attempts
    #expect(attempts.map(\.number) == [1, 2])
    #expect(attempts.map(\.startedAt) == [.seconds(1), .seconds(15)])
    #expect(attempts.map(\.endedAt) == [.seconds(3), .seconds(24)])
    #expect(attempts.map(\.pid) == [41, 42])
    #expect(attempts.map(\.failure) == [failure, nil])
    #expect(attempts[1].pausedFor == .seconds(3))
    #expect(recorder[0].elapsed(at: .seconds(99)) == .seconds(6))
    let record = recorder[0]
    func spent(_ kind: Phase.Kind) -> Duration { record.spent(kind, until: record.since) }
    #expect(spent(.waiting) == .seconds(1))
    #expect(spent(.backingOff) == .seconds(4))
    #expect(spent(.forSlot) == .seconds(8))
    #expect(spent(.executing) == .seconds(2 + 1 + 5))
    #expect(spent(.paused) == .seconds(3))
  }

  @Test func waitsForSlotAndPoolAreKeptApart() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .ready(for: .pool("net")), attempt: 0, after: .seconds(1))
    recorder.move(0, to: .ready(for: .slot), attempt: 0, after: .seconds(2))
    recorder.move(0, to: .executing, after: .seconds(4))
    #expect(recorder[0].spent(.forPool, until: recorder[0].since) == .seconds(2))
    #expect(recorder[0].spent(.forSlot, until: recorder[0].since) == .seconds(4))
  }

  @Test func elapsedStandsStillWhilePaused() {
    var recorder = Recorder([job("a")])
    #expect(recorder[0].elapsed(at: .seconds(5)) == nil)
    recorder.move(0, to: .executing, after: .seconds(1))
    #expect(recorder[0].elapsed(at: .seconds(4)) == .seconds(3))
    recorder.move(0, to: .paused(started: true), after: .seconds(3))
    #expect(recorder[0].elapsed(at: .seconds(40)) == .seconds(3))
    recorder.move(0, to: .executing, after: .seconds(36))
    #expect(recorder[0].elapsed(at: .seconds(41)) == .seconds(4))
  }

  @Test func anAttemptEndedWhilePausedLeavesThePauseOut() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    recorder.move(0, to: .paused(started: true), after: .seconds(2))
    recorder.move(0, to: .cancelled(by: .person), after: .seconds(7))
    #expect(recorder[0].attempt?.endedAt == .seconds(9))
    #expect(recorder[0].elapsed(at: .seconds(90)) == .seconds(2))
  }

  @Test func theRateFollowsTheReportsAndTellsWhatRemains() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    func report(_ done: Int64, after wait: Duration) {
      recorder.state(.jobProgress(JobID(0), JobProgress(done: done, total: 1000, unit: .bytes)), after: wait)
    }
    report(0, after: .zero)
    #expect(recorder[0].rate(at: recorder.run.time) == nil)
    report(100, after: .seconds(1))
    #expect(recorder[0].rate(at: recorder.run.time) == 100)
    #expect(recorder[0].remaining(at: recorder.run.time) == .seconds(9))
    for step in 2...9 { report(100 + Int64(step - 1) * 50, after: .seconds(1)) }
    let rate = recorder[0].rate(at: recorder.run.time) ?? 0
    #expect(rate > 50 && rate < 56)
    #expect(recorder[0].progress?.fraction == 0.5)
  }

  @Test func aPauseIsNoPartOfTheRate() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    recorder.report(0, after: .zero)
    recorder.report(100, after: .seconds(1))
    recorder.move(0, to: .paused(started: true), after: .zero)
    recorder.move(0, to: .executing, after: .seconds(100))
    recorder.report(110, after: .milliseconds(100))
    recorder.report(210, after: .seconds(1))
    #expect(recorder[0].rate(at: recorder.run.time) == 100)
  }

  @Test func aNewAttemptBeginsItsProgressAnew() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    recorder.state(.jobProgress(JobID(0), JobProgress(done: 5, total: 10, unit: .steps)))
    recorder.move(0, to: .failed(failure, allowed: false), after: .seconds(1))
    #expect(recorder[0].progress?.done == 5)
    recorder.move(0, to: .executing, attempt: 2, after: .seconds(1))
    #expect(recorder[0].progress == nil && recorder[0].rate(at: recorder.run.time) == nil)
  }

  @Test func otherFactsChangeTheRun() {
    var recorder = Recorder([job("a/b"), job("c")], slots: 2, folder: "/state/r")
    recorder.state(.slotsChanged(5))
    recorder.state(.priorityChanged(JobID(1), .high))
    recorder.state(.drainChanged(true))
    recorder.state(.jobLog(JobID(1), attempt: 1, LogLine(.stdout, "hello")), after: .seconds(2))
    recorder.state(.stopRequested(.terminate, by: .signal), after: .seconds(1))
    var summary = RunSummary()
    summary.left = 2
    summary.exit = 130
    recorder.state(.runFinished(summary), after: .seconds(1))
    let run = recorder.run
    #expect(run.slots == 5)
    #expect(run[JobID(1)].job.priority == .high)
    #expect(run.isDraining)
    #expect(run[JobID(1)].log[0].line.text == "hello")
    #expect(run.stopping?.level == .terminate && run.stopping?.by == .signal && run.stopping?.at == .seconds(3))
    #expect(run.summary == summary)
    #expect(run.time == .seconds(4))
    #expect(run.logPath(JobID(0), attempt: 2) == "/state/r/logs/a_b.0.2.log")
    #expect(run.id(named: "c") == JobID(1))
  }

  @Test func theSameEventsGiveTheSameRun() {
    func play() -> Run {
      var recorder = Recorder([job("a"), job("b", 0)])
      recorder.move(0, to: .executing, after: .seconds(1))
      recorder.move(0, to: .succeeded(upToDate: false), after: .seconds(1))
      recorder.move(1, to: .executing, after: .seconds(1))
      return recorder.run
    }
    #expect(play() == play())
  }

  @Test func tenThousandDependentsAreUpdatedByOneChangeEach() {
    var jobs = [job("base")]
    for number in 1...10_000 { jobs.append(job("\(number)", 0)) }
    var recorder = Recorder(jobs)
    recorder.move(0, to: .succeeded(upToDate: false))
    #expect(recorder.run.jobs.dropFirst().allSatisfy { $0.unmetNeeds == 0 })
  }

  // MARK: Phases and rates

  private func phases(_ record: JobRecord) -> [Phase.Kind] {
    (0..<record.phases.count).map { record.phases[$0].kind }
  }

  @Test func thePhasesOfAJobTellItsWaitsAndAttemptsApart() {
    var recorder = Recorder([job("a")])
    #expect(recorder[0].phases.count == 0)
    recorder.move(0, to: .ready(for: .pool("net")), attempt: 0, after: .seconds(1))
    recorder.move(0, to: .executing, after: .seconds(2))
    recorder.move(0, to: .backingOff(until: .seconds(9), number: 1, limit: 1, after: failure), after: .seconds(3))
    recorder.move(0, to: .executing, attempt: 2, after: .seconds(1))
    recorder.move(0, to: .failed(failure, allowed: false), attempt: 2, after: .seconds(1))
    #expect(phases(recorder[0]) == [.waiting, .forPool, .executing, .backingOff, .executing, .failed])
    #expect(recorder[0].phases[2].start == .seconds(3) && recorder[0].phases.end(of: 2) == .seconds(6))
    #expect(recorder[0].phases.end(of: 5) == nil)
  }

  @Test func aPhaseWithoutDurationIsDroppedUnlessItIsAnAttempt() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .ready(for: .slot), attempt: 0)
    recorder.move(0, to: .executing)
    recorder.move(0, to: .succeeded(upToDate: false))
    #expect(phases(recorder[0]) == [.executing, .succeeded])
  }

  @Test func theRatesOfTheNewestAttemptAreKeptSecondBySecond() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    recorder.report(0, after: .zero)
    recorder.report(50, after: .milliseconds(500))
    recorder.report(100, after: .milliseconds(500))
    recorder.report(700, after: .seconds(3))
    #expect(recorder[0].rates.samples == [100, 200, 200, 200])
    recorder.report(1_000_000, after: .seconds(200))
    #expect(recorder[0].rates.samples.count == RateHistory.capacity)
    recorder.move(0, to: .backingOff(until: .seconds(1), number: 1, limit: 1, after: failure))
    recorder.move(0, to: .executing, attempt: 2)
    #expect(recorder[0].rates.samples.isEmpty)
  }

  @Test func cancellingSkipsWhatNeedsTheJobInAnyWayButItsEnd() {
    let recorder = Recorder([
      job("a"), job("b", 0), job("c", 0, when: .finished), job("d", 0, when: .failed), job("e", 1),
      job("f", 1, when: .finished),
    ])
    #expect(recorder.run.skipped(byCancelling: JobID(0)).map(\.index) == [1, 3, 4])
    #expect(recorder.run.skipped(byCancelling: JobID(5)).isEmpty)
  }

  @Test func theTimeBeforeARetryIsNoPartOfTheLength() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    recorder.move(0, to: .succeeded(upToDate: false), after: .seconds(3))
    recorder.move(0, to: .waiting, after: .seconds(7))
    #expect(recorder.run.length == .seconds(3))
    recorder.move(0, to: .executing, attempt: 2, after: .seconds(1))
    recorder.move(0, to: .succeeded(upToDate: false), attempt: 2, after: .seconds(1))
    #expect(recorder.run.length == .seconds(5) && recorder.run.lastEnd == .seconds(12))
    #expect(recorder.run.elapsed(at: .seconds(20)) == .seconds(13) && recorder.run.elapsed(at: .zero) == .zero)
  }

  @Test func aRetryBesideOtherJobsIsPartOfTheLength() {
    var recorder = Recorder([job("a"), job("b")])
    recorder.move(0, to: .succeeded(upToDate: false))
    recorder.move(1, to: .executing)
    recorder.move(0, to: .waiting, after: .seconds(7))
    #expect(recorder.run.length == .seconds(7))
  }

  // MARK: States

  /// A state of each kind, and whether it is terminal, active, good, a failure.
  private var states: [(state: JobState, flags: [Bool])] {
    [
      (.waiting, [false, false, false, false]), (.ready(for: .slot), [false, false, false, false]),
      (.ready(for: .cluster(reason: nil)), [false, false, false, false]),
      (.executing, [false, true, false, false]), (.serving, [false, true, false, false]),
      (.paused(started: true), [false, true, false, false]), (.paused(started: false), [false, false, false, false]),
      (.backingOff(until: .zero, number: 1, limit: 1, after: failure), [false, false, false, false]),
      (.succeeded(upToDate: false), [true, false, true, false]),
      (.succeeded(upToDate: true), [true, false, true, false]),
      (.failed(failure, allowed: true), [true, false, true, true]),
      (.failed(failure, allowed: false), [true, false, false, true]),
      (.cancelled(by: .person), [true, false, false, false]),
      (.skipped(because: .outcome), [true, false, false, false]),
    ]
  }

  @Test func aStateTellsWhatItMeans() {
    for (state, flags) in states {
      #expect([state.isTerminal, state.isActive, state.isOK, state.isFailure] == flags, "\(state)")
      #expect(state.isWithCluster == (state == .ready(for: .cluster(reason: nil))), "\(state)")
    }
  }

  @Test func eachConditionIsMetByItsStates() {
    for (state, flags) in states {
      let (isTerminal, isOK, isFailure) = (flags[0], flags[2], flags[3])
      let met: [JobNeed.Condition: Bool] = [
        .ok: isOK, .finished: isTerminal, .failed: isFailure, .notOK: isTerminal && !isOK, .ready: state == .serving,
      ]
      for (condition, isMet) in met {
        #expect(condition.isMet(by: state) == isMet, "\(condition) \(state)")
        #expect(condition.isRuledOut(by: state) == (isTerminal && !isMet), "\(condition) \(state)")
      }
    }
  }

  @Test func needsOfAServiceAndOfAnEndWithoutSuccessFollowTheStates() {
    var recorder = Recorder([job("a"), job("ready", 0, when: .ready), job("notOK", 0, when: .notOK)])
    func unmet() -> [Int] { [recorder[1].unmetNeeds, recorder[2].unmetNeeds] }
    recorder.move(0, to: .executing)
    #expect(unmet() == [1, 1])
    recorder.move(0, to: .serving)
    #expect(unmet() == [0, 1])
    recorder.move(0, to: .failed(failure, allowed: false))
    #expect(unmet() == [1, 0])
    recorder.move(0, to: .failed(failure, allowed: true))
    #expect(unmet() == [1, 1])
    recorder.move(0, to: .cancelled(by: .person))
    #expect(unmet() == [1, 0])
  }

  // MARK: Counts

  @Test func aServiceIsCountedAsExecutingAndTakesNoSlot() {
    let service = Job(name: "s", work: .shell(ShellWork(.script("x"), service: Service())))
    var recorder = Recorder([service, job("a")])
    recorder.move(0, to: .executing)
    recorder.move(1, to: .executing)
    recorder.move(0, to: .serving)
    let counts = recorder.run.counts
    #expect(counts.executing == 2 && counts.serving == 1 && counts.active == 2 && counts.usedSlots == 1)
    recorder.move(0, to: .cancelled(by: .unneeded))
    #expect(recorder.run.counts.usedSlots == 1 && recorder.run.counts.active == 1 && recorder.run.counts.serving == 0)
  }

  @Test func everyKindOfSuccessAndFailureIsCounted() {
    var recorder = Recorder((0..<6).map { job("\($0)") })
    recorder.move(0, to: .succeeded(upToDate: true))
    recorder.move(1, to: .succeeded(upToDate: false))
    recorder.move(2, to: .failed(JobFailure(.timedOut, "timed out"), allowed: false))
    recorder.move(3, to: .failed(failure, allowed: false))
    recorder.move(4, to: .failed(failure, allowed: true))
    let counts = recorder.run.counts
    #expect(counts.succeeded == 2 && counts.failed == 2 && counts.allowed == 1 && counts.done == 5 && counts.all == 6)
    let summary = RunSummary(of: recorder.run, signal: 15)
    #expect(summary.succeeded == 2 && summary.failed == 2 && summary.allowed == 1 && summary.left == 1)
    #expect(summary.exit == 143 && RunSummary(of: recorder.run).exit == 1)
  }

  @Test func aSummaryCountsWhatWasSkippedAndCancelled() {
    var recorder = Recorder((0..<4).map { job("\($0)") })
    recorder.move(0, to: .skipped(because: .condition))
    recorder.move(1, to: .cancelled(by: .program))
    recorder.move(2, to: .cancelled(by: .policy))
    recorder.move(3, to: .cancelled(by: .person))
    let summary = RunSummary(of: recorder.run)
    #expect(summary.skipped == 1 && summary.cancelled == 3 && summary.cancelledByProgram == 1 && summary.left == 0)
    #expect(summary.exit == 3)
  }

  @Test func aJobThatNobodyStartedIsNeitherSkippedNorDone() {
    var recorder = Recorder((0..<2).map { job("\($0)") })
    recorder.move(0, to: .skipped(because: .condition))
    recorder.move(1, to: .skipped(because: .manual))
    let counts = recorder.run.counts
    #expect(counts.skipped == 1 && counts.notStarted == 1 && counts.done == 1 && counts.open == 0)
    #expect(RunSummary(of: recorder.run).skipped == 2)
    recorder.move(1, to: .executing)
    #expect(recorder.run.counts.notStarted == 0 && recorder.run.counts.done == 1 && recorder.run.counts.open == 1)
  }

  @Test func aRetryTakesOnlyWhatThePolicyHasCancelledBehindIt() {
    var recorder = Recorder([job("build"), job("unit", 0), job("pack", 1), job("site", 0), job("mail", 3), job("lint")])
    recorder.move(0, to: .failed(failure, allowed: false))
    recorder.move(1, to: .skipped(because: .job(JobID(0))))
    for id in [2, 4, 5] { recorder.move(id, to: .cancelled(by: .policy)) }
    recorder.move(3, to: .cancelled(by: .person))
    #expect(recorder.run.retried(with: [JobID(0)]) == [JobID(0), JobID(2)])
  }

  @Test func aJobThatItsRetriedCauseHasLeftBehindIsWorkLeft() {
    func exit(_ need: JobNeed.Condition, _ end: JobState) -> Int32 {
      var dependent = job("b")
      dependent.needs = [JobNeed(JobID(0), when: need)]
      var recorder = Recorder([job("a"), dependent])
      recorder.move(0, to: .failed(failure, allowed: false))
      recorder.move(1, to: .skipped(because: .job(JobID(0))))
      recorder.move(0, to: .waiting)
      recorder.move(0, to: end)
      return RunSummary(of: recorder.run).exit
    }
    #expect(exit(.ok, .succeeded(upToDate: false)) == 3)
    // An operation of a program needs the end of another only.
    #expect(exit(.finished, .succeeded(upToDate: false)) == 3)
    #expect(exit(.ok, .failed(failure, allowed: false)) == 1)
    #expect(exit(.failed, .succeeded(upToDate: false)) == 0)
  }

  @Test func jobsOfFinallyAreCountedUntilTheyEnd() {
    var final = job("f")
    final.finally = .always
    var recorder = Recorder([job("a"), final])
    #expect(recorder.run.counts.openFinal == 1)
    recorder.move(0, to: .succeeded(upToDate: false))
    recorder.move(1, to: .executing)
    #expect(recorder.run.counts.openFinal == 1)
    recorder.move(1, to: .failed(failure, allowed: false))
    #expect(recorder.run.counts.openFinal == 0)
    recorder.move(1, to: .waiting)
    #expect(recorder.run.counts.openFinal == 1)
  }

  @Test func aPoolIsAtLeastAsLargeAsWhatOneOpenJobNeeds() {
    var jobs = [job("a"), job("b"), job("c")]
    (jobs[0].uses, jobs[1].uses) = (["net": 5], ["net": 3, "disk": 2])
    var recorder = Recorder(jobs, pools: ["net": 6])
    #expect(recorder.run.leastUnits(of: "net") == 5 && recorder.run.leastUnits(of: "disk") == 2)
    #expect(recorder.run.leastUnits(of: "other") == 1)
    recorder.move(0, to: .executing)
    #expect(recorder.run.leastUnits(of: "net") == 5)
    recorder.move(0, to: .succeeded(upToDate: false))
    #expect(recorder.run.leastUnits(of: "net") == 3)
    recorder.move(1, to: .cancelled(by: .person))
    #expect(recorder.run.leastUnits(of: "net") == 1)
  }

  // MARK: The whole run

  @Test func theFirstFailureIsKeptUntilItsJobIsRetried() {
    var recorder = Recorder((0..<3).map { job("\($0)") })
    recorder.move(0, to: .failed(failure, allowed: true))
    #expect(recorder.run.firstFailure == nil)
    recorder.move(2, to: .failed(failure, allowed: false))
    recorder.move(1, to: .failed(failure, allowed: false))
    #expect(recorder.run.firstFailure == JobID(2))
    recorder.move(1, to: .waiting)
    #expect(recorder.run.firstFailure == JobID(2))
    recorder.move(2, to: .waiting)
    #expect(recorder.run.firstFailure == nil)
    recorder.move(1, to: .failed(failure, allowed: false))
    #expect(recorder.run.firstFailure == JobID(1))
  }

  @Test func aRunThatIsStoppedHasNothingInProgress() {
    var final = job("f")
    final.finally = .always
    var recorder = Recorder([job("a"), final, job("c")])
    func flags() -> [Bool] { [recorder.run.isIdleAfterStop, recorder.run.isStopped] }
    recorder.move(1, to: .succeeded(upToDate: false))
    #expect(flags() == [false, false])
    recorder.state(.stopRequested(.terminate, by: .person))
    #expect(flags() == [true, true])
    recorder.move(0, to: .executing)
    #expect(flags() == [false, false])
    recorder.move(0, to: .cancelled(by: .person))
    #expect(flags() == [true, true])
    recorder.move(1, to: .waiting)
    #expect(flags() == [false, false])
    recorder.move(1, to: .skipped(because: .outcome))
    recorder.move(2, to: .ready(for: .cluster(reason: nil)))
    #expect(flags() == [true, false])
  }

  /// A run of these facts after its start.
  private func run(jobs: Int, isOpen: Bool = false, _ facts: [JobFact]) -> Run {
    let start = RunStart(
      id: "r", name: "g", slots: 1, at: Date(timeIntervalSince1970: 0), jobs: jobs, pools: ["net": 2], isOpen: isOpen)
    return [JobEvent](facts: ([.runStarted(start)] + facts).map { (.zero, $0) }).folded
  }

  @Test func aRunIsNotCompleteWhileJobsMayArriveOrAreMissing() {
    let done: [JobFact] = [
      .jobAdded(JobID(0), job("a")), .jobState(JobID(0), .succeeded(upToDate: false), attempt: 1, pid: nil),
    ]
    #expect(run(jobs: 0, isOpen: true, []).isOpen && !run(jobs: 0, isOpen: true, done).isComplete)
    let ended = run(jobs: 0, isOpen: true, done + [.arrivalsEnded])
    #expect(!ended.isOpen && ended.isComplete)
    #expect(run(jobs: 1, done).isComplete && !run(jobs: 2, done).isComplete)
  }

  @Test func factsAboutAJobAreKeptInItsRecord() {
    let success = EarlierSuccess(run: "r0", at: .distantPast, took: .seconds(2))
    var recorder = Recorder([job("a"), job("b")], pools: ["net": 2])
    recorder.state(.inputsHashed(JobID(1), "9f"))
    recorder.state(.jobOutputs(JobID(1), ["id": "1"]))
    recorder.state(.jobOutputs(JobID(1), ["tag": "2"]))
    recorder.state(.cancelRequested(JobID(1), by: .timeout, kill: true), after: .seconds(4))
    recorder.state(.jobRestored(JobID(0), success))
    recorder.state(.poolChanged("net", 7))
    recorder.state(.programLog(LogLine(.stderr, "own")), after: .seconds(1))
    #expect(recorder[1].inputsHash == "9f" && recorder[1].outputs == ["tag": "2"])
    #expect(recorder[1].cancelling == JobRecord.Cancelling(by: .timeout, isKill: true, at: .seconds(4)))
    #expect(recorder[0].restored == success && recorder[0].cancelling == nil && recorder[0].inputsHash == nil)
    #expect(recorder.run.pools == ["net": 7])
    let line = recorder.run.programLog[0]
    #expect(line.attempt == 1 && line.seq == recorder.run.nextSeq - 1 && line.time == .seconds(5))
    recorder.move(1, to: .executing, attempt: 1)
    recorder.state(.jobLaunched(JobID(1), pid: 7))
    recorder.state(.jobLaunched(JobID(0), pid: 8))
    #expect(recorder[1].attempt?.pid == 7 && recorder[1].attempts.count == 1 && recorder[0].attempt == nil)
    recorder.move(0, to: .succeeded(upToDate: true), attempt: 0)
    #expect(recorder[0].restored == success)
    recorder.move(0, to: .waiting, attempt: 0)
    #expect(recorder[0].restored == nil)
    #expect(recorder.run.logPath(JobID(0), attempt: 1) == nil && recorder.run.id(named: "c") == nil)
  }

  @Test func aStopOverridesTheOneBefore() {
    var recorder = Recorder([job("a")])
    recorder.state(.stopRequested(.terminate, by: .person), after: .seconds(1))
    recorder.state(.stopRequested(.kill, by: .timeout), after: .seconds(1))
    #expect(recorder.run.stopping == Run.Stopping(level: .kill, by: .timeout, at: .seconds(2)))
    #expect(!recorder.run.isDraining)
  }

  @Test func aLogHasAsManyLinesAsTheRunKeeps() {
    var run = Run(logCapacity: 2)
    func apply(_ fact: JobFact) { run.apply(JobEvent(seq: run.nextSeq, time: .zero, fact: fact)) }
    apply(.runStarted(RunStart(id: "1", name: "g", slots: 1, at: Date(timeIntervalSince1970: 0), jobs: 1)))
    apply(.jobAdded(JobID(0), job("a")))
    for number in 0..<3 {
      apply(.jobLog(JobID(0), attempt: 1, LogLine(.stdout, "\(number)")))
      apply(.programLog(LogLine(.stdout, "\(number)")))
    }
    #expect(run[JobID(0)].log.count == 2 && run[JobID(0)].log[0].line.text == "1")
    #expect(run.programLog.count == 2 && run.programLog.dropped == 1)
  }

  // MARK: Cancelling

  @Test func cancellingSkipsNeitherWhatHasEndedNorWhatComesThroughIt() {
    var recorder = Recorder([job("a"), job("b", 0), job("c", 1), job("d", 0, when: .notOK), job("e", 0, when: .ready)])
    #expect(recorder.run.skipped(byCancelling: JobID(0)).map(\.index) == [1, 2, 4])
    recorder.move(1, to: .succeeded(upToDate: false))
    #expect(recorder.run.skipped(byCancelling: JobID(0)).map(\.index) == [4])
    recorder.move(0, to: .succeeded(upToDate: false))
    #expect(recorder.run.skipped(byCancelling: JobID(0)).isEmpty)
  }

  @Test func aJobIsSkippedOnceHoweverManyWaysLeadToIt() {
    let recorder = Recorder([job("top", 1, 2), job("left", 3), job("right", 3), job("base")])
    #expect(recorder.run.skipped(byCancelling: JobID(3)).map(\.index) == [0, 1, 2])
  }

  // MARK: Phases of an attempt

  @Test func anAttemptEndsWithThePhaseAfterItsPauses() {
    var recorder = Recorder([job("a")])
    let states: [JobState] = [
      .executing, .backingOff(until: .zero, number: 1, limit: 2, after: failure), .executing, .paused(started: true),
      .executing, .cancelled(by: .person),
    ]
    for (place, state) in states.enumerated() {
      recorder.move(0, to: state, attempt: place < 2 ? 1 : 2, after: .seconds(1))
    }
    let record = recorder[0]
    #expect(phases(record) == [.waiting, .executing, .backingOff, .executing, .paused, .executing, .cancelled])
    #expect(record.outcome(of: 1) == .backingOff)
    #expect(record.outcome(of: 3) == .cancelled && record.outcome(of: 5) == .cancelled)
    #expect(record.outcome(of: 6) == nil)
  }

  @Test func twoAttemptsInARowAreTheFirstThatFailed() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing, after: .seconds(1))
    recorder.move(0, to: .backingOff(until: .zero, number: 1, limit: 1, after: failure), after: .seconds(1))
    recorder.move(0, to: .executing, attempt: 2)
    #expect(phases(recorder[0]) == [.waiting, .executing, .executing])
    #expect(recorder[0].outcome(of: 1) == .backingOff && recorder[0].outcome(of: 2) == nil)
  }

  @Test func aStateThatIsToldAgainIsNoPhaseUnlessItIsAnEnd() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .ready(for: .slot), attempt: 0, after: .seconds(1))
    recorder.move(0, to: .ready(for: .slot), attempt: 0, after: .seconds(1))
    recorder.move(0, to: .executing, after: .seconds(1))
    recorder.move(0, to: .executing, pid: 7, after: .seconds(1))
    #expect(phases(recorder[0]) == [.waiting, .forSlot, .executing])
    #expect(recorder[0].attempts.map(\.pid) == [7] && recorder[0].attempt?.startedAt == .seconds(3))
    #expect(recorder[0].since == .seconds(4))
    recorder.move(0, to: .failed(failure, allowed: false), after: .seconds(1))
    recorder.move(0, to: .failed(failure, allowed: true))
    #expect(phases(recorder[0]) == [.waiting, .forSlot, .executing, .failed, .failed])
  }

  @Test func aFirstStateIsSpentBeforeItIsAPhase() {
    var recorder = Recorder([job("a")])
    recorder.state(.jobAdded(JobID(1), job("b")), after: .seconds(2))
    #expect(recorder[0].spent(.waiting, until: .seconds(5)) == .seconds(5))
    #expect(recorder[1].spent(.waiting, until: .seconds(5)) == .seconds(3))
    #expect(recorder[1].spent(.waiting, until: .seconds(1)) == .zero)
    #expect(recorder[0].spent(.executing, until: .seconds(5)) == .zero)
    recorder.move(0, to: .executing, after: .seconds(1))
    #expect(recorder[0].spent(.executing, until: .seconds(5)) == .seconds(2))
    #expect(recorder[0].spent(.executing, until: .seconds(1)) == .zero)
  }

  @Test func theKindOfAPhaseIsThatOfItsState() {
    let kinds = states.map { Phase.Kind($0.state) }
    #expect(
      kinds == [
        .waiting, .forSlot, .forCluster, .executing, .executing, .paused, .paused, .backingOff, .succeeded, .succeeded,
        .failed, .failed, .cancelled, .skipped,
      ])
    #expect(zip(kinds, states).allSatisfy { $0.isTerminal == $1.flags[0] })
    #expect(Phase.Kind(.ready(for: .pool("net"))) == .forPool && Phase.Kind(.ready(for: .person)) == .forPerson)
  }

  // MARK: Rates

  @Test func anOldRateFadesByHalfInTwoSeconds() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    recorder.report(0, after: .zero)
    recorder.report(100, after: .seconds(1))
    recorder.report(100, after: .seconds(2))
    #expect(recorder[0].rate(at: recorder.run.time) == 50)
    recorder.report(400, after: .seconds(2))
    #expect(recorder[0].rate(at: recorder.run.time) == 100)
  }

  @Test(arguments: [JobProgress.Unit.steps, .bytes]) func aSilentJobHasNoTimeLeftAfterAWhile(unit: JobProgress.Unit) {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    for done in 1...5 {
      let progress = JobProgress(done: Int64(done), total: 20, unit: unit)
      recorder.state(.jobProgress(JobID(0), progress), after: .milliseconds(300))
    }
    let last = recorder.run.time
    let left = recorder[0].remaining(at: last)
    #expect(left != nil && recorder[0].remaining(at: last + .seconds(2)) == left)
    #expect(recorder[0].remaining(at: last + .seconds(4)) == left.map { $0 * 2 })
    #expect(recorder[0].remaining(at: last + .seconds(6)) == nil)
  }

  @Test func aJobThatReportsRarelyKeepsItsTimeLeft() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    for done in [0, 10, 20, 21] { recorder.report(Int64(done), of: 100, after: .seconds(done == 21 ? 1 : 60)) }
    let last = recorder.run.time
    // Half of the longest pause is expected after a short one.
    #expect(recorder[0].remaining(at: last + .seconds(30)) == recorder[0].remaining(at: last))
    #expect(recorder[0].remaining(at: last + .seconds(90)) == nil)
  }

  @Test func aResumedJobHasNoTimeLeftBeforeItMoves() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    recorder.report(0, of: 1000, after: .zero)
    recorder.report(100, of: 1000, after: .seconds(1))
    recorder.move(0, to: .paused(started: true), after: .zero)
    recorder.move(0, to: .executing, after: .seconds(1))
    #expect(recorder[0].remaining(at: recorder.run.time) == nil)
    recorder.report(110, of: 1000, after: .milliseconds(100))
    #expect(recorder[0].remaining(at: recorder.run.time) == nil)
  }

  @Test func aTwentiethOfASecondChangesTheRate() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    recorder.report(0, after: .zero)
    recorder.report(100, after: .seconds(1))
    recorder.report(200, after: .milliseconds(49))
    #expect(recorder[0].rate(at: recorder.run.time) == 100)
    recorder.report(200, after: .milliseconds(1))
    #expect(recorder[0].rate(at: recorder.run.time) ?? 0 > 100)
  }

  @Test(arguments: [0, 700_000]) func whatComesAtOnceIsNoPartOfTheRate(before: Int64) {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    recorder.report(before, of: 1_000_000, after: .zero)
    // A buffer that was full, then 10 in each tenth of a second.
    for step in 1...10 {
      #expect(recorder[0].remaining(at: recorder.run.time) == nil)
      recorder.report(before + 200_000 + Int64(step) * 10, of: 1_000_000, after: .milliseconds(100))
    }
    #expect(recorder[0].rate(at: recorder.run.time).map { $0.rounded() } == 100)
  }

  @Test func whatComesAtOnceAfterAPauseIsNoPartOfTheRate() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    recorder.report(0, after: .zero)
    recorder.report(100, after: .seconds(1))
    recorder.move(0, to: .paused(started: true), after: .zero)
    recorder.move(0, to: .executing, after: .seconds(1))
    recorder.report(100, after: .zero)
    recorder.report(5000, after: .milliseconds(100))
    recorder.report(5090, after: .milliseconds(900))
    #expect(recorder[0].rate(at: recorder.run.time).map { $0.rounded() } == 100)
  }

  @Test func whatRemainsNeedsATotalARateAndAnAttempt() {
    func remaining(_ total: Int64?, _ last: Int64, isPaused: Bool = false) -> Duration? {
      var recorder = Recorder([job("a")])
      recorder.move(0, to: .executing)
      for (place, done) in [0, last].enumerated() {
        recorder.state(
          .jobProgress(JobID(0), JobProgress(done: done, total: total, unit: .steps)), after: .seconds(2 * place))
      }
      if isPaused { recorder.move(0, to: .paused(started: true)) }
      return recorder[0].remaining(at: recorder.run.time)
    }
    #expect(remaining(50, 10) == .seconds(8) && remaining(10, 10) == .zero && remaining(9, 10) == .zero)
    #expect(remaining(nil, 10) == nil && remaining(50, 0) == nil && remaining(50, 10, isPaused: true) == nil)
  }

  @Test func whatRemainsAtARateThatHasFadedAwayIsStillATime() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    for done in [0, 1] + [Int64](repeating: 1, count: 200) {
      recorder.state(
        .jobProgress(JobID(0), JobProgress(done: done, total: .max, unit: .steps)), after: .seconds(5))
    }
    #expect(recorder[0].remaining(at: recorder.run.time) == .seconds(1_000_000_000_000))
  }

  @Test func aFirstReportOfNothingIsKept() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    let unknown = JobProgress(done: 0, total: nil, unit: .bytes)
    recorder.state(.jobProgress(JobID(0), unknown))
    #expect(recorder[0].progress == unknown)
  }
}
