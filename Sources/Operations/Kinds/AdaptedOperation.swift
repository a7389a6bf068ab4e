import Foundation
import Synchronization

/// An operation of ours around one of any other class, so that its start, its end and its cancellation can be seen.
///
/// Give this one to the queue, not the one inside: what it depends on is taken over when the adapter is made, and to make
/// others wait for it, let them depend on the adapter. It may be asynchronous, if it keeps Foundation's rules. Cancelling
/// the adapter cancels it; that it was cancelled by itself is seen when it ends, and then the adapter is cancelled too.
public final class AdaptedOperation: AsyncOperation, @unchecked Sendable {
  // Safe: constants, and an atomic.

  // Without a limit of its own: what is in it is ready, and bounded by the queues that the adapters are in. By hand it
  // could not be started: Foundation may still count a dependency that has finished for the adapter.
  private static let queue = OperationQueue()
  private static let ends = OperationQueue()

  private let hasBegun = Atomic(false)

  /// The operation inside.
  public let operation: Operation

  /// Makes an adapter with the name, the priority and the dependencies of an operation that has not been started.
  public init(_ operation: Operation) {
    precondition(
      !operation.isExecuting && !operation.isFinished, "\(operation) has been started before; an operation runs once")
    self.operation = operation
    super.init()
    name = Self.displayName(of: operation)
    queuePriority = operation.queuePriority
    for dependency in operation.dependencies { addDependency(dependency) }
  }

  /// Starts the operation inside; the queue calls it.
  public override func main() {
    hasBegun.store(true, ordering: .releasing)
    operation.whenFinished(on: Self.ends) { [self] in
      // Told as this one's own, so that those who look at this one alone know.
      if operation.isCancelled { cancel() }
      finish()
    }
    Self.queue.addOperation(operation)
  }

  /// Cancels the operation inside; the queue calls it.
  public override func didCancel() { operation.cancel() }

  /// Ends the operation inside with this one, if it was never started.
  package override func operationDidFinish() {
    guard !operation.isFinished, !operation.isExecuting, !hasBegun.load(ordering: .acquiring) else { return }
    operation.cancel()
    Self.queue.addOperation(operation)
  }
}
