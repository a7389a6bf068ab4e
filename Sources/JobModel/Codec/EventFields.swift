import Foundation

// Decodes the values of an event from its fields, which have the names that `EventWriter` writes.

extension JSONFields {
  /// Null where the queue has no limit.
  func slots() throws(JSONFault) -> Int {
    guard has("slots") else { return try count("slots") }
    return try count(ifAny: "slots") ?? Run.unlimited
  }

  func date(_ name: String) throws(JSONFault) -> Date {
    let text = try text(name)
    guard let date = Date(eventText: text) else {
      throw JSONFault("'\(name)' must be a time such as 2026-01-01T00:00:00.250Z")
    }
    return date
  }
}

extension RunStart {
  init(_ fields: JSONFields) throws(JSONFault) {
    self.init(
      id: try fields.text("run"), name: try fields.text("name"), slots: try fields.slots(), at: try fields.date("at"),
      jobs: try fields.count("jobs"), pools: try fields.counts(ifAny: "pools"),
      folder: try fields.text(ifAny: "folder"),
      resumes: try fields.text(ifAny: "resumes"), timeout: try fields.duration(ifAny: "timeout"),
      isOpen: try fields.flag(ifAny: "open") ?? false)
  }
}

extension EarlierSuccess {
  init(_ fields: JSONFields) throws(JSONFault) {
    self.init(run: try fields.text("run"), at: try fields.date("at"), took: try fields.duration("took"))
  }
}

extension JobProgress {
  init(_ fields: JSONFields) throws(JSONFault) {
    self.init(
      done: try fields.required("done", fields.whole(ifAny: "done", in: 0...Int64.max)),
      total: try fields.whole(ifAny: "total", in: 0...Int64.max), unit: try fields.word("unit"))
  }
}

extension LogLine {
  init(_ fields: JSONFields, _ stream: Stream) throws(JSONFault) {
    self.init(
      stream, try fields.text("text"), isCut: try fields.flag(ifAny: "cut") ?? false,
      isUnfinished: try fields.flag(ifAny: "unfinished") ?? false)
  }
}

extension RunSummary {
  init(_ fields: JSONFields) throws(JSONFault) {
    self.init()
    succeeded = try fields.count("succeeded")
    failed = try fields.count("failed")
    skipped = try fields.count("skipped")
    cancelled = try fields.count("cancelled")
    exit = try fields.required("exit", fields.whole(ifAny: "exit", in: Int32.min...Int32.max))
    allowed = try fields.count("allowed")
    left = try fields.count("left")
    cancelledByProgram = try fields.count(ifAny: "by_program") ?? 0
  }
}

extension JobFailure {
  init(_ fields: JSONFields) throws(JSONFault) {
    self.init(
      try Cause(fields), try fields.text("reason"), retryAfter: try fields.duration(ifAny: "retry_after"))
  }
}

extension JobFailure.Cause {
  fileprivate init(_ fields: JSONFields) throws(JSONFault) {
    func number(_ name: String) throws(JSONFault) -> Int32 {
      try fields.required(name, fields.whole(ifAny: name, in: Int32.min...Int32.max))
    }
    let word = try fields.text("cause")
    switch word {
    case "exit": self = .exit(try number("exit"))
    case "signal": self = .signal(try number("signal"))
    case "http": self = .http(try fields.count("status"))
    default:
      guard let cause = Self.plain.first(where: { $0.word == word }) else { throw fields.unknown("cause", word) }
      self = cause
    }
  }

  /// The causes that are their word.
  private static let plain: [Self] = [
    .launch, .network, .timedOut, .checksum, .file, .simulated, .error, .approval, .outOfMemory, .timeLimit,
    .nodeFailure, .preempted, .lost,
  ]
}

extension Job {
  /// Everything but the name, the work and the references to other jobs.
  mutating func read(_ fields: JSONFields) throws(JSONFault) {
    description = try fields.text(ifAny: "description")
    priority = try fields.word(ifAny: "priority") ?? .normal
    uses = try fields.counts(ifAny: "uses")
    timeout = try fields.duration(ifAny: "timeout")
    retry = try RetryPolicy(fields)
    allowFailure = try fields.flag(ifAny: "allow_failure") ?? false
    creates = try fields.texts(ifAny: "creates") ?? []
    inputs = try fields.texts(ifAny: "inputs") ?? []
    matrix = try fields.text(ifAny: "matrix")
    condition = try fields.text(ifAny: "if").map { JobCondition($0) }
    approval = try fields.text(ifAny: "approve")
    finally = try fields.word(ifAny: "finally")
    switch try fields.text(ifAny: "start") {
    case nil: break
    case "manual": isManual = true
    case let word?: throw fields.unknown("start", word)
    }
    usual = try fields.object(ifAny: "usual").map { fields throws(JSONFault) in try UsualTime(fields) }
  }
}

extension RetryPolicy {
  fileprivate init(_ fields: JSONFields) throws(JSONFault) {
    self.init(max: try fields.count(ifAny: "retries") ?? 0)
    guard let fields = try fields.object(ifAny: "retry") else { return }
    backoff = try fields.word("backoff")
    initial = try fields.duration("initial")
    cap = try fields.duration("cap")
    jitter = try fields.flag("jitter")
    patterns = try fields.texts(ifAny: "output") ?? []
    for item in try fields.list(ifAny: "exits") ?? [] {
      guard case .number(let text) = item, let code = Int32(text) else {
        throw JSONFault("'exits' must be a list of whole numbers")
      }
      exits.insert(code)
    }
    guard let words = try fields.texts(ifAny: "only") else { return }
    only = []
    for word in words {
      guard let cause = Cause(rawValue: word) else { throw fields.unknown("only", word) }
      only?.insert(cause)
    }
  }
}

