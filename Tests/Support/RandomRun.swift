import Basics
import Foundation
import JobModel

/// The events of a run made up from a seed: every fact and every field, in any order that a `Run` can fold.
package struct RandomRun {
  package private(set) var events: [JobEvent] = []
  package private(set) var run = Run()
  private var random: SplitMix
  private var time: Duration = .zero

  /// A run of `jobs` declared jobs, of which several may have one name, and of `facts` further facts.
  package init(seed: UInt64, jobs: Int = 30, facts: Int = 600) {
    random = SplitMix(seed: seed)
    let start = RunStart(
      id: text(), name: text(), slots: chance(4) ? Run.unlimited : below(9), at: date(), jobs: jobs,
      pools: chance(2) ? [:] : ["net": 3, "b\u{200B}ig": 1], folder: chance(2) ? nil : "/state/" + text(),
      resumes: chance(2) ? nil : text())
    state(.runStarted(start))
    for index in 0..<jobs { state(.jobAdded(JobID(index), job(index, of: jobs))) }
    for _ in 0..<facts { state(fact()) }
    if chance(2) { state(.runFinished(summary())) }
  }

  private mutating func state(_ fact: JobFact) {
    let event = JobEvent(seq: events.count, time: time, fact: fact)
    run.apply(event)
    events.append(event)
  }

  private mutating func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
  private mutating func chance(_ oneIn: Int) -> Bool { below(oneIn) == 0 }
  private mutating func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }
  private mutating func duration() -> Duration { .microseconds(Int64(random.next() % 20_000_000_000)) }
  private mutating func date() -> Date { Date(timeIntervalSince1970: random.unit() * 4e9) }

  private static let texts = [
    "", "a", "build", "名前", "e\u{301}tude", "👩‍👩‍👧", "tab\tquote\"back\\slash\r\n", "\u{0}\u{1B}[31mred\u{7F}\u{9B}",
    "\u{202E}\u{2028}\u{FEFF}\u{E0041}", "\u{FFFD}\u{10FFFF}\u{D7FF}", "null", "{\"v\":1}",
    String(repeating: "long ", count: 90),
  ]

  private mutating func text() -> String { chance(3) ? pick(Self.texts) : "\(pick(Self.texts))-\(below(1000))" }

  private mutating func job(_ index: Int, of jobs: Int) -> Job {
    var job = Job(name: chance(5) ? "twin" : text(), work: work(), allowFailure: chance(4))
    // A need may name a later job.
    for _ in 0..<below(4) {
      let need = JobNeed(JobID(below(jobs)), when: pick(JobNeed.Condition.allCases))
      if need.job.index != index { job.needs.append(need) }
    }
    job.priority = pick(JobPriority.allCases)
    if chance(3) { job.uses = ["net": 1 + below(2), "b\u{200B}ig": 1] }
    if chance(3) { job.timeout = duration() }
    if chance(2) { job.retry = RetryPolicy(max: below(5)) }
    if chance(3) {
      job.retry = RetryPolicy(
        max: below(5), backoff: pick(RetryPolicy.Backoff.allCases), initial: duration(), cap: duration(),
        jitter: chance(2), only: chance(2) ? nil : Set((0..<below(4)).map { _ in pick(RetryPolicy.Cause.allCases) }))
    }
    if chance(2) { job.description = text() }
    if index > 0, chance(4) { job.parent = JobID(below(index)) }
    if chance(4) { (job.creates, job.inputs) = ([text(), text()], [text()]) }
    if chance(4) {
      job.usual = UsualTime(
        median: duration(), ninetieth: duration(), count: 1 + below(9), failures: below(9), attempts: below(20))
    }
    return job
  }

  private mutating func work() -> JobWork {
    switch below(5) {
    case 0:
      .shell(
        ShellWork(
          chance(2) ? .script(text()) : .argv((0..<below(4)).map { _ in text() }), directory: chance(2) ? nil : text(),
          stop: chance(2) ? .init() : .init(signal: Int32(below(30)), grace: duration()),
          progress: chance(2) ? nil : text(), cluster: chance(4) ? clusterRequest() : nil))
    case 1:
      .download(
        DownloadWork(
          url: "http://host/\(below(99))?token=***", file: text(), sha256: chance(2) ? nil : text(), resume: chance(2),
          existing: pick(DownloadWork.Existing.allCases), usesServerName: chance(2),
          stall: chance(2) ? DownloadWork.standardStall : duration()))
    case 2:
      .upload(
        UploadWork(
          file: text(), url: "https://***@host/up", method: pick(["PUT", "POST"]),
          stall: chance(2) ? DownloadWork.standardStall : duration()))
    case 3:
      .simulate(
        SimulatedWork(
          duration: duration(), steps: below(99), failRate: chance(2) ? 0 : random.unit(),
          seed: chance(2) ? 0 : random.next()))
    default:
      .operation(
        OperationWork(
          className: text(), visibility: pick([.whole, .wrapped, .end]), canPause: chance(2), canRetry: chance(2)))
    }
  }

  private mutating func clusterRequest() -> ClusterRequest {
    ClusterRequest(
      name: chance(2) ? nil : text(), cpus: chance(2) ? nil : 1 + below(64),
      memory: chance(2) ? nil : below(1 << 20),
      gpus: chance(2) ? nil : 1 + below(8), nodes: chance(2) ? nil : 1 + below(9), time: chance(2) ? nil : duration(),
      partition: chance(2) ? nil : text(), account: chance(2) ? nil : text(), qos: chance(2) ? nil : text(),
      constraint: chance(2) ? nil : text(), options: (0..<below(3)).map { _ in text() })
  }

  private mutating func failure() -> JobFailure {
    let causes: [JobFailure.Cause] = [
      .exit(Int32(below(255))), .signal(9), .launch, .http(503), .network, .timedOut, .checksum, .file, .simulated,
      .error, .outOfMemory, .timeLimit, .nodeFailure, .preempted, .lost,
    ]
    return JobFailure(pick(causes), text(), retryAfter: chance(4) ? duration() : nil)
  }

  private mutating func fact() -> JobFact {
    if chance(3) { time += .microseconds(Int64(below(2_000_000))) }
    let id = JobID(below(run.jobs.count))
    let attempt = run[id].attempt?.number ?? 0
    switch below(32) {
    case 0..<8:
      let state = nextState()
      let begins = state == .executing && !run[id].state.isActive
      return .jobState(id, state, attempt: begins ? attempt + 1 : attempt, pid: chance(2) ? Int32(below(9999)) : nil)
    case 8..<11:
      let total: Int64? = chance(3) ? nil : Int64(below(1000))
      let unit: JobProgress.Unit = chance(2) ? .bytes : .steps
      return .jobProgress(id, JobProgress(done: Int64(below(1200)), total: total, unit: unit))
    case 11..<16:
      return .jobLog(id, attempt: attempt, line(pick([.stdout, .stderr, .note])))
    case 16: return .programLog(line(pick([.stdout, .stderr, .note])))
    case 17: return .cancelRequested(id, by: canceller(), kill: chance(2))
    case 18: return .slotsChanged(chance(4) ? Run.unlimited : below(9))
    case 19: return .priorityChanged(id, pick(JobPriority.allCases))
    case 20:
      return chance(2) ? .drainChanged(chance(2)) : .stopRequested(chance(2) ? .kill : .terminate, by: canceller())
    case 21: return .jobRestored(id, EarlierSuccess(run: text(), at: date(), took: duration()))
    case 22: return .inputsHashed(id, text())
    case 23: return .jobOutputs(id, [text(): text()])
    case 25: return .arrivalsEnded
    case 24: return .poolChanged(text(), below(9))
    case 26:
      return .jobPlaced(
        id, ClusterPlace(id: text(), nodes: chance(2) ? nil : text(), took: chance(3) ? duration() : nil))
    case 27: return .clusterChanged(fault: chance(2) ? nil : text())
    case 28: return .jobLaunched(id, pid: Int32(below(9999)))
    case 30:
      let jobs = (0..<below(4)).map { _ in JobID(below(run.jobs.count)) }
      return .warningRaised(
        RunWarning(pick(RunWarning.Kind.allCases), jobs, text(), advice: text(), since: duration()))
    case 31:
      guard let warning = run.warnings.first else { return .drainChanged(chance(2)) }
      return .warningCleared(warning.key)
    default:
      let index = run.jobs.count
      return .jobAdded(JobID(index), job(index, of: index))
    }
  }

  private mutating func nextState() -> JobState {
    switch below(13) {
    case 0, 1, 2, 3: .executing
    case 4: .succeeded(upToDate: chance(2))
    case 5: .failed(failure(), allowed: chance(2))
    case 6: .cancelled(by: canceller())
    case 7: .skipped(because: chance(4) ? pick([.condition, .outcome, .unneeded]) : .job(JobID(below(run.jobs.count))))
    case 8: .paused(started: chance(2))
    case 9: .backingOff(until: time + duration(), number: 1 + below(3), limit: below(5), after: failure())
    case 10:
      .ready(
        for: chance(2)
          ? .slot : chance(4) ? .person : chance(3) ? .cluster(reason: chance(2) ? nil : text()) : .pool(text()))
    case 11: .serving
    default: .waiting
    }
  }

  private mutating func canceller() -> JobState.Canceller {
    pick([.person, .signal, .policy, .program, .timeout, .unneeded])
  }

  private mutating func line(_ stream: LogLine.Stream) -> LogLine {
    LogLine(stream, text(), isCut: chance(5), isUnfinished: chance(4))
  }

  private mutating func summary() -> RunSummary {
    var summary = RunSummary(of: run, signal: chance(2) ? 15 : nil)
    summary.cancelledByProgram = below(3)
    return summary
  }
}
