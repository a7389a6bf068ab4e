import Foundation

/// What an operation produces, by itself or by a closure that it was made with, is run whole: with all that it depends on
/// and that nobody runs.
extension AsyncOperation {
  /// Gives another operation, with all that it depends on and that is in no queue, to the group, the feeder or the queue that
  /// this one is in.
  ///
  /// From `main`, or later. Foundation tells no operation which queue it is in: a plain `OperationQueue` is known until
  /// `main` has returned, and what is produced later runs beside it, in a queue of its own; a `DelegatedOperationQueue`
  /// is always known. An operation that has been started or added before is a programmer error, and so are a finished group
  /// and a cycle of dependencies. Observers are told before it is added.
  public final func produce(_ operation: Operation) {
    add(wholeProduct(operation)) { parts.existingSideState?.queue ?? currentQueue ?? OperationQueue() }
  }

  /// The operations to be run for a product of this one, itself the last; observers are told of them.
  final func wholeProduct(_ product: Operation) -> [Operation] {
    let whole = Self.takenAlong(by: [product]) { _ in true } + [product]
    for operation in whole { post(.produced(operation)) }
    return whole
  }

  /// Runs an operation that a condition of this one has made, and returns when it has finished.
  ///
  /// Not in a plain queue, where it would wait for the slot that this operation may hold.
  final func runFirst(_ operation: Operation) async {
    guard !operation.isFinished else { return }
    let whole = wholeProduct(operation)
    let wait = (operation as? AsyncOperation).map(beginAwait)
    defer { withExtendedLifetime(wait) {} }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        operation.whenEnded { _, _ in continuation.resume() }
        add(whole) { OperationQueue() }
      }
    } onCancel: {
      // The last first: the end of none lets another begin.
      for operation in whole.reversed() { operation.cancel() }
    }
  }

  /// Adds operations to the group or the feeder that this one is in, else to this queue.
  private func add(_ operations: [Operation], or queue: () -> OperationQueue) {
    do {
      if let group = parts.existingSideState?.group as? GroupOperation {
        try group.add(operations)
      } else if let feeder {
        try feeder.add(operations)
      } else if operations.count == 1 {
        queue().addOperation(operations[0])
      } else {
        // A plain queue looks at all that waits in it at every event.
        try OperationFeeder(feeding: queue()).add(operations)
      }
    } catch {
      programmerError("\(self) produced an operation: \(error)")
    }
  }

  /// The feeder that the operation is in.
  private var feeder: OperationFeeder? {
    parts.existingNode.flatMap { node in DependencyGraph.contents.withLock { _ in node.holder } } as? OperationFeeder
  }

  /// The queue of the thread, if that may be running `main`.
  private var currentQueue: OperationQueue? {
    guard case .beginning = parts.lifecycle.state else { return nil }
    return OperationQueue.current
  }
}
