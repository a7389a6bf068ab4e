/// How a process ended.
public enum ProcessExit: Sendable, Equatable {
  /// By itself, with a status; 0 is success.
  case exited(Int32)
  /// By a signal.
  case signalled(Int32)
}

/// Where a process writes.
public enum ProcessStream: Sendable, Equatable, CaseIterable {
  /// The standard output.
  case stdout
  /// The standard error.
  case stderr
}
