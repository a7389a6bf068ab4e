import Foundation
import JobModel
import Operations
import Reports
import Screen

/// Records the output of a report.
final class Written: Sendable {
  private let bytes = Lock<[UInt8]>([])

  var writer: ReportWriter { { more in self.bytes.withLock { $0 += more } } }
  var textWriter: TextWriter { { more in self.bytes.withLock { $0 += more.bytes } } }
  var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }
  var lines: [String] { text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
}

/// States facts one after the other, numbered and timed.
struct Facts {
  private(set) var events: [JobEvent] = []
  var now: Duration = .zero

  var run: Run {
    var run = Run()
    for event in events { run.apply(event) }
    return run
  }

  mutating func state(_ fact: JobFact, after wait: Duration = .zero) {
    now += wait
    events.append(JobEvent(seq: events.count, time: now, fact: fact))
  }

  mutating func begin(_ jobs: [Job], name: String = "release", slots: Int = 2, folder: String? = "/state/run-1") {
    let start = RunStart(
      id: "20260101-000000-1", name: name, slots: slots, at: Date(timeIntervalSince1970: 1_767_225_600.25),
      jobs: jobs.count, pools: folder == nil ? [:] : ["heavy": 2, "net": 4], folder: folder)
    state(.runStarted(start))
    for (index, job) in jobs.enumerated() { state(.jobAdded(JobID(index), job)) }
  }

  mutating func job(
    _ id: Int, _ new: JobState, attempt: Int = 1, pid: Int32? = nil, after wait: Duration = .zero
  ) {
    state(.jobState(JobID(id), new, attempt: attempt, pid: pid), after: wait)
  }

  /// The failure of a job, and the end of the run.
  mutating func finish(failing id: Int, _ reason: String = "exit 1") {
    job(id, .failed(JobFailure(.exit(1), reason), allowed: false))
    state(.runFinished(RunSummary()))
  }

  mutating func log(
    _ id: Int, _ text: String, _ stream: LogLine.Stream = .stdout, attempt: Int = 1, isCut: Bool = false,
    isUnfinished: Bool = false
  ) {
    state(.jobLog(JobID(id), attempt: attempt, LogLine(stream, text, isCut: isCut, isUnfinished: isUnfinished)))
  }
}

