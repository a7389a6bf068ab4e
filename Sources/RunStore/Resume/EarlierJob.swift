import JobModel

/// A job of a recorded run: the facts that decide whether a resumed run executes it again.
package struct EarlierJob: Sendable, Equatable {
  package enum End: Sendable, Equatable {
    case done(EarlierSuccess)
    /// Allowed to or not.
    case failed
    /// By a person, a signal or the failure policy.
    case cancelled
    case skipped
    /// Its process executed when the program was killed, or at the last commit before.
    case executing
    /// The job had not ended by then.
    case waiting
  }

  package var name: String
  package var end: End
  /// The `Fingerprint` of the job; nil if none was recorded.
  package var fingerprint: String?
  /// The hash of the inputs that its success has read.
  package var inputsHash: String?

  package init(_ name: String, _ end: End, fingerprint: String?, inputsHash: String? = nil) {
    self.name = name
    self.end = end
    self.fingerprint = fingerprint
    self.inputsHash = inputsHash
  }
}
