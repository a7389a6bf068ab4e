import Foundation
import JobModel

/// Writes one JSON object per event and line, as the events reference describes, version 1.
///
/// The order of the fields is fixed; optional fields without a value are left out.
package struct JSONReport: Report {
  private let write: ReportWriter
  private var line: [UInt8] = []
  /// The quoted names of the jobs.
  private var names: [[UInt8]] = []
  /// The jobs added before all names are known, because a need may name a later job.
  private var held: [JobEvent] = []

  package init(write: @escaping ReportWriter) { self.write = write }

  package mutating func receive(_ event: JobEvent, before: JobState?, in run: Run) {
    guard case .jobAdded(_, let job) = event.fact else {
      release()
      append(event)
      return
    }
    var name: [UInt8] = []
    name.append(quoted: job.name)
    names.append(name)
    held.append(event)
    if names.count == run.start?.jobs { release() }
  }

  package mutating func flush() {
    guard !line.isEmpty else { return }
    write(line)
    line.removeAll(keepingCapacity: true)
  }

  private mutating func release() {
    for event in held { append(event) }
    held = []
  }

  private mutating func append(_ event: JobEvent) {
    line.append("{\"v\":1,\"seq\":")
    line.append(number: event.seq)
    line.append(",\"t\":")
    line.append(seconds: event.time)
    line.append(",\"type\":\"")
    switch event.fact {
    case .runStarted(let start): append(start)
    case .jobAdded(let id, let job): append(id, job)
    case .jobState(let id, let state, let attempt, let pid): append(id, state, attempt, pid)
    case .jobProgress(let id, let progress):
      line.append("job_progress\"")
      field("job", id)
      field("done", progress.done)
      field("total", progress.total)
      field("unit", progress.unit.rawValue)
    case .jobLog(let id, let attempt, let text):
      line.append("job_log\"")
      field("job", id)
      field("stream", text.stream.rawValue)
      field("text", text.text)
      field("attempt", attempt)
      if text.isCut { field("cut", true) }
    case .cancelRequested(let id, let canceller, let isKill):
      line.append("cancel_requested\"")
      field("job", id)
      field("by", canceller.rawValue)
      field("kill", isKill)
    case .slotsChanged(let slots):
      line.append("slots_changed\"")
      field("slots", slots == Run.unlimited ? nil : slots)
    case .priorityChanged(let id, let priority):
      line.append("priority_changed\"")
      field("job", id)
      field("priority", priority.rawValue)
    case .drainChanged(let isDraining):
      line.append("drain_changed\"")
      field("draining", isDraining)
    case .stopRequested(let level, let canceller):
      line.append("stop_requested\"")
      field("level", level.rawValue)
      field("by", canceller.rawValue)
    case .runFinished(let summary): append(summary)
    }
    line.append("}\n")
  }

  private mutating func append(_ start: RunStart) {
    line.append("run_started\"")
    field("run", start.id)
    field("name", start.name)
    field("slots", start.slots == Run.unlimited ? nil : start.slots)
    field("at", Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(start.at))
    field("jobs", start.jobs)
    if !start.pools.isEmpty { field("pools", start.pools) }
    if let folder = start.folder { field("folder", folder) }
  }

  private mutating func append(_ id: JobID, _ job: Job) {
    line.append("job_added\"")
    field("job", id)
    field("kind", job.work.kind)
    key("needs")
    line.append("[")
    for (index, need) in job.needs.enumerated() {
      if index > 0 { line.append(",") }
      line.append("{\"job\":")
      append(nameOf: need.job)
      field("when", need.when.rawValue)
      line.append("}")
    }
    line.append("]")
    append(job.work)
    if job.priority != .normal { field("priority", job.priority.rawValue) }
    if !job.uses.isEmpty { field("uses", job.uses) }
    if let timeout = job.timeout { field("timeout", timeout) }
    if job.retry.max > 0 { field("retries", job.retry.max) }
    if job.allowFailure { field("allow_failure", true) }
  }

  /// Headers, environment and passwords in URLs are left out, because they are secrets.
  private mutating func append(_ work: JobWork) {
    switch work {
    case .shell(let shell):
      switch shell.command {
      case .script(let text): field("command", text)
      case .argv(let words):
        key("command")
        line.append("[")
        for (index, word) in words.enumerated() {
          if index > 0 { line.append(",") }
          line.append(quoted: word)
        }
        line.append("]")
      }
    case .download(let download):
      field("url", URLText.withoutPassword(download.url))
      field("file", download.file)
    case .upload(let upload):
      field("url", URLText.withoutPassword(upload.url))
      field("file", upload.file)
      field("method", upload.method)
    case .simulate(let work):
      field("duration", work.duration)
      field("steps", work.steps)
    case .operation(let work):
      field("class", work.className)
      field("seen", work.visibility.rawValue)
    }
  }

  private mutating func append(_ id: JobID, _ state: JobState, _ attempt: Int, _ pid: Int32?) {
    line.append("job_state\"")
    field("job", id)
    field("state", state.word)
    field("attempt", attempt)
    if let pid { field("pid", pid) }
    switch state {
    case .waiting, .executing: break
    case .ready(.slot): field("for", "slot")
    case .ready(.pool(let pool)):
      field("for", "pool")
      field("pool", pool)
    case .paused(let started): field("started", started)
    case .backingOff(let until, let number, let limit, let failure):
      append(failure)
      field("until", until)
      field("retry", number)
      field("retries", limit)
    case .succeeded(let upToDate): if upToDate { field("up_to_date", true) }
    case .failed(let failure, let allowed):
      append(failure)
      if allowed { field("allowed", true) }
    case .cancelled(let canceller): field("by", canceller.rawValue)
    case .skipped(let cause): field("because", cause)
    }
  }

  private mutating func append(_ failure: JobFailure) {
    field("reason", failure.reason)
    field("exit", failure.exit)
    field("cause", failure.cause.word)
    switch failure.cause {
    case .signal(let number): field("signal", number)
    case .http(let status): field("status", status)
    default: break
    }
  }

  private mutating func append(_ summary: RunSummary) {
    line.append("run_finished\"")
    field("succeeded", summary.succeeded)
    field("failed", summary.failed)
    field("skipped", summary.skipped)
    field("cancelled", summary.cancelled)
    field("exit", summary.exit)
    field("allowed", summary.allowed)
    field("left", summary.left)
  }
}

