import Foundation
import JobModel

/// The settings of a job besides its work; `defaults` has the settings of all jobs.
struct JobPolicy {
  /// A number of units of a pool, and its place in the file.
  struct Use {
    var amount: Int
    var place: Place
  }

  struct Retry {
    var place: Place
    var max: Int?
    var backoff: RetryPolicy.Backoff?
    var initial: Duration?
    var cap: Duration?
    var jitter: Bool?
    var only: RetryCauses?
  }

  struct Stop {
    var signal: Int32?
    var grace: Duration?
  }

  var timeout: Duration?
  var retry: Retry?
  var priority: JobPriority?
  var allowFailure: Bool?
  var uses: [String: Use] = [:]
  var environment: [String: String] = [:]
  var directory: String?
  var stop = Stop()
  var progress: String?
  /// The words of the command line before a script.
  var shell: [String]?
  /// The place of the job's own `shell`.
  var shellPlace: Place?
  var hasTerminal: Bool?
  var stderr: ShellWork.Stderr?
  var silence: Duration?
  /// Of a transfer.
  var stall: Duration?
  var engine: Engine?
  var terms = ClusterTerms()
  /// The places of the keys of `slurm`.
  var termPlaces: [String: Place] = [:]
  /// A job's value of `service`, unless that is false.
  var service: YAMLNode?
  var approval: String?

  /// This policy, completed by `other`; maps are merged key by key.
  func over(_ other: JobPolicy) -> JobPolicy {
    var policy = self
    // A service has no end that these would be the limits of.
    policy.timeout = timeout ?? (service == nil ? other.timeout : nil)
    policy.silence = silence ?? (service == nil ? other.silence : nil)
    policy.stall = stall ?? other.stall
    policy.retry = retry.map { $0.over(other.retry) } ?? other.retry
    policy.priority = priority ?? other.priority
    policy.allowFailure = allowFailure ?? other.allowFailure
    policy.uses.merge(other.uses) { own, _ in own }
    policy.environment.merge(other.environment) { own, _ in own }
    policy.directory = directory ?? other.directory
    policy.stop = Stop(signal: stop.signal ?? other.stop.signal, grace: stop.grace ?? other.stop.grace)
    policy.progress = progress ?? other.progress
    policy.shell = shell ?? other.shell
    policy.hasTerminal = hasTerminal ?? other.hasTerminal
    policy.stderr = stderr ?? other.stderr
    policy.engine = engine ?? other.engine
    policy.terms = terms.over(other.terms)
    policy.termPlaces.merge(other.termPlaces) { own, _ in own }
    return policy
  }
}

extension JobPolicy.Retry {
  func over(_ other: JobPolicy.Retry?) -> JobPolicy.Retry {
    guard let other else { return self }
    return JobPolicy.Retry(
      place: place, max: max ?? other.max, backoff: backoff ?? other.backoff, initial: initial ?? other.initial,
      cap: cap ?? other.cap, jitter: jitter ?? other.jitter, only: only ?? other.only)
  }

  /// The policy for the engine; a default cap never cuts the initial delay.
  func policy(_ faults: FaultLog) -> RetryPolicy {
    guard let max else {
      faults.add(place, "retry has no max: say how many retries may follow the first attempt, as in 'max: 2'")
      return .never
    }
    let standard = RetryPolicy(max: max)
    let initial = initial ?? cap.map { Swift.min($0, standard.initial) } ?? standard.initial
    if let cap, initial > cap {
      faults.add(
        place,
        "retry.initial (\(DurationText.exact(initial))) is longer than retry.cap (\(DurationText.exact(cap))): "
          + "raise cap or lower initial")
    }
    return RetryPolicy(
      max: max, backoff: backoff ?? standard.backoff, initial: initial, cap: cap ?? Swift.max(initial, standard.cap),
      jitter: jitter ?? standard.jitter, only: only?.causes, exits: only?.exits ?? [], patterns: only?.patterns ?? [])
  }
}

