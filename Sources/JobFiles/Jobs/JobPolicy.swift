import Basics
import Foundation
import JobModel

/// The settings of a job besides its work.
///
/// A job's keys are read into a copy of the defaults, and the defaults into a copy of the file's settings.
struct JobPolicy {
  /// A number of units of a pool, and its place in the file.
  struct Use {
    var amount: Int
    var place: Place
  }

  struct Retry {
    static let range = 0...1_000_000

    var place: Place
    var max: Int?
    var backoff: RetryPolicy.Backoff?
    var initial: Duration?
    var cap: Duration?
    var jitter: Bool?
    var only: RetryCauses?
  }

  var timeout: Duration?
  var retry: Retry?
  var priority = JobPriority.normal
  var allowFailure = false
  var uses: [String: Use] = [:]
  var environment: [String: String] = [:]
  var directory: String?
  var stop = ShellWork.Stop()
  var progress: String?
  /// The words of the command line before a script.
  var shell = ShellWork.standardShell
  /// The place of the job's own `shell`.
  var shellPlace: Place?
  var hasTerminal: Bool?
  var jobserver: ShellWork.Jobserver?
  var stderr: ShellWork.Stderr?
  var silence: Duration?
  /// Of a transfer.
  var stall = DownloadWork.standardStall
  var engine: Engine?
  var clusterRequest = ClusterRequest()
  /// The places of the requested cluster resources.
  var resourcePlaces: [String: Place] = [:]
  /// A job's value of `service`, unless that is false.
  var service: YAMLNode?
}

/// The value of `retry.only`: the failures that are followed by a retry.
struct RetryCauses {
  /// Nil if there are none.
  var causes: Set<RetryPolicy.Cause>?
  var exits: Set<Int32> = []
  var patterns: [String] = []
}

/// The settings of a job file beside its jobs.
struct FileSettings {
  var graph: JobGraph
  /// The settings of all jobs, before the defaults and the jobs are read.
  var policy = JobPolicy()
  /// The places of the requested cluster resources.
  var resourcePlaces: [String: Place] = [:]
  /// The sizes of the pools; nil for one with a fault.
  var pools: [String: Int?] = [:]
}

extension JobPolicy.Retry {
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
  /// Reports settings of one map that contradict each other.
  func check(_ entries: KnownEntries, _ faults: FaultLog) {
    if entries["tty"] != nil, hasTerminal == true, stderr == .apart, let entry = entries["stderr"] {
      faults.add(entry.place, "a terminal has one stream, so 'stderr' can't be apart: delete it, or 'tty'")
    }
    if service != nil { checkService(entries, faults) }
    if entries["on"] != nil, engine == .cluster { checkCluster(entries, faults) }
  }

  /// Reports the job's own settings that a service can't have.
  private func checkService(_ entries: KnownEntries, _ faults: FaultLog) {
    if let entry = entries["timeout"] {
      faults.add(
        entry.place,
        "a service runs while others need it, and 'timeout' would end it: write service.ready.timeout for how long it may "
          + "take until it can be used")
    }
    if let entry = entries["creates"] {
      faults.add(entry.place, "a service always starts, so it has no 'creates': delete it")
    }
    if let entry = entries["progress"] {
      faults.warn(entry.place, "a service has no end, so 'progress' shows nothing of use: delete it")
    }
  }

  /// Reports keys that a cluster job can't have.
  private func checkCluster(_ entries: KnownEntries, _ faults: FaultLog) {
    if service != nil, let entry = entries["on"] {
      faults.add(
        entry.place, "a service runs on this machine, beside the jobs that need it, so it can't be on slurm: delete it")
    }
    if jobserver ?? .none != .none, let entry = entries["jobserver"] {
      faults.add(
        entry.place, "a job of a cluster has no slot here to share: delete 'jobserver', or write 'on: local'")
    }
    if hasTerminal == true, let entry = entries["tty"] {
      faults.add(entry.place, "a job of a cluster has no terminal: delete 'tty', or write 'on: local'")
    }
  }
}

extension ValueReader {
  func uses(_ node: YAMLNode) -> [String: JobPolicy.Use] {
    let takes = "a map of pools to how many units the job takes of each"
    if let names = self.names(node), !names.isEmpty {
      let map = names.map { "\(Quoted.bare($0)): 1" }.joined(separator: ", ")
      return faults.fail(node.place, "uses takes \(takes); this is \(node.words): write '{ \(map) }'") ?? [:]
    }
    var uses: [String: JobPolicy.Use] = [:]
    for entry in map(node, "uses", takes: takes) ?? [] where uses[entry.key] == nil {
      guard let amount = whole(entry.value, "uses.\(Quoted.bare(entry.key))", in: 0 ... .max) else { continue }
      uses[entry.key] = JobPolicy.Use(amount: amount, place: entry.place)
    }
    return uses
  }