// Fields of an open object that has one already.
extension JSONReport {
  private mutating func key(_ name: String) {
    line.append(",\"")
    line.append(name)
    line.append("\":")
  }

  private mutating func field(_ name: String, _ value: String) {
    key(name)
    line.append(quoted: value)
  }

  private mutating func field(_ name: String, _ value: some BinaryInteger) {
    key(name)
    line.append(number: value)
  }

  private mutating func field(_ name: String, _ value: (some BinaryInteger)?) {
    key(name)
    if let value { line.append(number: value) } else { line.append("null") }
  }

  private mutating func field(_ name: String, _ value: Bool) {
    key(name)
    line.append(value ? "true" : "false")
  }

  private mutating func field(_ name: String, _ value: Duration) {
    key(name)
    line.append(seconds: value)
  }

  private mutating func field(_ name: String, _ job: JobID) {
    key(name)
    append(nameOf: job)
  }

  private mutating func field(_ name: String, _ counts: [String: Int]) {
    key(name)
    line.append("{")
    for (index, (name, count)) in counts.sorted(by: { $0.key < $1.key }).enumerated() {
      if index > 0 { line.append(",") }
      line.append(quoted: name)
      line.append(":")
      line.append(number: count)
    }
    line.append("}")
  }

  private mutating func append(nameOf id: JobID) {
    // A truncated recording may name a job that it doesn't add.
    if id.index < names.count { line += names[id.index] } else { line.append("null") }
  }
}

extension JobFailure.Cause {
  /// The word in `job_state` events.
  var word: String {
    switch self {
    case .exit: "exit"
    case .signal: "signal"
    case .launch: "launch"
    case .http: "http"
    case .network: "network"
    case .timedOut: "timeout"
    case .checksum: "checksum"
    case .file: "file"
    case .simulated: "simulated"
    case .error: "error"
    }
  }
}

private enum URLText {
  /// The URL with the password before its host replaced: `http://me:***@host/`.
  static func withoutPassword(_ url: String) -> String {
    guard let scheme = url.firstRange(of: "://") else { return url }
    let rest = url[scheme.upperBound...]
    let authority = rest.prefix { !"/?#".contains($0) }
    guard let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":") else { return url }
    return url[...colon] + "***" + url[at...]
  }
}
