import Foundation

/// Products of an operation, made by the operation itself or by a closure it was made with, run together with all their
/// dependencies that no queue runs yet.
extension AsyncOperation {
  /// Gives another operation, with all its dependencies that are in no queue, to the group, dependency queue or queue
  /// that this operation is in.
  ///
  /// Call it in `main` or later. Foundation does not report which queue an operation is in: a plain `OperationQueue` is
  /// known until `main` returns, and operations produced later run beside it, in a queue of their own. A
  /// `DelegatedOperationQueue` is always known. Producing an operation that has been started or added before is a
  /// programmer error, and so are a finished group and a dependency cycle. Observers are notified before the operation
  /// is added.
  public final func produce(_ operation: Operation) {
    add(wholeProduct(operation), or: parts.existingRareState?.queue ?? currentQueue)
  }

  /// The operations to run for a product of this operation, ending with the product; notifies observers of each.
  final func wholeProduct(_ product: Operation) -> [Operation] {
    let whole = Self.takenAlong(by: [product], .all) + [product]
    for operation in whole { post(.produced(operation)) }
    return whole
  }

  /// Runs an operation that a condition of this operation has made, and returns when it has finished.
  ///
  /// Where this operation holds a slot, the other runs beside the queue: it would wait for that slot.
  final func runFirst(_ operation: Operation) async {
    guard !operation.isFinished else { return }
    let whole = wholeProduct(operation)
    let isEntered = parts.existingNode.map { node in DependencyGraph.contents.withLock { _ in node.isEntered } }
    let wait = (operation as? AsyncOperation).map(beginAwait)
    defer { withExtendedLifetime(wait) {} }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        operation.whenEnded { _, _ in continuation.resume() }
        add(whole, beside: isEntered ?? true)
      }
    } onCancel: {
      // Cancelled from the last to the first, so that the end of none lets another begin.
      for operation in whole.reversed() { operation.cancel() }
    }
  }

  /// Adds operations to the group or the dependency queue that this operation is in, or else to the given queue or a
  /// new one; with `isBeside`, they take no slot of the queue that the group or the dependency queue has.
  private func add(_ operations: [Operation], or queue: OperationQueue? = nil, beside isBeside: Bool = false) {
    do {
      if let group = parts.existingRareState?.group as? GroupOperation {
        try group.add(operations, beside: isBeside)
      } else if let holder, !isBeside {
        try holder.add(operations)
      } else if operations.count == 1 {
        (queue ?? OperationQueue()).addOperation(operations[0])
      } else {
        // A plain queue scans all its waiting operations at every event.
        try DependencyQueue(feeding: queue ?? OperationQueue()).add(operations)
      }
    } catch {
      programmerError("\(self) produced an operation: \(error)")
    }
  }

  /// The dependency queue that the operation is in.
  private var holder: (any AdmittingQueue)? {
    parts.existingNode.flatMap { node in DependencyGraph.contents.withLock { _ in node.holder } }
  }

  /// The queue that `main` may be running in: the current thread's, or the one whose start was deferred.
  private var currentQueue: OperationQueue? {
    guard case .beginning = parts.lifecycle.state else { return nil }
    return OperationQueue.current ?? parts.existingRareState?.startQueue
  }
}
