import Basics

/// Writes events as NDJSON, version 1: one JSON object a line, as the events reference describes.
///
/// The order of the fields is fixed; optional fields without a value are left out. `EventReader` reads equal events back,
/// but for the secrets that `Job.stated` leaves out.
package struct EventWriter: Sendable {
  package static let version = 1

  private var names = JobNames()
  private var declared = 0
  /// The jobs added before all names are known, because a need may name a later job.
  private var held: [JobEvent] = []

  package init() {}

  package init(after run: Run) {
    for record in run.jobs { names.append(record.job.name) }
    declared = run.start?.jobs ?? 0
  }

  /// The number of jobs that have been added.
  package var jobs: Int { names.count }

  /// Appends the event's line; the jobs declared by the run are appended together, with the last of them.
  package mutating func append(_ event: JobEvent, to bytes: inout [UInt8]) {
    switch event.fact {
    case .jobAdded(_, let job):
      names.append(job.name)
      held.append(event)
      if names.count >= declared { release(to: &bytes) }
    case .runStarted(let start):
      declared = start.jobs
      write(event, to: &bytes)
    default:
      release(to: &bytes)
      write(event, to: &bytes)
    }
  }

  /// A job as an object with the fields of `job_added`.
  package struct JobObject: JSONValue {
    fileprivate let id: JobID
    fileprivate let job: Job
    fileprivate let writer: EventWriter

    package func append(to bytes: inout [UInt8]) {
      bytes.append("{")
      writer.appendAll(id, job, to: &bytes)
      bytes.append("}")
    }
  }

  /// Appends all fields of `job_added`.
  func appendAll(_ id: JobID, _ job: Job, to bytes: inout [UInt8]) {
    bytes.append(field: "job", job.name)
    let job = job.stated
    append(id, job, to: &bytes)
    appendLater(job, to: &bytes)
  }

  package static func objects(of jobs: [Job]) -> [JobObject] {
    var writer = EventWriter()
    for job in jobs { writer.names.append(job.name) }
    return jobs.enumerated().map { JobObject(id: JobID($0), job: $1, writer: writer) }
  }

  private mutating func release(to bytes: inout [UInt8]) {
    guard !held.isEmpty else { return }
    for event in held { write(event, to: &bytes) }
    held = []
  }

  private func write(_ event: JobEvent, to bytes: inout [UInt8]) {
    bytes.append("{")
    bytes.append(field: "v", Self.version)
    bytes.append(field: "seq", event.seq)
    bytes.append(field: "t", event.time)
    bytes.append(field: "type", event.fact.type.rawValue)
    if let job = event.fact.job { bytes.append(field: "job", orNull: names[job]) }
    var fact = event.fact
    if case .jobAdded(let id, let job) = fact { fact = .jobAdded(id, job.stated) }
    append(fact, to: &bytes)
    if let job = event.fact.job { bytes.append(field: "id", names.number(of: job)) }
    if case .jobAdded(_, let job) = fact { appendLater(job, to: &bytes) }
    if case .jobState(_, .skipped(.job(let cause)), _, _) = event.fact {
      bytes.append(field: "because_id", names.number(of: cause))
    }
    bytes.append("}\n")
  }

  private func append(_ fact: JobFact, to bytes: inout [UInt8]) {
    switch fact {
    case .runStarted(let start): append(start, to: &bytes)
    case .jobAdded(let id, let job): append(id, job, to: &bytes)
    case .jobState(_, let state, let attempt, let pid):
      bytes.append(field: "state", state.word)
      bytes.append(field: "attempt", attempt)
      bytes.append(field: "pid", pid)
      append(state, to: &bytes)
    case .jobLaunched(_, let pid): bytes.append(field: "pid", pid)
    case .jobRestored(_, let success): success.append(to: &bytes)
    case .jobCaused(_, let attempt, let text):
      bytes.append(field: "attempt", attempt)
      bytes.append(field: "cause", text)
    case .inputsHashed(_, let hash): bytes.append(field: "hash", hash)
    case .jobOutputs(_, let values): bytes.append(field: "values", values)
    case .jobPlaced(_, let place): place.append(to: &bytes)
    case .jobProgress(_, let progress): progress.append(to: &bytes)
    case .jobLog(_, let attempt, let line):
      bytes.append(field: "stream", line.stream.rawValue)
      bytes.append(field: "text", line.text)
      bytes.append(field: "attempt", attempt)
      appendMarks(of: line, to: &bytes)
    case .programLog(let line):
      bytes.append(field: "text", line.text)
      appendMarks(of: line, to: &bytes)
      bytes.append(field: "stream", line.stream == .stdout ? nil : line.stream.rawValue)
    case .cancelRequested(_, let canceller, let isKill):
      bytes.append(field: "by", canceller.rawValue)
      bytes.append(field: "kill", isKill)
    case .slotsChanged(let number): bytes.append(field: "slots", orNull: Self.slots(number))
    case .poolChanged(let name, let size):
      bytes.append(field: "pool", name)
      bytes.append(field: "size", size)
    case .clusterChanged(let fault): bytes.append(field: "fault", fault)
    case .arrivalsEnded: break
    case .priorityChanged(_, let priority): bytes.append(field: "priority", priority.rawValue)
    case .drainChanged(let isDraining): bytes.append(field: "draining", isDraining)
    case .watchChanged(let isOn, let fault):
      bytes.append(field: "watching", isOn)
      bytes.append(field: "fault", fault)
    case .stopRequested(let level, let canceller):
      bytes.append(field: "level", level.rawValue)
      bytes.append(field: "by", canceller.rawValue)
    case .warningRaised(let warning): append(warning, to: &bytes)
    case .warningCleared(let key): bytes.append(field: "warning", key.kind.rawValue)
    case .runFinished(let summary): append(summary, to: &bytes)
    }
  }

  /// The job that a line is about.
  func append(_ job: JobID, to bytes: inout [UInt8]) {
    bytes.append(field: "job", orNull: names[job])
    bytes.append(field: "id", names.number(of: job))
  }

  /// All fields of a warning but its first job.
  func append(_ warning: RunWarning, to bytes: inout [UInt8]) {
    bytes.append(field: "warning", warning.kind.rawValue)
    bytes.append(field: "evidence", warning.evidence)
    bytes.append(field: "advice", warning.advice)
    bytes.append(field: "since", warning.since)
    let others = warning.jobs.dropFirst().map { NamedJob(name: names[$0], number: names.number(of: $0)) }
    bytes.append(field: "others", others.isEmpty ? nil : others)
  }

  func append(_ start: RunStart, to bytes: inout [UInt8]) {
    bytes.append(field: "run", start.id)
    bytes.append(field: "name", start.name)
    bytes.append(field: "slots", orNull: Self.slots(start.slots))
    bytes.append(field: "at", start.at.eventText)
    bytes.append(field: "jobs", start.jobs)
    bytes.append(field: "pools", start.pools.isEmpty ? nil : start.pools)
    bytes.append(field: "folder", start.folder)
    bytes.append(field: "resumes", start.resumes)
    bytes.append(field: "timeout", start.timeout)
    bytes.append(field: "open", start.isOpen ? true : nil)
  }

  func append(_ summary: RunSummary, to bytes: inout [UInt8]) {
    bytes.append(field: "succeeded", summary.succeeded)
    bytes.append(field: "failed", summary.failed)
    bytes.append(field: "skipped", summary.skipped)
    bytes.append(field: "cancelled", summary.cancelled)
    bytes.append(field: "exit", summary.exit)
    bytes.append(field: "allowed", summary.allowed)
    bytes.append(field: "left", summary.left)
    bytes.append(field: "by_program", summary.cancelledByProgram == 0 ? nil : summary.cancelledByProgram)
  }

  private func append(_ id: JobID, _ job: Job, to bytes: inout [UInt8]) {
    bytes.append(field: "kind", job.work.kind)
    bytes.append(field: "needs", job.needs.map { NamedNeed($0, of: id, names) })
    switch job.work {
    case .shell(let shell):
      switch shell.command {
      case .script(let text): bytes.append(field: "command", text)
      case .argv(let words): bytes.append(field: "command", words)
      }
    case .download(let download):
      bytes.append(field: "url", download.url)
      bytes.append(field: "file", download.file)
    case .upload(let upload):
      bytes.append(field: "url", upload.url)
      bytes.append(field: "file", upload.file)
      bytes.append(field: "method", upload.method)
    case .simulate(let work):
      bytes.append(field: "duration", work.duration)
      bytes.append(field: "steps", work.steps)
    case .operation(let work):
      bytes.append(field: "class", work.className)
      bytes.append(field: "seen", work.visibility.rawValue)
    }
    bytes.append(field: "priority", job.priority == .normal ? nil : job.priority.rawValue)
    bytes.append(field: "uses", job.uses.isEmpty ? nil : job.uses)
    bytes.append(field: "timeout", job.timeout)
    bytes.append(field: "retries", job.retry.max > 0 ? job.retry.max : nil)
    bytes.append(field: "allow_failure", job.allowFailure ? true : nil)
    if let parent = job.parent { bytes.append(field: "parent", orNull: names[parent]) }
  }

  /// The newest fields of `job_added`, which follow `id`.
  private func appendLater(_ job: Job, to bytes: inout [UInt8]) {
    bytes.append(field: "parent_id", job.parent.flatMap(names.number))
    bytes.append(field: "description", job.description)
    switch job.work {
    case .shell(let shell):
      bytes.append(field: "dir", shell.directory)
      if shell.stop != ShellWork.Stop() {
        bytes.append(object: "stop") { bytes in
          bytes.append(field: "signal", shell.stop.signal)
          bytes.append(field: "grace", shell.stop.grace)
        }
      }
      bytes.append(field: "progress", shell.progress)
      bytes.append(field: "shell", shell.shell == ShellWork.standardShell ? nil : shell.shell)
      bytes.append(field: "tty", shell.hasTerminal ? true : nil)
      bytes.append(field: "stderr", shell.stderr == .together ? nil : shell.stderr.rawValue)
      bytes.append(field: "silence", shell.silence)
      if let cluster = shell.cluster { bytes.append(object: "slurm") { cluster.append(to: &$0) } }
      if let service = shell.service { bytes.append(object: "service") { service.append(to: &$0) } }
    case .download(let download):
      bytes.append(field: "sha256", download.sha256)
      bytes.append(field: "resume", download.resume ? nil : false)
      bytes.append(field: "existing", download.existing == .overwrite ? nil : download.existing.rawValue)
      bytes.append(field: "server_name", download.usesServerName ? true : nil)
      bytes.append(field: "stall", download.stall == DownloadWork.standardStall ? nil : download.stall)
    case .upload(let upload):
      bytes.append(field: "stall", upload.stall == DownloadWork.standardStall ? nil : upload.stall)
    case .simulate(let work):
      bytes.append(field: "fail_rate", work.failRate == 0 ? nil : work.failRate)
      bytes.append(field: "seed", work.seed == 0 ? nil : work.seed)
    case .operation(let work):
      bytes.append(field: "can_pause", work.canPause ? true : nil)
      bytes.append(field: "can_retry", work.canRetry ? true : nil)
    }
    if job.retry != RetryPolicy(max: job.retry.max) { append(job.retry, to: &bytes) }
    bytes.append(field: "creates", job.creates.isEmpty ? nil : job.creates)
    bytes.append(field: "inputs", job.inputs.isEmpty ? nil : job.inputs)
    bytes.append(field: "matrix", job.matrix)
    bytes.append(field: "if", job.condition?.text)
    bytes.append(field: "approve", job.approval)
    bytes.append(field: "finally", job.finally?.rawValue)
    bytes.append(field: "start", job.isManual ? "manual" : nil)
    guard let usual = job.usual else { return }
    bytes.append(object: "usual") { bytes in
      bytes.append(field: "p50", usual.median)
      bytes.append(field: "p90", usual.ninetieth)
      bytes.append(field: "runs", usual.count)
      bytes.append(field: "failures", usual.failures)
      bytes.append(field: "attempts", usual.attempts)
    }
  }

  private func append(_ policy: RetryPolicy, to bytes: inout [UInt8]) {
    bytes.append(object: "retry") { bytes in
      bytes.append(field: "backoff", policy.backoff.rawValue)
      bytes.append(field: "initial", policy.initial)
      bytes.append(field: "cap", policy.cap)
      bytes.append(field: "jitter", policy.jitter)
      bytes.append(field: "only", policy.only.map { $0.map(\.rawValue).sorted() })
      bytes.append(field: "exits", policy.exits.isEmpty ? nil : policy.exits.sorted())
      bytes.append(field: "output", policy.patterns.isEmpty ? nil : policy.patterns)
    }
  }

  func append(_ state: JobState, to bytes: inout [UInt8]) {
    switch state {
    case .waiting, .executing, .serving: break
    case .ready(.slot): bytes.append(field: "for", "slot")
    case .ready(.pool(let pool)):
      bytes.append(field: "for", "pool")
      bytes.append(field: "pool", pool)
    case .ready(.person): bytes.append(field: "for", "person")
    case .ready(.cluster(let reason)):
      bytes.append(field: "for", "cluster")
      bytes.append(field: "reason", reason)
    case .paused(let started): bytes.append(field: "started", started)
    case .backingOff(let until, let number, let limit, let failure):
      append(failure, to: &bytes)
      bytes.append(field: "until", until)
      bytes.append(field: "retry", number)
      bytes.append(field: "retries", limit)
      bytes.append(field: "retry_after", failure.retryAfter)
    case .succeeded(let upToDate): bytes.append(field: "up_to_date", upToDate ? true : nil)
    case .failed(let failure, let allowed):
      append(failure, to: &bytes)
      bytes.append(field: "allowed", allowed ? true : nil)
      bytes.append(field: "retry_after", failure.retryAfter)
    case .cancelled(let canceller): bytes.append(field: "by", canceller.rawValue)
    case .skipped(.job(let cause)): bytes.append(field: "because", orNull: names[cause])
    case .skipped(.condition): bytes.append(field: "for", "condition")
    case .skipped(.outcome): bytes.append(field: "for", "outcome")
    case .skipped(.unneeded): bytes.append(field: "for", "unneeded")
    case .skipped(.manual): bytes.append(field: "for", "manual")
    }
  }

  func append(_ failure: JobFailure, to bytes: inout [UInt8]) {
    bytes.append(field: "reason", failure.reason)
    bytes.append(field: "exit", orNull: failure.exit)
    bytes.append(field: "cause", failure.cause.word)
    switch failure.cause {
    case .signal(let number): bytes.append(field: "signal", number)
    case .http(let status): bytes.append(field: "status", status)
    default: break
    }
  }

  func appendMarks(of line: LogLine, to bytes: inout [UInt8]) {
    bytes.append(field: "cut", line.isCut ? true : nil)
    bytes.append(field: "unfinished", line.isUnfinished ? true : nil)
  }

  static func slots(_ number: Int) -> Int? { number == Run.unlimited ? nil : number }
}

