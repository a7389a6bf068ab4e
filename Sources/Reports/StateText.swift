import JobModel

/// What became of a job, in words.
enum StateText {
  /// A phrase that follows the job's name: `ok in 3.1s`, `failed: exit 1 (2 of 2) in 0.2s`; empty for waits of its own accord.
  static func phrase(_ id: JobID, before: JobState?, at now: Duration, in run: Run) -> String {
    let record = run[id]
    let took = record.elapsed(at: now).map { " in \(TimeText.length($0))" } ?? ""
    switch record.state {
    case .waiting, .ready: return before?.isTerminal == true ? "to be run again" : ""
    case .executing:
      if case .paused = before { return "resumed" }
      let number = record.attempt?.number ?? 1
      return number > 1 ? "started, attempt \(number)" : "started"
    case .paused: return "paused"
    case .backingOff(let until, let number, let limit, let failure):
      return "\(clean(failure.reason)), retry \(number) of \(limit) in \(TimeText.length(until - now))"
    case .succeeded(let upToDate): return upToDate ? "up to date" : "ok\(took)"
    case .failed(let failure, let allowed):
      return "failed\(allowed ? ", allowed" : ""): \(clean(failure.reason))\(tries(record))\(took)"
    case .cancelled(by: .person): return "cancelled\(took)"
    case .cancelled(by: .signal): return "cancelled by signal\(took)"
    case .cancelled(by: .policy): return "cancelled by on_failure\(took)"
    case .cancelled(by: .program): return "cancelled by the program\(took)"
    case .skipped(let cause): return "skipped because \(name(cause, in: run)) \(became(run[cause].state))"
    }
  }

  /// The job's name, safe for a terminal.
  static func name(_ id: JobID, in run: Run) -> String { clean(run[id].job.name) }

  static func clean(_ text: String) -> String { OutputText.clean(text, keepingColour: false) }

  /// Which attempt of how many, where there could be more than one.
  private static func tries(_ record: JobRecord) -> String {
    guard let number = record.attempt?.number, record.job.retry.max > 0 else { return "" }
    return " (\(number) of \(max(number, record.job.retry.max + 1)))"
  }

  /// Why a job that has ended keeps another from starting.
  private static func became(_ state: JobState) -> String {
    switch state {
    case .succeeded: "succeeded"
    case .failed: "failed"
    case .cancelled: "was cancelled"
    case .skipped: "was skipped"
    case .waiting, .ready, .executing, .paused, .backingOff: "has not ended"
    }
  }
}
