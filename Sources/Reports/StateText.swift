import JobModel
import Screen

/// The state of a job in plain lines.
enum StateText {
  /// Follows the job's name: `ok in 3.1s`, `failed: exit 1 (2 of 2) in 0.2s`; empty while it waits or is ready.
  static func phrase(_ id: JobID, before: JobState?, at now: Duration, in run: Run) -> String {
    let record = run[id]
    let took = record.elapsed(at: now).map { " in \(Format.length($0))" } ?? ""
    switch record.state {
    case .waiting, .ready: return before?.isTerminal == true ? "to be run again" : ""
    case .executing:
      if case .paused = before { return "resumed" }
      let number = record.attempt?.number ?? 1
      return number > 1 ? "started, attempt \(number)" : "started"
    case .paused: return "paused"
    case .backingOff(let until, let number, let limit, let failure):
      return "\(JobText.clean(failure.reason)), retry \(number) of \(limit) in \(Format.length(until - now))"
    case .succeeded(let upToDate): return StateClass(record.state).word + (upToDate ? "" : took)
    case .failed(let failure, let allowed):
      return "failed: \(JobText.clean(failure.reason))\(took)\(record.tries)\(allowed ? ", allowed to fail" : "")"
    case .cancelled(let canceller):
      // What is cancelled after a failed attempt was to be tried again.
      let end = record.attempt?.failure.map { ", after \(JobText.clean($0.reason))" } ?? took
      return "cancelled \(canceller.phrase)\(end)"
    case .skipped(let cause): return "skipped because \(name(cause, in: run)) \(ending(run[cause].state))"
    }
  }

  static func name(_ id: JobID, in run: Run) -> String { JobText.clean(run[id].job.name) }

  /// A timeout is named in the line of the job itself.
  private static func ending(_ state: JobState) -> String {
    (state.isFailure ? .failed : StateClass(state)).ending
  }
}