extension EarlierSuccess {
  func append(to bytes: inout [UInt8]) {
    bytes.append(field: "run", run)
    bytes.append(field: "at", at.eventText)
    bytes.append(field: "took", took)
  }
}

extension ClusterPlace {
  func append(to bytes: inout [UInt8]) {
    bytes.append(field: "cluster_id", id)
    bytes.append(field: "nodes", nodes)
    bytes.append(field: "took", took)
    bytes.append(field: "before", before)
    bytes.append(field: "suspended", isSuspended ? true : nil)
  }
}

extension JobProgress {
  func append(to bytes: inout [UInt8]) {
    bytes.append(field: "done", done)
    bytes.append(field: "total", orNull: total)
    bytes.append(field: "unit", unit.rawValue)
  }
}

extension Service.Probe {
  fileprivate func append(to bytes: inout [UInt8]) {
    switch self {
    case .url(let url): bytes.append(field: "url", url.maskedURL)
    case .port(let host, let port):
      bytes.append(field: "host", host)
      bytes.append(field: "port", Int(port))
    case .command(.script(let text)): bytes.append(field: "command", text)
    case .command(.argv(let words)): bytes.append(field: "command", words)
    case .output(let pattern): bytes.append(field: "output", pattern)
    case .notification: bytes.append(field: "notify", true)
    }
  }
}

