import Foundation

/// The end of a job's newest attempt in the recorded earlier runs.
package enum EarlierAttempt: Sendable, Equatable {
  /// The work was as it is now; `inputs` is the hash of the files that it read, nil if none was recorded, `read` has
  /// the known values of other jobs in it by their references, and `begun` is when it began, nil if that is not known.
  case succeeded(inputs: String?, read: [String: String] = [:], begun: Date? = nil)
  /// The attempt succeeded and added jobs to its run; another run lacks them.
  case addedJobs
  /// The attempt succeeded, and the command or another part of its `Fingerprint` has changed since.
  case changed
  /// The attempt failed, was cancelled, or has no recorded end.
  case unfinished
  /// Another run executes it now.
  case executing
}

/// The success of a job in an earlier run.
package struct EarlierSuccess: Sendable, Equatable {
  package var run: String
  /// To the millisecond.
  package var at: Date
  /// The time of its last attempt.
  package var took: Duration
  /// The values that it wrote for other jobs; nil if they are not known.
  ///
  /// No part of the event.
  package var outputs: [String: String]?

  package init(run: String, at: Date, took: Duration, outputs: [String: String]? = [:]) {
    self.run = run
    self.at = at.wholeMilliseconds
    self.took = took
    self.outputs = outputs
  }
}

/// The success of an attempt, as it is known before the run states it.
package struct AttemptSuccess: Sendable, Equatable {
  package var job: JobID
  package var attempt: Int
  package var took: Duration
  /// The hash of the inputs that it has read, where the job names some.
  package var inputsHash: String?
  /// The values that it wrote for other jobs; nil if they are not known.
  package var outputs: [String: String]?

  package init(
    job: JobID, attempt: Int, took: Duration, inputsHash: String?, outputs: [String: String]? = nil
  ) {
    self.job = job
    self.attempt = attempt
    self.took = took
    self.inputsHash = inputsHash
    self.outputs = outputs
  }
}
