import Testing

@testable import Basics
@testable import JobModel

@Suite struct JobRecordTests {
  private let job = JobID(0)
  private var run = Run()

  init() {
    apply(.runStarted(RunStart(id: "r", name: "n", slots: 1, at: .distantPast, jobs: 2)))
    for index in 0..<2 { apply(.jobAdded(JobID(index), Job(name: "j\(index)", work: .simulate(SimulatedWork())))) }
  }

  private mutating func apply(_ fact: JobFact, at time: Duration = .zero) {
    run.apply(JobEvent(seq: run.nextSeq, time: time, fact: fact))
  }

  private mutating func moveAll(to state: JobState) {
    for id in run.ids { apply(.jobState(id, state, attempt: 1, pid: nil)) }
  }

  private var repetitions: [String?] { run.jobs.map { $0.repetition(as: StateClass($0)) } }

  @Test mutating func aManualJobIsStartedAndAServiceRestarted() {
    let work = JobWork.shell(ShellWork(.script("true"), service: Service()))
    apply(.jobAdded(JobID(2), Job(name: "service", work: work)))
    apply(.jobAdded(JobID(3), Job(name: "manual", work: .simulate(SimulatedWork()), isManual: true)))
    #expect(repetitions == [nil, nil, nil, nil])
    moveAll(to: .skipped(because: .manual))
    #expect(repetitions == [nil, nil, nil, "start"])
    moveAll(to: .executing)
    #expect(repetitions == [nil, nil, "restart", nil])
    apply(.cancelRequested(JobID(2), by: .person, kill: false))
    #expect(repetitions[2] == nil)
    moveAll(to: .succeeded(upToDate: false))
    #expect(repetitions == [nil, nil, nil, "start"])
    moveAll(to: .cancelled(by: .person))
    #expect(repetitions == ["retry", "retry", "retry", "retry"])
  }

  /// A run of a million jobs has two folds of them, and events in several queues.
  @Test func aRecordAndAnEventAreSmall() {
    #expect(MemoryLayout<JobRecord>.stride <= 128)
    #expect(MemoryLayout<JobRecord.Attempt>.stride <= 72)
    #expect(MemoryLayout<JobEvent>.stride <= 80)
  }

  @Test mutating func aJobWithoutReportsSharesTheFirstDetails() {
    for state in [JobState.ready(for: .slot), .executing, .paused(started: true), .executing] {
      apply(.jobState(job, state, attempt: 1, pid: 7))
    }
    apply(.jobState(job, .succeeded(upToDate: false), attempt: 1, pid: nil))
    #expect(run[job].details.box === run[JobID(1)].details.box)
    apply(.jobLog(job, attempt: 1, LogLine(.stdout, "a")))
    #expect((run[job].log.count, run[JobID(1)].log.count) == (1, 0))
  }

  @Test mutating func theNextAttemptBeginsWithoutTheProgressOfTheLast() {
    apply(.jobState(job, .executing, attempt: 1, pid: nil))
    apply(.jobProgress(job, JobProgress(done: 1, total: 9, unit: .steps)))
    apply(.jobProgress(job, JobProgress(done: 5, total: 9, unit: .steps)), at: .seconds(2))
    #expect(run[job].progress?.done == 5 && run[job].rate(at: run.time) == 2 && run[job].rates.samples.count == 2)
    apply(.jobState(job, .waiting, attempt: 1, pid: nil), at: .seconds(3))
    #expect(run[job].progress?.done == 5)
    apply(.jobState(job, .executing, attempt: 2, pid: nil), at: .seconds(4))
    #expect(run[job].progress == nil && run[job].details.value.rate == nil && run[job].rateSample == nil)
    #expect(run[job].rates == RateHistory())
  }

  @Test func anAttemptHasItsTimesToTheNanosecond() {
    let second = Duration.nanoseconds(1_000_000_001)
    var attempt = JobRecord.Attempt(number: 2, startedAt: second, failure: JobFailure(.exit(1), "a"))
    attempt.pausedFor = .nanoseconds(3)
    #expect(attempt.startedAt == second && attempt.pausedFor == .nanoseconds(3))
    #expect(attempt.endedAt == nil && attempt.failure == JobFailure(.exit(1), "a"))
    attempt.endedAt = .seconds(1 << 40)
    #expect(attempt.endedAt == .nanoseconds(Int64.max))
  }
}