  /// The texts of a list, or a text; nil for anything else.
  private func names(_ node: YAMLNode) -> [String]? {
    switch node.content {
    case .scalar(let text, _): return node.isNull ? nil : [text]
    case .list(let items):
      return items.compactMap { if case .scalar(let text, _) = $0.content { text } else { nil } }
    case .map: return nil
    }
  }

  func environment(_ node: YAMLNode, _ name: String) -> [String: String] {
    var environment: [String: String] = [:]
    let takes = "a map of names to values"
    for entry in map(node, name, takes: takes) ?? [] where environment[entry.key] == nil {
      let isName =
        !entry.key.isEmpty && !entry.key.holds("=")
        && !entry.key.unicodeScalars.contains { $0.properties.isWhitespace || $0.isUnprintable }
      guard isName else {
        faults.add(
          entry.place,
          "\(Quoted.text(entry.key)) can't name an environment variable: it may hold no '=', blank or control character"
        )
        continue
      }
      guard !entry.value.isNull else {
        faults.add(
          entry.value.place,
          "\(name).\(Quoted.bare(entry.key)) is empty\(advice(for: entry.value, otherwise: ": write \"\" for an empty value"))"
        )
        continue
      }
      guard
        let value = text(
          entry.value, "\(name).\(Quoted.bare(entry.key))", takes: "text", allowing: .outputs)
      else { continue }
      environment[entry.key] = value
      variables.noteSecret(value, of: entry.key, at: entry.value.place)
    }
    return environment
  }
}

extension ValueKind<String> {
  /// A question to a person; a word that is meant as a flag is none.
  static let question = ValueKind(.string) { values, node, name in
    guard let text = values.line(node, name, takes: "a question to a person", allowing: .outputs) else { return nil }
    guard case .scalar(_, isPlain: true) = node.content, Double(text) != nil || ValueReader.flag(text) != nil else {
      return text
    }
    let advice =
      ValueReader.flag(text) == false ? "delete it for no question" : "write the question, as in 'Publish it?'"
    return values.faults.fail(
      node.place, "\(name) takes a question to a person; this is \(Quoted.text(text)): \(advice)")
  }

  /// An absolute folder.
  static let directory = ValueKind(.text) { values, node, name in
    values.path(node, name, takes: "a folder", allowing: .outputs).map { values.absolute($0, at: node.place) }
  }

  /// The regular expression of `progress`.
  static let progress = ValueKind(.pattern) { values, node, name in
    let takes = "a regular expression with one group (per cent) or two (done, total)"
    guard let pattern = values.pattern(node, "progress", takes: takes) else { return nil }
    let groups = (try? NSRegularExpression(pattern: pattern))?.numberOfCaptureGroups ?? 0
    guard (1...2).contains(groups) else {
      let advice =
        groups == 0 ? "put the number in brackets, as in '(\\d+)%'" : "write (?:…) for those that are no number"
      return values.faults.fail(node.place, "progress takes \(takes); this one has \(groups): \(advice)")
    }
    return pattern
  }
}

extension ValueKind<Int32> {
  static let signals: [(name: String, number: Int32)] = [
    ("TERM", SIGTERM), ("INT", SIGINT), ("HUP", SIGHUP), ("QUIT", SIGQUIT), ("KILL", SIGKILL), ("USR1", SIGUSR1),
    ("USR2", SIGUSR2), ("ABRT", SIGABRT), ("ALRM", SIGALRM),
  ]

  static let signal = ValueKind(.signal(signals.map(\.name))) { values, node, name in
    let names = signals.map(\.name)
    let takes = names.joined(last: "or")
    guard let text = values.text(node, name, takes: takes) else { return nil }
    let upper = text.uppercased()
    let signal = upper.hasPrefix("SIG") ? String(upper.dropFirst(3)) : upper
    if let number = signals.first(where: { $0.name == signal })?.number { return number }
    let numbered = signals.first { String($0.number) == text }
    let hint = numbered.map { ": write \($0.name)" } ?? NearestName.hint(for: signal, in: names)
    return values.faults.fail(node.place, "\(name) takes \(takes); this is \(Quoted.text(text))\(hint)")
  }
}