extension Service {
  fileprivate func append(to bytes: inout [UInt8]) {
    probe?.append(to: &bytes)
    bytes.append(field: "every", interval)
    bytes.append(field: "timeout", limit)
    bytes.append(field: "restart", restart.rawValue)
    guard let alive else { return }
    bytes.append(object: "alive") { bytes in
      alive.probe.append(to: &bytes)
      bytes.append(field: "every", alive.interval)
      bytes.append(field: "timeout", alive.limit)
      bytes.append(field: "failures", alive.failures)
    }
  }
}

extension ClusterRequest {
  fileprivate func append(to bytes: inout [UInt8]) {
    bytes.append(field: "name", name)
    bytes.append(field: "cpus", cpus)
    bytes.append(field: "memory", memory)
    bytes.append(field: "gpus", gpus)
    bytes.append(field: "nodes", nodes)
    bytes.append(field: "time", time)
    bytes.append(field: "partition", partition)
    bytes.append(field: "account", account)
    bytes.append(field: "qos", qos)
    bytes.append(field: "constraint", constraint)
    bytes.append(field: "options", options.isEmpty ? nil : options)
  }
}

/// One of several jobs of an event.
private struct NamedJob: JSONValue {
  let name: String?
  let number: Int?

  func append(to bytes: inout [UInt8]) {
    bytes.append("{")
    bytes.append(field: "job", orNull: name)
    bytes.append(field: "id", number)
    bytes.append("}")
  }
}

/// A need with the name of its job, and the number where a reader can't know the name yet or it is not enough.
private struct NamedNeed: JSONValue {
  let need: JobNeed
  let name: String?
  let number: Int?

  init(_ need: JobNeed, of job: JobID, _ names: JobNames) {
    self.need = need
    name = names[need.job]
    number = need.job > job ? need.job.index : names.number(of: need.job)
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append("{")
    bytes.append(field: "job", orNull: name)
    bytes.append(field: "when", need.when.rawValue)
    bytes.append(field: "id", number)
    bytes.append("}")
  }
}
