/// The end of a job's newest attempt in the recorded earlier runs.
package enum EarlierAttempt: Sendable, Equatable {
  /// The work was as it is now; `inputs` is the hash of the files that it read, nil if none was recorded.
  case succeeded(inputs: String?)
  /// The attempt succeeded, and the command or another part of its `Fingerprint` has changed since.
  case changed
  /// The attempt failed, was cancelled, or has no recorded end.
  case unfinished
}
