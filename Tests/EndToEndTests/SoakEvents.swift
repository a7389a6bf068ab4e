import Foundation

/// The fold of NDJSON, as far as the soak holds it to rules.
struct SoakEvents {
  let slots: Int
  private(set) var states: [String: String] = [:]
  private(set) var isOver = false
  private(set) var exit: Int?
  private var count = 0
  private var time = 0.0
  private var needs: [String: [String: String]] = [:]
  private var active: Set<String> = []
  private var allowed: Set<String> = []
  private var users: Set<String> = []
  private var pool = 0

  init(slots: Int) { self.slots = slots }

  /// Returns what is wrong with the next event.
  mutating func fold(_ event: [String: Any]) -> String? {
    guard event["v"] as? Int == 1, event["seq"] as? Int == count else { return "the number should be \(count)" }
    guard let now = (event["t"] as? NSNumber)?.doubleValue, now >= time else { return "the time runs back" }
    if isOver { return "an event after run_finished" }
    (count, time) = (count + 1, now)
    let job = event["job"] as? String ?? ""
    switch event["type"] as? String {
    case "run_started":
      if count != 1 { return "the run starts again" }
      pool = (event["pools"] as? [String: Int])?["pool"] ?? 0
    case "job_added":
      let needs = event["needs"] as? [[String: String]] ?? []
      for need in needs { self.needs[job, default: [:]][need["job"] ?? ""] = need["when"] }
      if event["uses"] != nil { users.insert(job) }
    case "job_state": return change(job, event)
    case "run_finished":
      isOver = true
      exit = event["exit"] as? Int
      if !active.isEmpty { return "the run is over, and \(active.sorted()) executes" }
    case nil: return "no type"
    default: break
    }
    return count == 1 && event["type"] as? String != "run_started" ? "the run has not started" : nil
  }

  private mutating func change(_ job: String, _ event: [String: Any]) -> String? {
    guard let state = event["state"] as? String else { return "no state" }
    if state == "executing", states[job] == state { return "\(job) begins to execute a second time" }
    let isActive = state == "executing" || (state == "paused" && event["started"] as? Bool == true)
    if isActive, active.insert(job).inserted {
      for (need, when) in needs[job] ?? [:] where !isMet(need, when) {
        return "\(need) is \(states[need] ?? "unknown"), and should be \(when)"
      }
      if active.count > slots { return "\(active.count) jobs in \(slots) slots" }
      if active.intersection(users).count > pool { return "\(active.intersection(users)) in a pool of \(pool)" }
    }
    if !isActive { active.remove(job) }
    states[job] = state
    if state == "failed", event["allowed"] as? Bool == true { allowed.insert(job) }
    return nil
  }

  private func isMet(_ need: String, _ when: String) -> Bool {
    switch (when, states[need]) {
    case ("ok", "succeeded"), ("failed", "failed"), ("finished", "succeeded"), ("finished", "failed"),
      ("finished", "cancelled"), ("finished", "skipped"):
      true
    case ("ok", "failed"): allowed.contains(need)
    default: false
    }
  }
}
