import Foundation

extension AsyncOperation {
  /// Gives another operation to whatever this one is in: its group, its feeder or its queue.
  ///
  /// From `main`, or later. Foundation tells no operation which queue it is in, so that of one in a plain `OperationQueue`
  /// the queue is known while `main` is running, and after it only if the operation had an observer, a condition or a
  /// time limit when it began; elsewhere this is a programmer error. So is an operation that has been started or added
  /// before, a finished group, and a cycle of dependencies. Observers are told before it is added.
  public final func produce(_ operation: Operation) {
    if let group = parts.existingSideState?.group as? GroupOperation {
      post(.produced(operation))
      do { try group.add(operation) } catch { preconditionFailure("\(self) produced an operation: \(error)") }
    } else if let node = parts.existingNode,
      let feeder = DependencyGraph.contents.withLock({ _ in node.holder }) as? OperationFeeder
    {
      post(.produced(operation))
      do { try feeder.add(operation) } catch { preconditionFailure("\(self) produced an operation: \(error)") }
    } else if let queue = parts.existingSideState?.queue ?? currentQueue {
      post(.produced(operation))
      queue.addOperation(operation)
    } else {
      preconditionFailure(
        "\(self) produced an operation, but which queue it is in is not known any more; see produce(_:)")
    }
  }

  /// The queue of the thread, if `main` may be what it is running.
  private var currentQueue: OperationQueue? {
    guard case .beginning = parts.lifecycle.state else { return nil }
    return OperationQueue.current
  }
}
