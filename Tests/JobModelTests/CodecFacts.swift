import Foundation
import JobModel

extension Array where Element == JobEvent {
  /// The lines of these events.
  var lines: [String] { String(decoding: ndjson, as: UTF8.self).split(separator: "\n").map(String.init) }

  var ndjson: [UInt8] {
    var (writer, bytes) = (EventWriter(), [UInt8]())
    for event in self { writer.append(event, to: &bytes) }
    return bytes
  }

  init(facts: [(at: Duration, fact: JobFact)]) {
    self = facts.enumerated().map { JobEvent(seq: $0, time: $1.at, fact: $1.fact) }
  }

  var folded: Run {
    var run = Run()
    for event in self { run.apply(event) }
    return run
  }

  /// A run with every fact and every field, each with another value than the default at least once.
  static var everyField: [JobEvent] {
    let at = Date(timeIntervalSince1970: 1_767_225_600.25)
    let start = RunStart(
      id: "r2", name: "release", slots: 2, at: at, jobs: everyJob.count, pools: ["heavy": 2, "net": 4],
      folder: "/state/r2", resumes: "r1")
    var facts: [(at: Duration, fact: JobFact)] = [(.zero, .runStarted(start))]
    for (index, job) in everyJob.enumerated() { facts.append((.zero, .jobAdded(JobID(index), job))) }
    for (number, state) in everyState.enumerated() {
      facts.append((.milliseconds(10 * number), .jobState(JobID(number % 3), state, attempt: number, pid: nil)))
    }
    let twin = Job(name: "fetch", work: .simulate(SimulatedWork()), needs: [JobNeed(JobID(11)), JobNeed(JobID(1))])
    let foreign = OperationWork(className: "BlockOperation", visibility: .end)
    let later: [JobFact] = [
      .jobState(JobID(0), .executing, attempt: 1, pid: 4711), .jobLaunched(JobID(0), pid: 4712),
      .jobAdded(JobID(10), twin), .jobAdded(JobID(11), Job(name: "late", work: .operation(foreign), parent: JobID(10))),
      .jobState(JobID(10), .skipped(because: .job(JobID(2))), attempt: 0, pid: nil),
      .jobState(JobID(11), .skipped(because: .job(JobID(1))), attempt: 0, pid: nil),
      .jobRestored(JobID(4), EarlierSuccess(run: "r1", at: at, took: .milliseconds(1500))),
      .jobCaused(JobID(0), attempt: 2, "src/a \"b\".c has changed"), .inputsHashed(JobID(0), "9f86d081"),
      .cancelRequested(JobID(2), by: .restart, kill: false), .watchChanged(true, fault: nil),
      .watchChanged(false, fault: "inputs are not watched: No space left on device"),
      .jobPlaced(JobID(0), ClusterPlace(id: "12_3")),
      .jobPlaced(JobID(0), ClusterPlace(id: "12_3", nodes: "node[1-2]")),
      .jobPlaced(
        JobID(0),
        ClusterPlace(
          id: "12_3", nodes: "node1", took: .milliseconds(310), before: .milliseconds(60_500), isSuspended: true)),
      .clusterChanged(fault: "Unable to contact slurm controller"), .clusterChanged(fault: nil),
      .jobProgress(JobID(0), JobProgress(done: 5, total: .max, unit: .bytes)),
      .jobProgress(JobID(1), JobProgress(done: 3, total: nil, unit: .steps)),
      .jobLog(JobID(0), attempt: 1, LogLine(.stdout, "a \u{1B}[32mgreen\u{1B}[0m \"word\"\r", isCut: true)),
      .jobLog(JobID(0), attempt: 1, LogLine(.stderr, "41 %", isUnfinished: true)),
      .jobLog(JobID(10), attempt: 0, LogLine(.note, "")),
      .programLog(LogLine(.stdout, "own", isCut: true, isUnfinished: true)), .programLog(LogLine(.note, "n")),
      .programLog(LogLine(.stderr, "e")),
      .cancelRequested(JobID(0), by: .person, kill: false), .cancelRequested(JobID(0), by: .program, kill: true),
      .slotsChanged(Run.unlimited), .slotsChanged(0), .priorityChanged(JobID(1), .veryLow), .drainChanged(true),
      .drainChanged(false), .stopRequested(.terminate, by: .signal), .stopRequested(.kill, by: .person),
      .warningRaised(RunWarning(.uiQueueBusy, [], "busy for 3.2s", since: .milliseconds(1500))),
      .warningRaised(RunWarning(.slotsHeld, [JobID(4), JobID(0)], "2 of 2", advice: "wait \"not\"", since: .zero)),
      .warningRaised(RunWarning(.longLine, [JobID(1)], "1", since: .zero)),
      .warningCleared(RunWarning.Key(.longLine, JobID(1))), .warningCleared(RunWarning.Key(.queueSuspended, nil)),
    ]
    for (number, fact) in later.enumerated() { facts.append((.seconds(2) + .microseconds(number), fact)) }
    var summary = RunSummary()
    (summary.succeeded, summary.failed, summary.allowed, summary.skipped, summary.cancelled) = (2, 1, 1, 3, 1)
    (summary.cancelledByProgram, summary.left, summary.exit) = (1, 4, 130)
    facts.append((.seconds(100_000), .runFinished(summary)))
    return Self(facts: facts)
  }

