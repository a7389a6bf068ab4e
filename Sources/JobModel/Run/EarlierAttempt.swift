/// How a job's newest attempt ended that an earlier run has recorded.
package enum EarlierAttempt: Sendable, Equatable {
  /// The work was as it is now; `inputs` is the hash of the files that it read, nil if none was recorded.
  case succeeded(inputs: String?)
  /// It succeeded, and its command or another part of its `Fingerprint` has changed since.
  case changed
  /// It failed, was cancelled, or has no recorded end.
  case unfinished
}
