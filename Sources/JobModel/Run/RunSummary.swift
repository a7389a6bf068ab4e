/// The jobs of a run by outcome, and the exit status.
package struct RunSummary: Sendable, Equatable {
  package var succeeded = 0
  /// Without the jobs that were allowed to fail, which `allowed` counts.
  package var failed = 0
  package var allowed = 0
  package var skipped = 0
  package var cancelled = 0
  /// The part of `cancelled` that the program itself cancelled, which leaves no work undone.
  package var cancelledByProgram = 0
  /// Jobs that had not ended when the run did.
  package var left = 0
  /// The exit status of opdash.
  package var exit: Int32 = 0

  package init() {}
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
    // A skipped job follows from a failure or cancellation, which counts, or was only for a failure that did not happen;
    // `RunSummary(of:signal:)` knows those whose cause was retried without them.
    return summary.cancelled - summary.cancelledByProgram + summary.left > 0 ? workLeft : success
  }
}