  private static var everyJob: [Job] {
    let only: Set<RetryPolicy.Cause> = [.network, .serverError]
    let retry = RetryPolicy(
      max: 5, backoff: .constant, initial: .milliseconds(200), cap: .seconds(9), jitter: true, only: only)
    let shell = ShellWork(
      .argv(["make", "-C", "a b"]), directory: "/src", stop: .init(signal: 2, grace: .milliseconds(500)),
      progress: #"\[(\d+)/(\d+)\]"#)
    let download = DownloadWork(
      url: "http://127.0.0.1/sdk", file: "/w/sdk", sha256: "abc", resume: false, existing: .number, usesServerName: true
    )
    let clusterRequest = ClusterRequest(
      name: "step", cpus: 8, memory: 16_384, gpus: 1, nodes: 2, time: .seconds(5400), partition: "short",
      account: "lab", qos: "low", constraint: "fast", options: ["--exclusive"])
    let own = OperationWork(className: "MyOperation", visibility: .whole, canPause: true, canRetry: true)
    var alive = Service.Liveness(.port(host: "::1", 80))
    (alive.interval, alive.limit, alive.failures) = (.seconds(20), .milliseconds(1500), 4)
    let probed = Service(probe: .notification, restart: .always, alive: alive)
    let usual = UsualTime(
      median: .seconds(8), ninetieth: .milliseconds(12_500), count: 20, failures: 2, attempts: 9)
    return [
      Job(
        name: "build", work: .shell(shell), needs: [JobNeed(JobID(1)), JobNeed(JobID(3), when: .failed)],
        priority: .veryHigh, uses: ["net": 1, "heavy": 2], timeout: .milliseconds(1500), retry: retry,
        allowFailure: true, description: "the \"whole\"", creates: ["/out/a"], inputs: ["/src/**/*.c"], usual: usual),
      Job(name: "fetch", work: .download(download), retry: RetryPolicy(max: 2)),
      Job(
        name: "publish", work: .upload(UploadWork(file: "/w/out", url: "https://h/up", method: "POST")),
        needs: [JobNeed(JobID(0), when: .finished)], retry: RetryPolicy(max: 0, only: [])),
      Job(
        name: "try", work: .simulate(SimulatedWork(duration: .seconds(8), steps: 40, failRate: 1e-7, seed: .max))),
      Job(name: "twin", work: .operation(own)),
      Job(name: "twin", work: .operation(OperationWork(className: "B", visibility: .wrapped)), parent: JobID(4)),
      Job(
        name: "after", work: .shell(ShellWork(.script("true"), service: probed)), needs: [JobNeed(JobID(5))],
        parent: JobID(5)),
      Job(name: "", work: .shell(ShellWork(.argv([]))), isManual: true),
      Job(name: "train", work: .shell(ShellWork(.script("train"), cluster: clusterRequest))),
      Job(name: "report", work: .shell(ShellWork(.script("report"), cluster: ClusterRequest()))),
    ]
  }

  private static var everyState: [JobState] {
    let causes: [JobFailure.Cause] = [
      .exit(2), .signal(9), .launch, .http(503), .network, .timedOut, .checksum, .file, .simulated, .error,
      .outOfMemory, .timeLimit, .nodeFailure, .preempted, .lost,
    ]
    let failed = causes.map { JobState.failed(JobFailure($0, "why"), allowed: $0 == .launch) }
    let wait = JobFailure(.http(429), "HTTP 429", retryAfter: .seconds(7))
    return [
      .waiting, .ready(for: .slot), .ready(for: .pool("net")), .ready(for: .cluster(reason: nil)),
      .ready(for: .cluster(reason: "Resources")), .executing, .paused(started: false),
      .paused(started: true), .backingOff(until: .microseconds(2_500_001), number: 1, limit: 5, after: wait),
      .succeeded(upToDate: false), .succeeded(upToDate: true), .failed(wait, allowed: false),
    ] + failed + [JobState.Canceller.person, .signal, .policy, .program].map { .cancelled(by: $0) }
      + [.skipped(because: .job(JobID(1))), .skipped(because: .job(JobID(5))), .skipped(because: .manual)]
  }
}
