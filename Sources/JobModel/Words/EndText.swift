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
