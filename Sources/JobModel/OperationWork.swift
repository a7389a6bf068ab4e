/// What is known of an operation in a program's own queue.
package struct OperationWork: Sendable, Equatable {
  /// How much of its life can be seen.
  package enum Sight: String, Sendable {
    /// One of ours: every state, its progress, its log and its error.
    case whole
    /// Anybody's, started by a wrapper: when it entered, began and ended. That it was cancelled shows at its end.
    case wrapped
    /// Anybody's that was in the queue already: its end. Its start is looked for when something else has ended.
    case end
  }

  package var className: String
  package var sight: Sight
  /// Whether it can be held and gone on with.
  package var canPause: Bool

  package init(className: String, sight: Sight, canPause: Bool = false) {
    self.className = className
    self.sight = sight
    self.canPause = canPause
  }

  package var kind: String { sight == .whole ? "operation" : "foreign" }

  /// What a person should know of how it is seen.
  package var note: String {
    switch sight {
    case .whole: "an AsyncOperation, seen whole"
    case .wrapped: "no AsyncOperation: its start and its end are seen"
    case .end: "no AsyncOperation, and in the queue before the dashboard: only its end is sure"
    }
  }
}

/// What a person may want of a job, and not every job can do.
package enum JobAbility: Sendable {
  case pause
  case retry
  case kill
}

extension JobWork {
  /// Why it cannot do that; nil if it can.
  package func refusal(of ability: JobAbility) -> String? {
    guard case .operation(let work) = self else { return nil }
    switch ability {
    case .pause: return work.canPause ? nil : "\(work.className) has no way to pause; P holds back what has not started"
    case .retry: return "an operation runs once; the program has to add a new one"
    case .kill: return "an operation of this program can only be asked to end: x cancels"
    }
  }
}
