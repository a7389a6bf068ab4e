/// Why an attempt failed: a cause for the retry policy and a reason to read.
package struct JobFailure: Error, Sendable, Equatable {
  package enum Cause: Sendable, Equatable {
    /// The process ended with a status other than 0.
    case exit(Int32)
    /// The process was ended by a signal that opdash did not send.
    case signal(Int32)
    /// The command could not be started.
    case launch
    /// The server answered with this status.
    case http(Int)
    /// No connection, or one that broke.
    case network
    case timedOut
    /// The bytes arrived and are not the expected ones.
    case checksum
    /// A local file could not be read or written.
    case file
    case simulated
    /// An operation of the program's own queue ended with an error.
    case error
    /// The job needed an approval that no person could give.
    case approval
    /// The cluster ended it because it used more memory than it had asked for.
    case outOfMemory
    /// The cluster ended it at the limit that it had asked for.
    case timeLimit
    /// The cluster lost a node that it executed on.
    case nodeFailure
    /// The cluster ended it for a more urgent job.
    case preempted
    /// No record says how it ended.
    case lost
  }

  package var cause: Cause
  /// Short enough for one column: `exit 1`, `HTTP 503`.
  package var reason: String
  /// How long the server asks to wait before the next attempt.
  package var retryAfter: Duration?

  package init(_ cause: Cause, _ reason: String, retryAfter: Duration? = nil) {
    self.cause = cause
    self.reason = reason
    self.retryAfter = retryAfter
  }

  /// The exit status, where a process gave one.
  package var exit: Int32? {
    if case .exit(let code) = cause { return code }
    return nil
  }
}
