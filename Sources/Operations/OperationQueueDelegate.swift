import Foundation

/// Somebody who is told what enters and leaves a queue or a feeder.
public protocol OperationQueueDelegate: AnyObject, Sendable {
  /// An operation is about to be added; called on the thread that adds it, which waits.
  ///
  /// The place to give it a condition, an observer or a time limit.
  func operationQueue(_ queue: OperationQueue, willAdd operation: Operation)
  /// An operation has been added.
  func operationQueue(_ queue: OperationQueue, didAdd operation: Operation)
  /// An operation has finished; the last that is said of it.
  ///
  /// Of an operation of another class than `AsyncOperation` only a cancellation is known as a failure.
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
/// Operations in it know from the beginning which queue they are in. Barriers are not told of.
open class DelegatedOperationQueue: OperationQueue, @unchecked Sendable {
  // Safe: constant.
  private let teller: QueueTeller

  /// Makes a queue that tells `delegate`, which it does not keep, on `delegateQueue`.
  public init(delegate: any OperationQueueDelegate, on delegateQueue: DispatchQueue = .main) {
    teller = QueueTeller(delegate, on: delegateQueue)
    super.init()
  }

  /// Adds an operation; its block form comes here too.
  open override func addOperation(_ operation: Operation) {
    teller.tell(of: [operation], to: self) {
      attach([operation])
      super.addOperation(operation)
    }
  }

  /// Adds operations, and waits for their end if asked to.
  open override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
    teller.tell(of: operations, to: self) {
      attach(operations)
      super.addOperations(operations, waitUntilFinished: false)
    }
    if wait { for operation in operations { operation.waitUntilFinished() } }
  }

  private func attach(_ operations: [Operation]) {
    for case let operation as AsyncOperation in operations {
      DependencyGraph.attach(operation, operation.extras, to: self)
    }
  }
}

/// Tells the delegate of a queue, in order.
final class QueueTeller: Sendable {
  private enum Message: Sendable {
    case didAdd(Operation)
    case didFinish(Operation, (any Error)?)
  }

  /// One that is being added must not be told to have finished before it is told to have been added.
  private enum Adding: Sendable {
    case underWay(ends: [Message])
    case done
  }

  // Safe: a weak reference that is never set again.
  private struct WeakDelegate: @unchecked Sendable { weak var delegate: (any OperationQueueDelegate)? }

  private let delegate: WeakDelegate
  private let mailbox: Mailbox<(OperationQueue, Message)>

  init(_ delegate: any OperationQueueDelegate, on queue: DispatchQueue) {
    let weak = WeakDelegate(delegate: delegate)
    self.delegate = weak
    mailbox = Mailbox(on: queue) { messages in
      for (queue, message) in messages {
        switch message {
        case .didAdd(let operation): weak.delegate?.operationQueue(queue, didAdd: operation)
        case .didFinish(let operation, let failure):
          weak.delegate?.operationQueue(queue, didFinish: operation, with: failure)
        }
      }
    }
  }

  func tell<Failure: Error>(
    of operations: [Operation], to queue: OperationQueue, _ add: () throws(Failure) -> Void
  ) throws(Failure) {
    for operation in operations { delegate.delegate?.operationQueue(queue, willAdd: operation) }
    let adding = Lock(Adding.underWay(ends: []))
    let end: @Sendable (Message) -> Void = { [mailbox] message in
      adding.withLock { adding in
        switch adding {
        case .underWay(let ends): adding = .underWay(ends: ends + [message])
        case .done: mailbox.post((queue, message))
        }
      }
    }
    for operation in operations {
      if let operation = operation as? AsyncOperation {
        _ = operation.extras.whenEnded { end(.didFinish($0, $0.failure)) }
      } else {
        ForeignEnd.watch(operation) { end(.didFinish(operation, operation.isCancelled ? CancellationError() : nil)) }
      }
    }
    try add()
    adding.withLock { adding in
      guard case .underWay(let ends) = adding else { return }
      mailbox.post(contentsOf: operations.map { (queue, .didAdd($0)) } + ends.map { (queue, $0) })
      adding = .done
    }
  }
}