extension JobPolicy {
  /// Reads the policy's keys from a map.
  init(_ entries: KnownKeys.Entries, _ values: ValueReader) {
    func value(_ key: String) -> YAMLNode? { entries[key]?.value }

    timeout = value("timeout").flatMap { values.duration($0, "timeout", canBeZero: false) }
    retry = value("retry").flatMap { Self.retry($0, values) }
    priority = value("priority").flatMap {
      values.choice($0, "priority", as: JobPriority.self, others: Self.priorities)
    }
    allowFailure = value("allow_failure").flatMap { values.flag($0, "allow_failure") }
    uses = value("uses").map { Self.uses($0, values) } ?? [:]
    environment = value("env").map { Self.environment($0, "env", values) } ?? [:]
    directory = value("dir").flatMap { node in
      values.path(node, "dir", takes: "a folder", allowing: .outputs).map { values.absolute($0, at: node.place) }
    }
    stop = value("stop").map { Self.stop($0, values) } ?? Stop()
    progress = value("progress").flatMap { Self.progress($0, values) }
    shell = value("shell").flatMap { ShellName.read($0, values) }
    shellPlace = entries["shell"]?.place
    hasTerminal = value("tty").flatMap { values.flag($0, "tty") }
    stderr = value("stderr").flatMap { values.choice($0, "stderr", as: ShellWork.Stderr.self, others: Self.streams) }
    silence = value("silence").flatMap { values.duration($0, "silence", canBeZero: false) }
    stall = value("stall").flatMap { values.duration($0, "stall", canBeZero: true) }
    approval = value("approve").flatMap { values.question($0, "approve") }
    service = value("service").flatMap { Self.service($0, values) }
    let cluster = ClusterReader(values: values)
    engine = value("on").flatMap { cluster.engine($0) }
    if let node = value("slurm") { (terms, termPlaces) = cluster.terms(node) }
    if hasTerminal == true, stderr == .apart, let entry = entries["stderr"] {
      values.faults.add(entry.place, "a terminal has one stream, so 'stderr' can't be apart: delete it, or 'tty'")
    }
    if service != nil { checkService(entries, values.faults) }
    if engine == .slurm { checkCluster(entries, values.faults) }
  }

  /// A value of `service` that makes the job one; nil also after a fault.
  private static func service(_ node: YAMLNode, _ values: ValueReader) -> YAMLNode? {
    guard case .scalar(let text, _) = node.content else { return node }
    if text.contains("://") {
      return values.faults.fail(
        node.place, "service takes true, or a map; this is \(node.words): write 'service: { ready: … }' for its URL")
    }
    guard !node.isNull else {
      return values.faults.fail(
        node.place, "service takes true, or a map as \(JobFileKeys.service.example); this is empty")
    }
    return values.flag(node, "service") == true ? node : nil
  }

  /// Reports the job's own settings that a service can't have.
  private func checkService(_ entries: KnownKeys.Entries, _ faults: FaultLog) {
    if let entry = entries["timeout"] {
      faults.add(
        entry.place,
        "a service runs while others need it, and 'timeout' would end it: write service.ready.timeout for how long it may "
          + "take until it can be used")
    }
    for key in JobFileKeys.files {
      if let entry = entries[key] {
        faults.add(entry.place, "a service always starts, so it has no '\(key)': delete it")
      }
    }
    if let entry = entries["progress"] {
      faults.warn(entry.place, "a service has no end, so 'progress' shows nothing of use: delete it")
    }
  }

  /// Reports keys that a cluster job can't have.
  private func checkCluster(_ entries: KnownKeys.Entries, _ faults: FaultLog) {
    if service != nil, let entry = entries["on"] {
      faults.add(
        entry.place, "a service runs on this machine, beside the jobs that need it, so it can't be on slurm: delete it")
    }
    if hasTerminal == true, let entry = entries["tty"] {
      faults.add(entry.place, "a job of a cluster has no terminal: delete 'tty', or write 'on: local'")
    }
  }

  private static let streams = [
    "merged": "together", "stdout": "together", "combined": "together", "joined": "together", "separate": "apart",
    "split": "apart", "stderr": "apart",
  ]

  /// The priorities of other tools.
  private static let priorities = [
    "urgent": "very-high", "highest": "very-high", "critical": "very-high", "top": "very-high", "max": "very-high",
    "important": "high", "medium": "normal", "default": "normal", "standard": "normal", "lowest": "very-low",
    "idle": "very-low", "min": "very-low", "background": "very-low",
  ]

  private static func retry(_ node: YAMLNode, _ values: ValueReader) -> Retry? {
    let mostRetries = 1_000_000
    if case .scalar = node.content {
      return values.whole(node, "retry", in: 0...mostRetries).map { Retry(place: node.place, max: $0) }
    }
    guard let entries = JobFileKeys.retry.read(node, faults: values.faults) else { return nil }
    func value(_ key: String) -> YAMLNode? { entries[key]?.value }
    var retry = Retry(place: node.place)
    retry.max = value("max").flatMap { values.whole($0, "retry.max", in: 0...mostRetries) }
    retry.backoff = value("backoff").flatMap {
      values.choice(
        $0, "retry.backoff", as: RetryPolicy.Backoff.self,
        others: ["linear": "constant", "fixed": "constant", "none": "constant", "double": "exponential"])
    }
    retry.initial = value("initial").flatMap { values.duration($0, "retry.initial", canBeZero: true) }
    retry.cap = value("cap").flatMap { values.duration($0, "retry.cap", canBeZero: true) }
    retry.jitter = value("jitter").flatMap { values.flag($0, "retry.jitter") }
    retry.only = value("only").flatMap { RetryCauses($0, values) }
    // A wrong or misspelt max has been reported.
    if retry.max == nil, entries["max"] != nil || entries.hasUnknown { retry.max = 0 }
    return retry
  }

