import Foundation
import JobModel

/// The settings of a job besides its work; `defaults` gives those of all jobs.
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
    var only: Set<RetryPolicy.Cause>?
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

  /// This policy, completed by `other`; maps are merged key by key.
  func over(_ other: JobPolicy) -> JobPolicy {
    var policy = self
    policy.timeout = timeout ?? other.timeout
    policy.retry = retry.map { $0.over(other.retry) } ?? other.retry
    policy.priority = priority ?? other.priority
    policy.allowFailure = allowFailure ?? other.allowFailure
    policy.uses.merge(other.uses) { own, _ in own }
    policy.environment.merge(other.environment) { own, _ in own }
    policy.directory = directory ?? other.directory
    policy.stop = Stop(signal: stop.signal ?? other.stop.signal, grace: stop.grace ?? other.stop.grace)
    policy.progress = progress ?? other.progress
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
      jitter: jitter ?? standard.jitter, only: only)
  }
}

extension JobPolicy {
  /// Reads the policy's keys from a map.
  init(_ entries: KnownKeys.Entries, _ values: ValueReader, directory: String) {
    func value(_ key: String) -> YAMLNode? { entries[key]?.value }

    timeout = value("timeout").flatMap { values.duration($0, "timeout", canBeZero: false) }
    retry = value("retry").flatMap { Self.retry($0, values) }
    priority = value("priority").flatMap {
      values.choice($0, "priority", as: JobPriority.self, others: Self.priorities)
    }
    allowFailure = value("allow_failure").flatMap { values.flag($0, "allow_failure") }
    uses = value("uses").map { Self.uses($0, values) } ?? [:]
    environment = value("env").map { Self.environment($0, "env", values) } ?? [:]
    self.directory = value("dir").flatMap { node in
      values.path(node, "dir", takes: "a folder").map { FilePath.absolute($0, in: directory) }
    }
    stop = value("stop").map { Self.stop($0, values) } ?? Stop()
    progress = value("progress").flatMap { Self.progress($0, values) }
  }

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
    retry.only = value("only").flatMap { causes($0, values) }
    // A wrong or misspelt max has been reported.
    if retry.max == nil, entries["max"] != nil || entries.hasUnknown { retry.max = 0 }
    return retry
  }

  private static func causes(_ node: YAMLNode, _ values: ValueReader) -> Set<RetryPolicy.Cause>? {
    let names = RetryPolicy.Cause.allCases.map(\.rawValue)
    let takes = "a list of \(names.joined(last: "or"))"
    guard let items = values.list(node, "retry.only", takes: takes, isSingleAllowed: true) else { return nil }
    if items.isEmpty {
      values.faults.add(node.place, "retry.only is empty, so nothing would be retried: it takes \(takes)")
    }
    return Set(items.compactMap { values.choice($0, "retry.only", as: RetryPolicy.Cause.self) })
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
      environment[entry.key] = values.text(entry.value, "\(name).\(Quoted.bare(entry.key))", takes: "text")
    }
    return environment
  }

  private static let signals: [(name: String, number: Int32)] = [
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

  /// Reads a regular expression; `${…}` is not expanded in it.
  private static func progress(_ node: YAMLNode, _ values: ValueReader) -> String? {
    let takes = "a regular expression with one group (per cent) or two (done, total)"
    guard case .scalar(let pattern, _) = node.content, !node.isNull else {
      return values.faults.fail(node.place, "progress takes \(takes); this is \(node.words)")
    }
    guard let expression = try? NSRegularExpression(pattern: pattern) else {
      let subject = "\(Quoted.text(pattern)) is no regular expression"
      guard let fault = PatternFault(in: pattern) else {
        return values.faults.fail(
          node.place, "\(subject): write \\ before a character that stands for itself, as in '\\['")
      }
      // Where the pattern is written as it is, the fault has a place of its own.
      let written = values.faults.source.place(of: pattern, count: 0, from: node.place, to: node.end)
      let place = written.map { Place(line: $0.line, column: $0.column + fault.offset) }
      return values.faults.fail(place ?? node.place, "\(subject): \(fault.message)")
    }
    let groups = expression.numberOfCaptureGroups
    guard (1...2).contains(groups) else {
      let mend =
        groups == 0 ? "put the number in brackets, as in '(\\d+)%'" : "write (?:…) for those that are no number"
      return values.faults.fail(node.place, "progress takes \(takes); this one has \(groups): \(mend)")
    }
    return pattern
  }
}

extension ValueReader {
  /// A path as written; `~`, which is not expanded, is a fault.
  func path(_ node: YAMLNode, _ name: String, takes: String) -> String? {
    if case .scalar("~", isPlain: true) = node.content {
      return faults.fail(node.place, "\(name) takes \(takes); '~' is an empty value in YAML: write ${env.HOME}")
    }
    guard let path = line(node, name, takes: takes) else { return nil }
    guard path != "~", !path.hasPrefix("~/") else {
      return faults.fail(
        node.place, "\(name): '~' is not expanded here: write ${env.HOME}\(Quoted.bare(String(path.dropFirst())))")
    }
    return path
  }
}
