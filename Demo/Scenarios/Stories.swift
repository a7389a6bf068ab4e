import JobModel

/// The closing lines of the scenarios.
enum Stories {
  static func collect(_ run: Run) -> [String] {
    let tally = Tally(run)
    let items = run.jobs.count { $0.job.name.hasPrefix("enrich-") && $0.state.isOK }
    var lines = [
      "collect: \(number(items, "picture")) created, received, uploaded and enriched in \(tally.lasted).",
      "  \(tally.bytes("download")) came and \(tally.bytes("upload")) went over HTTP on this machine's loopback.",
      "  Up to \(tally.widest) of \(run.slots) slots were busy; one after another it would have been \(tally.oneByOne).",
    ]
    if !tally.recovered.isEmpty {
      lines.append("  Attempts that failed: \(tally.failures). A retry brought \(list(tally.recovered)) through.")
    }
    return lines + failed(run)
  }

  static func diamond(_ run: Run) -> [String] {
    let tally = Tally(run)
    var lines = [
      "diamond: \(run.counts.succeeded) of \(run.jobs.count) jobs succeeded in \(tally.lasted), up to \(tally.widest) at once."
    ]
    if let source = run.id(named: "checkout"), let sink = run.id(named: "link"), run[sink].state.isOK {
      let parts = run[source].dependents.count { run[sink].job.needs.map(\.job).contains($0) }
      lines.append(
        "  checkout fanned out to \(number(run[source].dependents.count, "job")); link waited for \(parts) of them.")
    }
    for id in run.ids {
      let record = run[id]
      switch record.state {
      case .failed(let failure, allowed: true):
        lines.append("  \(record.job.name) failed (\(failure.reason)) and was allowed to: nothing was skipped for it.")
      case .failed(let failure, allowed: false):
        let skipped = run.jobs.filter { $0.state == .skipped(because: .job(id)) }.map(\.job.name)
        lines.append("  \(record.job.name) failed (\(failure.reason)), which skipped \(list(skipped)).")
      default: break
      }
    }
    let answers = run.jobs.filter { record in
      record.state.isOK && record.job.needs.contains { $0.when != .ok && !run[$0.job].state.isOK }
    }
    if !answers.isEmpty { lines.append("  \(list(answers.map(\.job.name))) asked for such an end, and ran.") }
    return lines
  }

  static func flakyNetwork(_ run: Run) -> [String] {
    let tally = Tally(run)
    var lines = [
      "flaky-network: \(number(tally.succeeded("download"), "download")) and \(number(tally.succeeded("upload"), "upload")) got through in \(tally.lasted)."
    ]
    if tally.retries > 0 {
      lines.append("  It took \(number(tally.retries, "retry", "retries")). Attempts that failed: \(tally.failures).")
    }
    lines.append("  Files with the SHA-256 that the job file asks for, in pieces or not: \(tally.proven).")
    let hopeless = run.jobs.filter { $0.state.isFailure && $0.attempts.count == 1 }
    for record in hopeless {
      guard case .failed(let failure, _) = record.state else { continue }
      lines.append("  \(record.job.name) was tried once only: \(failure.reason) does not get better by asking again.")
    }
    return lines + failed(run)
  }

  static func stress(_ run: Run) -> [String] {
    let tally = Tally(run)
    let seconds = max(0.001, run.length / .seconds(1))
    let needs = run.jobs.reduce(0) { $0 + $1.job.needs.count }
    return [
      "stress: \(number(run.counts.done, "job")) with \(number(needs, "dependency", "dependencies")) ended in \(tally.lasted): "
        + "\(number(Int(Double(run.counts.done) / seconds), "job")) a second.",
      "  \(run.nextSeq) events were folded into what you saw.",
    ] + failed(run)
  }

  /// Unplanned failures.
  private static func failed(_ run: Run) -> [String] {
    run.jobs.compactMap { record in
      guard case .failed(let failure, allowed: false) = record.state else { return nil }
      return "  \(record.job.name) failed, which was not planned: \(failure.reason)."
    }
  }

  private static func list(_ names: [String]) -> String { names.isEmpty ? "nothing" : names.joined(last: "and") }

  private static func number(_ count: Int, _ one: String, _ many: String? = nil) -> String {
    "\(count) \(count == 1 ? one : many ?? one + "s")"
  }
}