extension UsualTime {
  fileprivate init(_ fields: JSONFields) throws(JSONFault) {
    self.init(
      median: try fields.duration("p50"), ninetieth: try fields.duration("p90"), count: try fields.count("runs"),
      failures: try fields.count("failures"), attempts: try fields.count("attempts"))
  }
}

extension JobWork {
  init(_ fields: JSONFields) throws(JSONFault) {
    let kind = try fields.text("kind")
    switch kind {
    case "shell": self = .shell(try ShellWork(fields))
    case "download":
      self = .download(
        DownloadWork(
          url: try fields.text("url"), file: try fields.text("file"), sha256: try fields.text(ifAny: "sha256"),
          resume: try fields.flag(ifAny: "resume") ?? true, existing: try fields.word(ifAny: "existing") ?? .overwrite,
          usesServerName: try fields.flag(ifAny: "server_name") ?? false,
          stall: try fields.duration(ifAny: "stall") ?? DownloadWork.standardStall))
    case "upload":
      self = .upload(
        UploadWork(
          file: try fields.text("file"), url: try fields.text("url"), method: try fields.text("method"),
          stall: try fields.duration(ifAny: "stall") ?? DownloadWork.standardStall))
    case "simulate":
      self = .simulate(
        SimulatedWork(
          duration: try fields.duration("duration"), steps: try fields.count("steps"),
          failRate: try fields.number(ifAny: "fail_rate") ?? 0,
          seed: try fields.whole(ifAny: "seed", in: 0...UInt64.max) ?? 0))
    case "operation", "foreign":
      self = .operation(
        OperationWork(
          className: try fields.text("class"), visibility: try fields.word("seen"),
          canPause: try fields.flag(ifAny: "can_pause") ?? false,
          canRetry: try fields.flag(ifAny: "can_retry") ?? false))
    default: throw fields.unknown("kind", kind)
    }
  }
}

extension ShellWork {
  fileprivate init(_ fields: JSONFields) throws(JSONFault) {
    let command = try Command(fields)
    self.init(
      command, directory: try fields.text(ifAny: "dir"), progress: try fields.text(ifAny: "progress"),
      shell: try fields.texts(ifAny: "shell") ?? Self.standardShell,
      hasTerminal: try fields.flag(ifAny: "tty") ?? false, stderr: try fields.word(ifAny: "stderr") ?? .together,
      silence: try fields.duration(ifAny: "silence"),
      service: try fields.object(ifAny: "service").map { fields throws(JSONFault) in try Service(fields) },
      cluster: try fields.object(ifAny: "slurm").map { fields throws(JSONFault) in try ClusterRequest(fields) })
    guard let stop = try fields.object(ifAny: "stop") else { return }
    self.stop = Stop(
      signal: try fields.required("signal", stop.whole(ifAny: "signal", in: 0...Int32.max)),
      grace: try stop.duration("grace"))
  }
}

extension ClusterRequest {
  fileprivate init(_ fields: JSONFields) throws(JSONFault) {
    self.init(
      name: try fields.text(ifAny: "name"), cpus: try fields.count(ifAny: "cpus"),
      memory: try fields.count(ifAny: "memory"), gpus: try fields.count(ifAny: "gpus"),
      nodes: try fields.count(ifAny: "nodes"), time: try fields.duration(ifAny: "time"),
      partition: try fields.text(ifAny: "partition"), account: try fields.text(ifAny: "account"),
      qos: try fields.text(ifAny: "qos"), constraint: try fields.text(ifAny: "constraint"),
      options: try fields.texts(ifAny: "options") ?? [])
  }
}

extension ClusterPlace {
  init(_ fields: JSONFields) throws(JSONFault) {
    self.init(
      id: try fields.text("cluster_id"), nodes: try fields.text(ifAny: "nodes"),
      took: try fields.duration(ifAny: "took"), before: try fields.duration(ifAny: "before"),
      isSuspended: try fields.flag(ifAny: "suspended") ?? false)
  }
}

extension ShellWork.Command {
  /// A string is a script, a list the words of a program.
  fileprivate init(_ fields: JSONFields) throws(JSONFault) {
    if let words = try? fields.texts(ifAny: "command") {
      self = .argv(words)
    } else {
      self = .script(try fields.text("command"))
    }
  }
}

extension Service.Probe {
  /// Nil without a field of a probe.
  fileprivate init?(_ fields: JSONFields) throws(JSONFault) {
    if let url = try fields.text(ifAny: "url") {
      self = .url(url)
    } else if let port = try fields.whole(ifAny: "port", in: 0...UInt16.max) {
      self = .port(host: try fields.text("host"), port)
    } else if fields.has("command") {
      self = .command(try ShellWork.Command(fields))
    } else if let pattern = try fields.text(ifAny: "output") {
      self = .output(pattern)
    } else if try fields.flag(ifAny: "notify") == true {
      self = .notification
    } else {
      return nil
    }
  }
}

extension Service {
  fileprivate init(_ fields: JSONFields) throws(JSONFault) {
    self.init(
      probe: try Probe(fields), interval: try fields.duration("every"), limit: try fields.duration("timeout"),
      restart: try fields.word("restart"),
      alive: try fields.object(ifAny: "alive").map { fields throws(JSONFault) in try Liveness(fields) })
  }
}

extension Service.Liveness {
  fileprivate init(_ fields: JSONFields) throws(JSONFault) {
    guard let probe = try Service.Probe(fields) else { throw JSONFault("'alive' says nothing to probe") }
    self.init(probe)
    interval = try fields.duration("every")
    limit = try fields.duration("timeout")
    failures = try fields.count("failures")
  }
}
