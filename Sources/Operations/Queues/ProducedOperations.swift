import Foundation

extension AsyncOperation {
  /// Gives another operation to the group, the feeder or the queue that this one is in.
  ///
  /// From `main`, or later. Foundation tells no operation which queue it is in: a plain `OperationQueue` is known until
  /// `main` has returned, and what is produced later runs beside it, in a queue of its own; a `DelegatedOperationQueue`
  /// is always known. An operation that has been started or added before is a programmer error, and so are a finished group
  /// and a cycle of dependencies. Observers are told before it is added.
  public final func produce(_ operation: Operation) {
    if let group = parts.existingSideState?.group as? GroupOperation {
      post(.produced(operation))
      do { try group.add(operation) } catch { programmerError("\(self) produced an operation: \(error)") }
    } else if let feeder {
      post(.produced(operation))
      do { try feeder.add(operation) } catch { programmerError("\(self) produced an operation: \(error)") }
    } else {
      post(.produced(operation))
      let queue = parts.existingSideState?.queue ?? currentQueue ?? OperationQueue()
      queue.addOperation(operation)
    }
  }

  /// Runs an operation that a condition of this one has made, and returns when it has finished.
  ///
  /// Not in a plain queue, where it would wait for the slot that this operation may hold.
  final func runFirst(_ operation: Operation) async {
    guard !operation.isFinished else { return }
    let wait = (operation as? AsyncOperation).map(beginAwait)
    defer { withExtendedLifetime(wait) {} }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        operation.whenEnded { _, _ in continuation.resume() }
        post(.produced(operation))
        do {
          if let group = parts.existingSideState?.group as? GroupOperation {
            try group.add(operation)
          } else if let feeder {
            try feeder.add(operation)
          } else {
            OperationQueue().addOperation(operation)
          }
        } catch {
          programmerError("\(self) produced an operation: \(error)")
        }
      }
    } onCancel: {
      operation.cancel()
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
