/// What one operation has for its observers: who they are, and its progress.
///
/// Made when the first observer or the first progress comes, so that an operation without either pays nothing.
final class ObservationBoard: Sendable {
  typealias Snapshot = OperationObservation.Snapshot

  /// One move of the operation, made under the board's lock.
  struct Move<Action> {
    var old: OperationLifecycle
    var new: OperationLifecycle
    var action: Action
  }

  private struct Contents {
    var progress = OperationProgress()
    var observations: [OperationObservation] = []
  }

  private let contents = Lock(Contents())

  var progress: OperationProgress { contents.withLock { $0.progress } }

  /// Makes a move and posts it, so that every observer is told of all moves in the order in which they were made.
  func post<Action>(_ operation: AsyncOperation, _ make: () -> Move<Action>) -> Action {
    // What is let go of at the end goes outside the lock: a handler's last reference may end other observations.
    var ended: [OperationObservation] = []
    let action = contents.withLock { contents in
      let move = make()
      guard move.old != move.new else { return move.action }
      let old = Snapshot(lifecycle: move.old, progress: contents.progress)
      let new = Snapshot(lifecycle: move.new, progress: contents.progress)
      for observation in contents.observations { observation.post(operation, from: old, to: new) }
      if move.new.isFinished { swap(&ended, &contents.observations) }
      return move.action
    }
    withExtendedLifetime(ended) {}
    return action
  }

  /// Sets the progress and posts it, unless the operation has finished.
  func report(_ progress: OperationProgress, _ operation: AsyncOperation) {
    contents.withLock { contents in
      let lifecycle = operation.lifecycle
      guard !lifecycle.isFinished, progress != contents.progress else { return }
      let old = Snapshot(lifecycle: lifecycle, progress: contents.progress)
      contents.progress = progress
      let new = Snapshot(lifecycle: lifecycle, progress: progress)
      for observation in contents.observations { observation.post(operation, from: old, to: new) }
    }
  }

  /// Adds an observation, told first of the value now if it asks for that; `beginObserved` makes all later moves come here.
  func add(
    _ observation: OperationObservation, to operation: AsyncOperation, initial: Bool,
    beginObserved: () -> OperationLifecycle
  ) {
    contents.withLock { contents in
      let lifecycle = beginObserved()
      if initial {
        observation.postInitial(operation, Snapshot(lifecycle: lifecycle, progress: contents.progress))
      }
      if !lifecycle.isFinished { contents.observations.append(observation) }
    }
  }

  /// Removes an observation; `endObserved` is called if none is left.
  func remove(_ observation: OperationObservation, endObserved: () -> Void) {
    contents.withLock { contents in
      contents.observations.removeAll { $0 === observation }
      if contents.observations.isEmpty { endObserved() }
    }
  }
}
