import Foundation

/// Receives notifications when operations enter and leave a queue or a dependency queue.
public protocol OperationQueueDelegate: AnyObject, Sendable {
  /// An operation is about to be added; called on the thread that adds it, which waits.
  ///
  /// Use this method to give the operation a condition, an observer or a time limit.
  func operationQueue(_ queue: OperationQueue, willAdd operation: Operation)
  /// An operation has been added.
  func operationQueue(_ queue: OperationQueue, didAdd operation: Operation)
  /// An operation has finished; the last call for it.
  ///
  /// For an operation of a class other than `AsyncOperation`, the only failure reported is a cancellation.
  func operationQueue(_ queue: OperationQueue, didFinish operation: Operation, with failure: (any Error)?)
}

extension OperationQueueDelegate {
  /// Does nothing.
  public func operationQueue(_ queue: OperationQueue, willAdd operation: Operation) {}
  /// Does nothing.
  public func operationQueue(_ queue: OperationQueue, didAdd operation: Operation) {}
  /// Does nothing.
  public func operationQueue(_ queue: OperationQueue, didFinish operation: Operation, with failure: (any Error)?) {}
}

/// An `OperationQueue` with a delegate.
///
/// Each operation knows its queue from the moment it is added, and a dashboard that observes the queue sees each
/// operation enter. The delegate is not notified of barriers.
open class DelegatedOperationQueue: OperationQueue, @unchecked Sendable {
  // Safe: constant.
  private let notifier: DelegateNotifier?

  /// Makes a queue without a delegate.
  public override init() {
    notifier = nil
    super.init()
  }

  /// Makes a queue that notifies `delegate`, a weak reference, on `delegateQueue`.
  public init(delegate: any OperationQueueDelegate, on delegateQueue: DispatchQueue = .main) {
    notifier = DelegateNotifier(delegate, on: delegateQueue)
    super.init()
  }

  /// Adds an operation; the block form calls this method too.
  open override func addOperation(_ operation: Operation) {
    enter([operation]) { super.addOperation(operation) }
  }

  /// Adds operations, and waits until they finish if asked to.
  open override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
    enter(operations) { super.addOperations(operations, waitUntilFinished: false) }
    if wait { for operation in operations { operation.waitUntilFinished() } }
  }

  private func enter(_ operations: [Operation], _ add: () -> Void) {
    guard let notifier else { return attach(operations, add) }
    notifier.notify(of: operations, addedTo: self) { attach(operations, add) }
  }

  private func attach(_ operations: [Operation], _ add: () -> Void) {
    QueueEntryObserver.tell(operations, .queue(self))
    for case let operation as AsyncOperation in operations {
      _ = operation.parts.rareState
      operation.didAttach(to: self)
    }
    add()
  }
}

/// Calls the delegate of a queue, in order.
final class DelegateNotifier: Sendable {
  private typealias Call = @Sendable (any OperationQueueDelegate) -> Void

  // Safe: a weak reference that is never reassigned.
  private struct WeakDelegate: @unchecked Sendable { weak var delegate: (any OperationQueueDelegate)? }

  private let weak: WeakDelegate
  private let mailbox: Mailbox<Call>

  init(_ delegate: any OperationQueueDelegate, on queue: DispatchQueue) {
    let weak = WeakDelegate(delegate: delegate)
    self.weak = weak
    mailbox = Mailbox(on: queue) { calls in for call in calls { weak.delegate.map(call) } }
  }

  func notify<Failure: Error>(
    of operations: [Operation], addedTo queue: OperationQueue, _ add: () throws(Failure) -> Void
  ) throws(Failure) {
    for operation in operations { weak.delegate?.operationQueue(queue, willAdd: operation) }
    // The ends of operations that finish while they are being added, reported after their `didAdd`; nil after that.
    let early = Lock<[Call]?>([])
    for operation in operations {
      operation.whenEnded { [mailbox] operation, failure in
        let call: Call = { $0.operationQueue(queue, didFinish: operation, with: failure) }
        early.withLock { if $0?.append(call) == nil { mailbox.post(call) } }
      }
    }
    try add()
    early.withLock { ends in
      let additions = operations.map { operation -> Call in { $0.operationQueue(queue, didAdd: operation) } }
      mailbox.post(contentsOf: additions + (ends ?? []))
      ends = nil
    }
  }
}
