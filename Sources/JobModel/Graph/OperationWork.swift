/// An operation of the program's own queue.
package struct OperationWork: Sendable, Equatable {
  /// Which changes of an operation can be observed.
  package enum Visibility: String, Sendable {
    /// An `AsyncOperation`: states, progress, log and error.
    case whole
    /// Another class, executed inside a wrapper: start and end; a cancellation shows at the end.
    case wrapped
    /// Another class, added to the queue directly: the end, and the start if a poll finds it executing.
    case end
  }

  package var className: String
  package var visibility: Visibility
  /// Whether it can be paused and resumed.
  package var canPause: Bool
  /// Whether the program can make a new operation for another attempt.
  package var canRetry: Bool

  package init(className: String, visibility: Visibility, canPause: Bool = false, canRetry: Bool = false) {
    self.className = className
    self.visibility = visibility
    self.canPause = canPause
    self.canRetry = canRetry
  }

  package var kind: String { visibility == .whole ? "operation" : "foreign" }

  /// How much of its course the queue can see, in a few words.
  package var tracking: String {
    switch visibility {
    case .whole: "tracked whole"
    case .wrapped: "tracked: start and end only"
    case .end: "tracked: end only"
    }
  }

  /// The visibility as a sentence.
  package var note: String {
    switch visibility {
    case .whole: "an AsyncOperation, seen whole"
    case .wrapped: "no AsyncOperation: its start and its end are seen"
    case .end: "no AsyncOperation, and not added by the dashboard: only its end is sure"
    }
  }
}

/// An action that not every job supports.
package enum JobAbility: Sendable {
  case pause
  case retry
  case kill
  case showStack
}
