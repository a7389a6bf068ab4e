import JobModel

/// Reads `needs`: a list of jobs, a single job, or a map of jobs to conditions.
struct NeedReader {
  /// A need as the file has it: the name of a job or matrix, or a pattern.
  typealias Need = (name: String, when: JobNeed.Condition, place: Place)

  let values: ValueReader

  private var faults: FaultLog { values.faults }

  func read(_ node: YAMLNode) -> [Need] {
    if case .map(let entries) = node.content {
      return entries.compactMap { entry in
        let key = YAMLNode(
          content: .scalar(entry.key, isPlain: true), place: entry.place, end: entry.value.place, weight: 1)
        guard let name = expanded(entry.key, in: key), let when = condition(entry, name) else { return nil }
        return (name, when, entry.place)
      }
    }
    let takes = "a list of jobs, or a map of jobs to \(Self.words)"
    var seen: Set<String> = []
    return (values.list(node, "needs", takes: takes, isSingleAllowed: true) ?? []).compactMap { item in
      guard case .scalar(let text, _) = item.content, !item.isNull else {
        return faults.fail(item.place, "needs takes \(takes); this item is \(item.words): write a job's name")
      }
      guard let name = expanded(text, in: item) else { return nil }
      guard seen.insert(name).inserted else { return faults.fail(item.place, Self.twice(name)) }
      return (name, .ok, item.place)
    }
  }

  static func twice(_ name: String) -> String { "needs names \(Quoted.text(name)) twice: delete one" }

  private static let words = JobNeed.Condition.allCases.map(\.rawValue).joined(last: "or")

  private func expanded(_ name: String, in node: YAMLNode) -> String? {
    values.variables.expand(name, in: node, unknown: .isFault)
  }

  private func condition(_ entry: YAMLEntry, _ job: String) -> JobNeed.Condition? {
    let name = "needs.\(Quoted.bare(job))"
    // Compose writes a map: `api: { condition: service_healthy }`.
    if case .map(let parts) = entry.value.content, let part = parts.first(where: { $0.key == "condition" }) {
      let word = if case .scalar(let text, _) = part.value.content { Self.conditions[text] ?? "ok" } else { "ok" }
      return faults.fail(
        entry.value.place,
        "\(name) takes \(Self.words); this is a map: write '\(Quoted.bare(entry.key)): \(word)'")
    }
    return values.choice(entry.value, name, as: JobNeed.Condition.self, others: Self.conditions)
  }

  /// The conditions of other tools.
  private static let conditions = [
    "okay": "ok", "success": "ok", "succeeded": "ok", "successful": "ok", "passed": "ok", "true": "ok", "yes": "ok",
    "process_completed_successfully": "ok", "service_completed_successfully": "ok", "started": "ready",
    "process_started": "ready", "service_started": "ready", "process_healthy": "ready", "service_healthy": "ready",
    "healthy": "ready", "running": "ready", "up": "ready", "process_log_ready": "ready", "completed": "finished",
    "complete": "finished", "done": "finished", "ended": "finished", "exited": "finished", "always": "finished",
    "any": "finished", "process_completed": "finished", "failure": "failed", "error": "failed", "not_ok": "not-ok",
    "notok": "not-ok", "cancelled": "not-ok", "skipped": "not-ok",
  ]

  /// The advice for several names in one text.
  static func mend(for name: String, isKnown: (String) -> Bool) -> String? {
    let parts = name.split { $0 == "," || $0 == " " }.map(String.init)
    guard parts.count > 1, !name.contains("["), name.contains(",") || parts.allSatisfy(isKnown) else { return nil }
    return ": write [\(parts.map(Quoted.bare).joined(separator: ", "))]"
  }
}
