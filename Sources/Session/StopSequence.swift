import JobModel

/// What follows when signals ask the program to end: the first ends the run in order, Ctrl-C again kills, and a third leaves.
///
/// SIGTERM and SIGHUP never kill by coming twice: a supervisor may send both, or the same to each process of a group.
package struct StopSequence: Equatable {
  package enum Cause: Equatable {
    case interrupt
    case terminate
    case hangup
    /// Whoever read our standard output has gone.
    case outputClosed

    /// The signal that the exit status tells of.
    var signal: Int32 {
      switch self {
      case .interrupt: 2
      case .terminate: 15
      case .hangup: 1
      case .outputClosed: 13
      }
    }
  }

  package enum Action: Equatable {
    case send(JobCommand)
    /// Tell the person what still runs and what the next Ctrl-C does.
    case announce(StopLevel)
    /// End the program now, whatever still runs.
    case leave(status: Int32)
  }

  /// What began the end, if it has begun.
  package private(set) var cause: Cause?
  private var level: StopLevel?

  /// The signal that ends the program, once one does.
  package var signal: Int32? { cause?.signal }

  package mutating func receive(_ cause: Cause) -> [Action] {
    guard let level, let first = self.cause else {
      self.cause = cause
      level = .terminate
      return [.send(.stop(.terminate, by: .signal)), .announce(.terminate)]
    }
    guard cause == .interrupt else { return [] }
    switch level {
    case .terminate:
      self.level = .kill
      return [.send(.stop(.kill, by: .signal)), .announce(.kill)]
    case .kill: return [.leave(status: ExitStatus.signal(first.signal))]
    }
  }
}