  private static func uses(_ node: YAMLNode, _ values: ValueReader) -> [String: Use] {
    let takes = "a map of pools to how many units the job takes of each"
    if let names = names(node), !names.isEmpty {
      let map = names.map { "\(Quoted.bare($0)): 1" }.joined(separator: ", ")
      return values.faults.fail(node.place, "uses takes \(takes); this is \(node.words): write '{ \(map) }'") ?? [:]
    }
    var uses: [String: Use] = [:]
    for entry in values.map(node, "uses", takes: takes) ?? [] where uses[entry.key] == nil {
      guard let amount = values.whole(entry.value, "uses.\(Quoted.bare(entry.key))", in: 0 ... .max) else { continue }
      uses[entry.key] = Use(amount: amount, place: entry.place)
    }
    return uses
  }

  /// The texts of a list, or a text; nil for anything else.
  private static func names(_ node: YAMLNode) -> [String]? {
    switch node.content {
    case .scalar(let text, _): return node.isNull ? nil : [text]
    case .list(let items):
      return items.compactMap { if case .scalar(let text, _) = $0.content { text } else { nil } }
    case .map: return nil
    }
  }

  /// Reads environment variables for `run` jobs.
  static func environment(_ node: YAMLNode, _ name: String, _ values: ValueReader) -> [String: String] {
    var environment: [String: String] = [:]
    let takes = "a map of names to values"
    for entry in values.map(node, name, takes: takes) ?? [] where environment[entry.key] == nil {
      let isName =
        !entry.key.isEmpty && !entry.key.contains("=")
        && !entry.key.unicodeScalars.contains { $0.properties.isWhitespace || ValueReader.isUnprintable($0) }
      guard isName else {
        values.faults.add(
          entry.place,
          "\(Quoted.text(entry.key)) can't name an environment variable: it may hold no '=', blank or control character"
        )
        continue
      }
      guard !entry.value.isNull else {
        values.faults.add(
          entry.value.place,
          "\(name).\(Quoted.bare(entry.key)) is empty\(values.mend(for: entry.value, otherwise: ": write \"\" for an empty value"))"
        )
        continue
      }
      guard
        let value = values.text(
          entry.value, "\(name).\(Quoted.bare(entry.key))", takes: "text", allowing: .outputs)
      else { continue }
      environment[entry.key] = value
      values.variables.noteSecret(value, of: entry.key, at: entry.value.place)
    }
    return environment
  }

  static let signals: [(name: String, number: Int32)] = [
    ("TERM", SIGTERM), ("INT", SIGINT), ("HUP", SIGHUP), ("QUIT", SIGQUIT), ("KILL", SIGKILL), ("USR1", SIGUSR1),
    ("USR2", SIGUSR2), ("ABRT", SIGABRT), ("ALRM", SIGALRM),
  ]

  private static func stop(_ node: YAMLNode, _ values: ValueReader) -> Stop {
    guard let entries = JobFileKeys.stop.read(node, faults: values.faults) else { return Stop() }
    var stop = Stop()
    let names = signals.map(\.name)
    let takes = "\(names.joined(last: "or"))"
    if let node = entries["signal"]?.value, let text = values.text(node, "stop.signal", takes: takes) {
      let upper = text.uppercased()
      let name = upper.hasPrefix("SIG") ? String(upper.dropFirst(3)) : upper
      stop.signal = signals.first { $0.name == name }?.number
      if stop.signal == nil {
        let numbered = signals.first { String($0.number) == text }
        let hint = numbered.map { ": write \($0.name)" } ?? NearestName.hint(for: name, in: names)
        values.faults.add(node.place, "stop.signal takes \(takes); this is \(Quoted.text(text))\(hint)")
      }
    }
    stop.grace = entries["grace"].flatMap { values.duration($0.value, "stop.grace", canBeZero: true) }
    return stop
  }

  /// Reads the regular expression of `progress`.
  private static func progress(_ node: YAMLNode, _ values: ValueReader) -> String? {
    let takes = "a regular expression with one group (per cent) or two (done, total)"
    guard let pattern = values.pattern(node, "progress", takes: takes) else { return nil }
    let groups = (try? NSRegularExpression(pattern: pattern))?.numberOfCaptureGroups ?? 0
    guard (1...2).contains(groups) else {
      let mend =
        groups == 0 ? "put the number in brackets, as in '(\\d+)%'" : "write (?:…) for those that are no number"
      return values.faults.fail(node.place, "progress takes \(takes); this one has \(groups): \(mend)")
    }
    return pattern
  }
}
