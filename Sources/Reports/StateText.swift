import JobModel
import Screen

/// The state of a job in plain lines.
enum StateText {
  /// Follows the job's name: `ok in 3.1s`, `failed: exit 1 (2 of 2) in 0.2s`; empty while it waits or is ready.
  static func phrase(_ id: JobID, before: JobState?, at now: Duration, in run: Run) -> TerminalText {
    let record = run[id]
    let took: TerminalText = record.elapsed(at: now).map { " in \(Format.length($0))" } ?? ""
    // A recording may have a state twice.
    if before == record.state, !record.state.isTerminal { return "" }
    switch record.state {
    case .waiting, .ready: return before?.isTerminal == true ? "to be run again" : ""
    case .executing:
      if case .paused = before { return "resumed" }
      if before == .serving { return record.cancelling?.by == .restart ? "restarting" : "no longer serving" }
      let number = record.attempt?.number ?? 1
      return number > 1 ? "started, attempt \(number)" : "started"
    case .serving: return "serving"
    case .paused: return "\(StateClass(record.state).word)\(StatusText(id, run, now: now).detail)"
    case .backingOff(let until, _, _, let failure):
      return "\(JobText.clean(failure.reason)), \(record.state.wait ?? "") in \(Format.length(until - now))"
    case .succeeded where record.restored != nil: return "\(StatusText(id, run, now: now).whole)"
    case .succeeded(let upToDate):
      return "\(StateClass(record.state).word)" + (upToDate ? "" : took + slower(record, at: now))
    case .failed(let failure, let allowed):
      return "failed: \(JobText.clean(failure.reason))\(took)\(record.tries)\(allowed ? ", allowed to fail" : "")"
    case .cancelled(let canceller):
      // A job that was cancelled while it waited for a retry has a failed attempt.
      let end: TerminalText = record.attempt?.failure.map { ", after \(JobText.clean($0.reason))" } ?? took
      return "cancelled \(canceller.phrase)\(end)"
    case .skipped(.job(let cause)): return "skipped because \(name(cause, in: run)) \(ending(run[cause].state))"
    case .skipped(.manual): return "not started: a person starts it"
    case .skipped(let cause): return "skipped because \(JobText.clean(cause.phrase(id, in: run)))"
    }
  }

  /// `, slower than usual (2m21s) +41 %`; empty for a job that was not.
  private static func slower(_ record: JobRecord, at now: Duration) -> TerminalText {
    record.excess(at: now).map { ", slower than usual \(comparison(record, $0))" } ?? ""
  }

  /// The usual time and how much it was exceeded: `(2m21s) +41 %`.
  static func comparison(_ record: JobRecord, _ excess: Double) -> String {
    "(\(Format.length(record.job.usual?.median ?? .zero))) \(UsualText.percent(excess))"
  }

  /// `warning: cancelled 12.0s ago, and still executing; let it check isCancelled (cancelled-executing)`.
  static func warning(_ warning: RunWarning, paint: Paint) -> TerminalText {
    let (evidence, advice) = (JobText.clean(warning.evidence), JobText.clean(warning.advice))
    return "\(paint(.warning, "warning: \(evidence)")); \(advice) (\(warning.kind.rawValue))"
  }

  static func name(_ id: JobID, in run: Run) -> TerminalText { JobText.clean(run[id].job.name) }

  /// A timeout is named in the line of the job itself.
  private static func ending(_ state: JobState) -> String {
    (state.isFailure ? .failed : StateClass(state)).ending
  }
}

extension Run {
  /// How many of some jobs are in each state, by attention; the ones that no person has started are apart from the skipped.
  func tally(of ids: some Sequence<JobID>) -> [(state: StateClass, word: String, count: Int)] {
    var counts: [String: (state: StateClass, count: Int)] = [:]
    for id in ids {
      let state = StateClass(self[id])
      let word = if case .skipped(let cause) = self[id].state { cause.word } else { state.word }
      counts[word, default: (state, 0)].count += 1
    }
    return counts.map { (state: $0.value.state, word: $0.key, count: $0.value.count) }
      .sorted { ($0.state.attention, $0.state.rawValue, $0.word) < ($1.state.attention, $1.state.rawValue, $1.word) }
  }
}