extension Facts {
  /// A run with every kind of fact.
  static var everything: Facts {
    var facts = Facts()
    facts.begin([
      Job(
        name: "notify", work: .shell(ShellWork(.script("./page \"on call\""))),
        needs: [JobNeed(JobID(5), when: .failed)]),
      Job(name: "checkout", work: .shell(ShellWork(.argv(["git", "clone", "a b"])))),
      Job(
        name: "fetch", work: .download(DownloadWork(url: "http://me:secret@127.0.0.1/sdk.tar", file: "/w/sdk.tar")),
        needs: [JobNeed(JobID(1))], priority: .high, uses: ["net": 1, "heavy": 2], timeout: .milliseconds(1500),
        retry: RetryPolicy(max: 2)),
      Job(
        name: "lint", work: .simulate(SimulatedWork(duration: .seconds(8), steps: 40, failRate: 0.1, seed: 7)),
        needs: [JobNeed(JobID(1), when: .finished)], allowFailure: true),
      Job(name: "build[linux]", work: .shell(ShellWork(.script("make"))), needs: [JobNeed(JobID(2))]),
      Job(
        name: "publish", work: .upload(UploadWork(file: "/w/out.zip", url: "https://example.org/up")),
        needs: [JobNeed(JobID(4))]),
      Job(name: "warm-cache", work: .shell(ShellWork(.script("true")))),
      Job(name: "sweep", work: .shell(ShellWork(.script("sleep 9")))),
    ])
    facts.job(1, .ready(for: .slot), attempt: 0)
    facts.job(1, .executing, pid: 4711, after: .microseconds(1500))
    facts.log(1, "Cloning into \u{1B}[32m'src'\u{1B}[0m…\u{1B}]0;title\u{07}")
    facts.log(1, "tab\there \"quoted\" back\\slash\r", .stderr)
    facts.job(6, .paused(started: false), attempt: 0)
    facts.job(1, .succeeded(upToDate: false), after: .milliseconds(3099))
    facts.job(2, .ready(for: .pool("net")), attempt: 0)
    facts.job(2, .executing, after: .milliseconds(100))
    facts.job(3, .executing, pid: 4712)
    facts.state(
      .jobProgress(JobID(2), JobProgress(done: 1_048_576, total: 2_147_483_648, unit: .bytes)), after: .seconds(1))
    facts.state(.jobProgress(JobID(3), JobProgress(done: 3, total: nil, unit: .steps)))
    facts.job(3, .paused(started: true))
    facts.state(.slotsChanged(3))
    facts.job(3, .executing, pid: 4712, after: .seconds(2))
    facts.log(2, "206, from byte 1073741824", .note)
    let failure = JobFailure(.http(503), "HTTP 503")
    facts.job(2, .backingOff(until: facts.now + .milliseconds(2500), number: 1, limit: 2, after: failure))
    facts.job(3, .failed(JobFailure(.simulated, "simulated failure"), allowed: true), after: .milliseconds(500))
    facts.job(6, .ready(for: .slot), attempt: 0)
    facts.job(6, .succeeded(upToDate: true), attempt: 0)
    facts.job(2, .executing, attempt: 2, after: .seconds(2))
    facts.log(2, "second line", attempt: 2)
    facts.log(2, "long", .stderr, attempt: 2, isCut: true)
    facts.job(2, .failed(JobFailure(.signal(9), "SIGKILL"), allowed: false), attempt: 2, after: .milliseconds(70))
    facts.job(4, .skipped(because: .job(JobID(2))), attempt: 0)
    facts.job(5, .skipped(because: .job(JobID(2))), attempt: 0)
    facts.job(0, .skipped(because: .job(JobID(5))), attempt: 0)
    facts.state(.priorityChanged(JobID(7), .veryHigh))
    facts.state(.drainChanged(true))
    facts.state(.drainChanged(false))
    facts.job(7, .executing, pid: 4800, after: .seconds(60))
    facts.state(.stopRequested(.terminate, by: .signal), after: .seconds(1))
    facts.state(.stopRequested(.kill, by: .person))
    facts.state(.cancelRequested(JobID(7), by: .person, kill: false))
    facts.state(.cancelRequested(JobID(7), by: .signal, kill: true))
    facts.log(7, "sweeping  41%", .stderr, isUnfinished: true)
    facts.log(7, "sweeping 100%", .stderr)
    facts.job(7, .cancelled(by: .signal), after: .milliseconds(4))
    var summary = RunSummary()
    (summary.succeeded, summary.failed, summary.allowed, summary.skipped, summary.cancelled) = (2, 1, 1, 3, 1)
    summary.exit = 130
    facts.state(.runFinished(summary))
    return facts
  }
}

extension Facts {
  /// A job whose first attempt was ended for a second one.
  static let restarted = {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    facts.job(0, .executing)
    facts.job(0, .ready(for: .slot), after: .seconds(1))
    facts.job(0, .executing, attempt: 2)
    facts.job(0, .succeeded(upToDate: false), attempt: 2, after: .seconds(1))
    facts.state(.runFinished(RunSummary()))
    return facts
  }()
}

/// The output of a report that receives the facts one by one.
func report(_ facts: Facts, _ make: (@escaping ReportWriter) -> any Report) -> Written {
  let written = Written()
  var set = ReportSet([make(written.writer)])
  for event in facts.events { set.receive([event]) }
  return written
}

func report(_ facts: Facts, _ make: (@escaping TextWriter) -> any Report) -> Written {
  let written = Written()
  var set = ReportSet([make(written.textWriter)])
  for event in facts.events { set.receive([event]) }
  return written
}

extension [TerminalText] {
  var texts: [String] { map(\.text) }
}
