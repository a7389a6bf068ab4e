import JobModel

/// A job file of a graph in which each job is written out: without matrix, patterns, vars and defaults.
///
/// What a plain job can't say (services, conditions, values of other jobs, `finally`) stays. A job that fits has one line.
struct WrittenOut {
  static let columns = 120

  let graph: JobGraph
  /// The folder of the file's paths.
  let folder: String
  /// Variables of every `run` job.
  private let environment: [String: String]

  init(_ graph: JobGraph, folder: String) {
    (self.graph, self.folder) = (graph, folder)
    let all = graph.jobs.compactMap { job in
      if case .shell(let work) = job.work { work.environment } else { nil }
    }
    environment = (all.first ?? [:]).filter { key, value in all.allSatisfy { $0[key] == value } }
  }

  /// A name without the brackets of an instance.
  static func name(_ name: String) -> String {
    name.replacing("]", with: "").replacing("[", with: "-").replacing(",", with: "-")
  }

  var lines: [String] {
    var lines = ["name: \(graph.name)"]
    if let slots = graph.slots { lines.append("slots: \(slots)") }
    if !graph.pools.isEmpty { lines.append("pools: \(map(graph.pools.mapValues(String.init)))") }
    if !environment.isEmpty { lines.append("env: \(map(environment.mapValues(text)))") }
    lines.append("jobs:")
    lines += graph.jobs.filter { $0.finally == nil }.flatMap(self.lines)
    let finals = graph.jobs.filter { $0.finally != nil }
    if !finals.isEmpty { lines += ["finally:"] + finals.flatMap(self.lines) }
    return lines
  }

  private func lines(_ job: Job) -> [String] {
    let (name, keys) = (Self.name(job.name), keys(job))
    let short = "  \(name): { \(keys.map { "\($0.key): \($0.value)" }.joined(separator: ", ")) }"
    if short.count <= Self.columns { return [short] }
    return ["  \(name):"] + keys.flatMap { Self.wrapped("    \($0.key): \($0.value)") }
  }

  /// A line broken where a list goes on.
  private static func wrapped(_ line: String) -> [String] {
    var lines = [""]
    for part in line.split(separator: ", ", omittingEmptySubsequences: false) {
      if lines[lines.count - 1].isEmpty {
        lines[lines.count - 1] = String(part)
      } else if lines[lines.count - 1].count + part.count + 2 <= columns {
        lines[lines.count - 1] += ", \(part)"
      } else {
        lines[lines.count - 1] += ","
        lines.append("      \(part)")
      }
    }
    return lines
  }

  private typealias Keys = [(key: String, value: String)]

  private func keys(_ job: Job) -> Keys {
    var keys: Keys = []
    if let description = job.description { keys.append(("description", text(description))) }
    if job.needs.allSatisfy({ $0.when == .ok }) {
      if !job.needs.isEmpty { keys.append(("needs", list(job.needs.map { Self.name(graph[$0.job].name) }))) }
    } else {
      let needs = job.needs.map { "\(Self.name(graph[$0.job].name)): \($0.when.rawValue)" }
      keys.append(("needs", "{ \(needs.joined(separator: ", ")) }"))
    }
    if let condition = job.condition { keys.append(("if", text(words(condition, of: job)))) }
    if let approval = job.approval { keys.append(("approve", text(resolved(approval, of: job)))) }
    if let end = job.finally, end != .always { keys.append(("when", end.rawValue)) }
    keys += work(job)
    for (key, paths) in [("inputs", job.inputs), ("creates", job.creates)] where !paths.isEmpty {
      keys.append((key, list(paths.map { text($0.replacing("\(folder)/", with: "")) })))
    }
    if !job.uses.isEmpty { keys.append(("uses", map(job.uses.mapValues(String.init)))) }
    if let timeout = job.timeout { keys.append(("timeout", DurationText.exact(timeout))) }
    if job.retry.max > 0 { keys.append(("retry", retry(job.retry))) }
    if job.allowFailure { keys.append(("allow_failure", "true")) }
    return keys
  }

  private func work(_ job: Job) -> Keys {
    switch job.work {
    case .simulate(let work):
      return [
        ("simulate", "{ duration: \(DurationText.exact(work.duration)), steps: \(work.steps), seed: \(work.seed) }")
      ]
    case .shell(let work):
      var keys: Keys = [("run", command(work.command, of: job))]
      let own = work.environment.filter { environment[$0.key] == nil }
      if !own.isEmpty { keys.append(("env", map(own.mapValues { text(resolved($0, of: job)) }))) }
      if work.hasTerminal { keys.append(("tty", "true")) }
      if work.stderr == .apart { keys.append(("stderr", "apart")) }
      if let silence = work.silence { keys.append(("silence", DurationText.exact(silence))) }
      if let progress = work.progress { keys.append(("progress", text(progress))) }
      if work.stop != ShellWork.Stop() {
        keys.append(
          (
            "stop",
            "{ signal: \(work.stop.signal == 2 ? "INT" : "TERM"), grace: \(DurationText.exact(work.stop.grace)) }"
          ))
      }
      if let service = work.service { keys.append(("service", self.service(service))) }
      return keys
    case .download, .upload, .operation: return []
    }
  }

  private func service(_ service: Service) -> String {
    guard case .output(let pattern)? = service.probe else { return "{ restart: \(service.restart.rawValue) }" }
    let ready = ["output": text(pattern), "timeout": DurationText.exact(service.limit)]
    return "{ ready: \(map(ready)), restart: \(service.restart.rawValue) }"
  }

  private func command(_ command: ShellWork.Command, of job: Job) -> String {
    switch command {
    case .script(let script): text(resolved(script, of: job))
    case .argv(let words): list(words.map { text(resolved($0, of: job)) })
    }
  }

  private func retry(_ policy: RetryPolicy) -> String {
    var parts = ["max: \(policy.max)"]
    if policy.initial != .seconds(1) { parts.append("initial: \(DurationText.exact(policy.initial))") }
    let only =
      (policy.only ?? []).map(\.rawValue).sorted() + policy.exits.sorted().map(String.init)
      + policy.patterns.map { "{ output: \(text($0)) }" }
    if !only.isEmpty { parts.append("only: \(list(only))") }
    return parts.count == 1 ? String(policy.max) : "{ \(parts.joined(separator: ", ")) }"
  }

  private func words(_ condition: JobCondition, of job: Job) -> String {
    condition.alternatives.map { clusterRequest in
      clusterRequest.map { term in
        let left = "'\(resolved(term.left, of: job))'"
        guard let right = term.right else { return (term.isNegated ? "!" : "") + left }
        return "\(left) \(term.isNegated ? "!=" : "==") '\(resolved(right, of: job))'"
      }.joined(separator: " && ")
    }.joined(separator: " || ")
  }

  /// A text with the references to values of other jobs as they are in this file.
  func resolved(_ text: String, of job: Job) -> String {
    job.outputs.reduce(text) { text, output in
      text.replacing(output.text, with: "${jobs.\(Self.name(graph[output.job].name)).\(output.name)}")
    }
  }

  private func text(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  private func list(_ items: [String]) -> String { "[\(items.joined(separator: ", "))]" }

  private func map(_ entries: [String: String]) -> String {
    "{ \(entries.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")) }"
  }
}
