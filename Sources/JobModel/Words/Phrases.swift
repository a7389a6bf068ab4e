extension [String] {
  /// `a, b or c` with `or` as the last separator.
  package func joined(last: String) -> String {
    guard let final = self.last, count > 1 else { return joined() }
    return dropLast().joined(separator: ", ") + " \(last) " + final
  }
}

extension JobState.Canceller {
  /// Follows `cancelled`, `killed` or `stopped`.
  package var phrase: String {
    switch self {
    case .person: "by you"
    case .signal: "by a signal"
    case .policy: "by on_failure"
    case .program: "by the program"
    }
  }
}

extension JobNeed.Condition {
  /// Follows the name of the needed job, as in `deploy to fail`; nil for `ok`, the usual condition.
  package var phrase: String? {
    switch self {
    case .ok: nil
    case .finished: "to end"
    case .failed: "to fail"
    }
  }
}

extension JobRecord {
  /// ` (2 of 3)` for the second of at most three attempts; empty where the job has no retries or has not started.
  package var tries: String {
    guard let number = attempt?.number, job.retry.max > 0 else { return "" }
    return " (\(number) of \(max(number, job.retry.max + 1)))"
  }
}

extension Run {
  /// A number of slots behind a slash, as in `slots 3/8`: `any` without a limit.
  package static func slotsText(_ slots: Int) -> String { slots == unlimited ? "any" : "\(slots)" }
}

/// The text of the notification that a run has ended.
package enum EndText {
  /// `release.yml: done 38/38`, `release.yml: stopped 12/38` or `release.yml: FAIL 2 of 38`.
  package static func of(_ run: Run, name: String) -> String {
    let counts = run.counts
    let failed = counts.failed - counts.allowed
    if failed > 0 { return "\(name): FAIL \(failed) of \(run.jobs.count)" }
    let word = run.stopping == nil && counts.cancelled == 0 ? "done" : "stopped"
    return "\(name): \(word) \(counts.done)/\(run.jobs.count)"
  }
}
