import Foundation

extension AsyncOperation {
  /// Gives another operation to the group, the feeder or the queue that this one is in.
  ///
  /// From `main`, or later. Foundation tells no operation which queue it is in: a plain `OperationQueue` is known while
  /// `main` is running, and after it only if the operation had an observer, a condition or a time limit when it began;
  /// else this is a programmer error. So is an operation that has been started or added before, a finished group, and a
  /// cycle of dependencies. Observers are told before it is added.
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

  /// The queue of the thread, if that may be running `main`.
  private var currentQueue: OperationQueue? {
    guard case .beginning = parts.lifecycle.state else { return nil }
    return OperationQueue.current
  }
}
