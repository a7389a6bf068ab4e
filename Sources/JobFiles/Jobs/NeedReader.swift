import JobModel

/// Reads `needs`: a list of jobs, a single job, or a map of jobs to conditions.
struct NeedReader {
  /// A need as the file has it.
  typealias Need = (name: String, when: JobNeed.Condition, place: Place)

  let values: ValueReader

  private var faults: FaultLog { values.faults }

  func read(_ node: YAMLNode) -> [Need] {
    if case .map(let entries) = node.content {
      return entries.compactMap { entry in
        condition(entry).map { (entry.key, $0, entry.place) }
      }
    }
    let takes = "a list of jobs, or a map of jobs to ok, finished or failed"
    var seen: Set<String> = []
    return (values.list(node, "needs", takes: takes, isSingleAllowed: true) ?? []).compactMap { item in
      guard case .scalar(let name, _) = item.content, !item.isNull else {
        return faults.fail(item.place, "needs takes \(takes); this item is \(item.words): write a job's name")
      }
      guard seen.insert(name).inserted else {
        return faults.fail(item.place, "needs names \(Quoted.text(name)) twice: delete one")
      }
      return (name, .ok, item.place)
    }
  }

  private func condition(_ entry: YAMLEntry) -> JobNeed.Condition? {
    let name = "needs.\(Quoted.bare(entry.key))"
    // Compose writes a map: `api: { condition: service_healthy }`.
    if case .map(let parts) = entry.value.content, let part = parts.first(where: { $0.key == "condition" }) {
      let word = if case .scalar(let text, _) = part.value.content { Self.conditions[text] ?? "ok" } else { "ok" }
      return faults.fail(
        entry.value.place,
        "\(name) takes ok, finished or failed; this is a map: write '\(Quoted.bare(entry.key)): \(word)'")
    }
    if case .scalar(let text, _) = entry.value.content, let mend = ["ready": "ok", "not-ok": "failed"][text] {
      return faults.fail(
        entry.value.place, "the condition '\(text)' is not supported by this version of opdash yet: write \(mend)")
    }
    return values.choice(entry.value, name, as: JobNeed.Condition.self, others: Self.conditions)
  }

  /// The conditions of other tools.
  private static let conditions = [
    "okay": "ok", "success": "ok", "succeeded": "ok", "successful": "ok", "passed": "ok", "true": "ok", "yes": "ok",
    "started": "ok",
    "process_completed_successfully": "ok", "service_completed_successfully": "ok", "process_started": "ok",
    "service_started": "ok", "process_healthy": "ok", "service_healthy": "ok", "healthy": "ok", "completed": "finished",
    "complete": "finished", "done": "finished", "ended": "finished", "exited": "finished", "always": "finished",
    "any": "finished", "process_completed": "finished", "failure": "failed", "error": "failed",
  ]

  /// The mend for several names in one text, and for names that this version can't resolve.
  static func mend(for name: String, among index: [String: Int]) -> String? {
    let parts = name.split { $0 == "," || $0 == " " }.map(String.init)
    if parts.count > 1, name.contains(",") || parts.allSatisfy({ index[$0] != nil }) {
      return ": write [\(parts.map(Quoted.bare).joined(separator: ", "))]"
    }
    if name.contains("${") { return ": needs has no variables, so write the name out" }
    if name.contains("*") { return ": this version of opdash has no patterns in needs, so write the names out" }
    return nil
  }
}
