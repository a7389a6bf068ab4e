import Foundation

/// Tells the end of an operation that is not of our class.
///
/// By an operation of ours that depends on it: a `completionBlock` could be replaced by the operation's owner.
enum ForeignEnd {
  /// Calls `body` once when `operation` has finished, on some thread.
  ///
  /// A queue of its own by default: a queue looks at all that waits in it whenever something happens.
  static func watch(
    _ operation: Operation, on queue: OperationQueue = OperationQueue(), _ body: @escaping @Sendable () -> Void
  ) {
    let end = BlockOperation(block: body)
    end.addDependency(operation)
    queue.addOperation(end)
  }
}
