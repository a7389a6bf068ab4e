import Foundation
import Synchronization

/// An operation that makes the start, the end and the cancellation of an operation of another class observable.
///
/// Give the adapter to the queue, not the operation inside. The adapter takes over the dependencies that the operation
/// has when the adapter is made; to make other operations wait for the operation, let them depend on the adapter. The
/// operation inside may be asynchronous, if it keeps Foundation's rules. Cancelling the adapter cancels the operation,
/// and its priority is the operation's. If the operation is cancelled on its own, the adapter is cancelled when the
/// operation ends.
public final class AdaptedOperation: AsyncOperation, @unchecked Sendable {
  // Safe: an atomic, a constant, and an array that only the deinit changes.

  // No limit of its own: the adapters' queues limit the number of operations in it.
  private static let aside = OperationQueue()
  /// Uses a serial queue: after its first use, dispatch's global pool wakes once a second indefinitely.
  private static let ends = {
    let queue = OperationQueue()
    queue.underlyingQueue = endsQueue
    return queue
  }()
  // Retained here, because an operation queue does not retain it.
  private static let endsQueue = DispatchQueue(label: "AdaptedOperation.ends")

  private let hasBegun = Atomic(false)
  private let wasFinishedBefore = Atomic(false)
  /// Whether the operation inside had finished when it was to be started.
  package var isUnexecuted: Bool { wasFinishedBefore.load(ordering: .acquiring) }

  /// Whether a dashboard made the adapter: it stands for the operation inside.
  package let standsForOperation: Bool

  /// The operation inside.
  public var operation: Operation { contents[0] }
  /// The operation inside, alone; an array, so that adapters in each other are freed one after another.
  private var contents: [Operation]

  /// Makes an adapter with the name, the priority and the dependencies of an operation that has not been started.
  public convenience init(_ operation: Operation) {
    self.init(operation, takesDependencies: true)
  }

  /// As `init(_:)`; without `takesDependencies` the caller, a dashboard, handles the dependencies.
  package init(_ operation: Operation, takesDependencies: Bool) {
    require(
      !operation.isExecuting && !operation.isFinished, "\(operation) has been started before; an operation runs once")
    contents = [operation]
    standsForOperation = !takesDependencies
    super.init()
    Self.hold(operation)
    name = operation.displayName
    queuePriority = operation.queuePriority
    qualityOfService = operation.qualityOfService
    if takesDependencies { for dependency in operation.dependencies { addDependency(dependency) } }
  }

  deinit {
    Self.letGo(operation)
    Nesting.release(&contents)
  }

  /// Starts the operation inside; the queue calls it.
  public override func main() {
    hasBegun.store(true, ordering: .releasing)
    if operation.isFinished { wasFinishedBefore.store(true, ordering: .releasing) }
    // Foundation may still count a dependency that has just finished; a queue waits until it doesn't.
    let inQueue = { Self.aside.addOperation(self.operation) }
    if operation.isReady { Nesting.call({ self.operation.start() }, elsewhere: inQueue) } else { inQueue() }
    if operation.isFinished { end() } else { operation.whenFinished(on: Self.ends) { self.end() } }
  }

  // MARK: Changes of the operation inside

  /// Whether the operation inside was cancelled, or got another priority, and the adapter was not.
  package var isBehind: Bool {
    operation.isCancelled && !isCancelled || operation.queuePriority != queuePriority
  }

  /// Takes over the cancellation and the priority of the operation inside.
  package func follow() {
    if operation.queuePriority != queuePriority { super.queuePriority = operation.queuePriority }
    if operation.isCancelled, !isCancelled { cancel() }
  }

  /// Whether the operation inside can execute now; waits for the dependencies that it has got meanwhile.
  func mayEnter() -> Bool {
    follow()
    guard !operation.isReady else { return true }
    for dependency in operation.dependencies where !dependency.isFinished {
      // In a cycle no operation becomes ready.
      try? addDependencyOrThrow(dependency)
    }
    return false
  }

  /// The priority of the operation inside, which a new value sets too.
  public override var queuePriority: QueuePriority {
    get { super.queuePriority }
    set {
      // First, because otherwise `follow()` could take the old value for a change.
      if operation.queuePriority != newValue { operation.queuePriority = newValue }
      super.queuePriority = newValue
    }
  }

  private func end() {
    if operation.isCancelled { super.cancel() }
    finish()
  }

  /// Cancels this operation and the operation inside.
  public override func cancel() {
    super.cancel()
    // If it has been cancelled, the operations inside it have been too.
    if !operation.isCancelled { Nesting.call { self.operation.cancel() } }
  }

  override var mayFinishUnbegun: Bool { operation.isFinished }

  override func finishAfterWhatItHolds() {
    operation.cancel()
    if !operation.isExecuting, !hasBegun.exchange(true, ordering: .acquiringAndReleasing) {
      Self.aside.addOperation(operation)
    }
    operation.whenFinished(on: Self.ends) { self.begin() }
  }
}
