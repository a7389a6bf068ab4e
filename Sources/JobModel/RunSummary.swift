/// What the jobs of a run came to.
package struct RunSummary: Sendable, Equatable {
  package var succeeded = 0
  /// Those that were allowed to fail are counted in `allowed` instead.
  package var failed = 0
  package var allowed = 0
  package var skipped = 0
  package var cancelled = 0
  /// Part of `cancelled`: those that a program cancelled itself, which leaves no work undone.
  package var cancelledByProgram = 0
  /// Never ended: the run was left with these waiting.
  package var left = 0
  /// The exit status of opdash.
  package var exit: Int32 = 0

  package init() {}

  /// The run as it stands; `signal` is the one that ended it, if any.
  package init(of run: Run, signal: Int32? = nil) {
    let counts = run.counts
    succeeded = counts.succeeded
    failed = counts.failed - counts.allowed
    allowed = counts.allowed
    skipped = counts.skipped
    cancelled = counts.cancelled
    cancelledByProgram = counts.cancelledByProgram
    left = counts.all - counts.done
    exit = ExitStatus.of(self, signal: signal)
  }
}

/// The statuses that opdash exits with.
package enum ExitStatus {
  package static let success: Int32 = 0
  package static let jobFailed: Int32 = 1
  package static let usage: Int32 = 2
  package static let workLeft: Int32 = 3

  /// As a shell reports a program that a signal ended.
  package static func signal(_ number: Int32) -> Int32 { 128 + number }

  package static func of(_ summary: RunSummary, signal: Int32? = nil) -> Int32 {
    if let signal { return self.signal(signal) }
    if summary.failed > 0 { return jobFailed }
    // What was skipped hangs on a failure or a cancellation; a job that was only for a failure which never came is no work left.
    return summary.cancelled - summary.cancelledByProgram + summary.left > 0 ? workLeft : success
  }
}
