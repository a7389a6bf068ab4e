import Foundation
import JobModel
import Testing

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
  mutating func report(_ done: Int64, after wait: Duration) {
    state(.jobProgress(JobID(0), JobProgress(done: done, total: nil, unit: .bytes)), after: wait)
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
    #expect(counts.backingOff == 1 && counts.succeeded == 1 && counts.failed == 1 && counts.allowed == 1)
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
    #expect(recorder[0].rate == nil)
    report(100, after: .seconds(1))
    #expect(recorder[0].rate == 100)
    #expect(recorder[0].remaining(at: recorder.run.time) == .seconds(9))
    for step in 2...9 { report(100 + Int64(step - 1) * 50, after: .seconds(1)) }
    let rate = recorder[0].rate ?? 0
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
    #expect(recorder[0].rate == 100)
  }

  @Test func aNewAttemptBeginsItsProgressAnew() {
    var recorder = Recorder([job("a")])
    recorder.move(0, to: .executing)
    recorder.state(.jobProgress(JobID(0), JobProgress(done: 5, total: 10, unit: .steps)))
    recorder.move(0, to: .failed(failure, allowed: false), after: .seconds(1))
    #expect(recorder[0].progress?.done == 5)
    recorder.move(0, to: .executing, attempt: 2, after: .seconds(1))
    #expect(recorder[0].progress == nil && recorder[0].rate == nil)
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
}
