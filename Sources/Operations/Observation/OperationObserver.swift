import Foundation

/// An event in the life of an operation.
///
/// Events come in this order, as far as they come, except that an operation may be cancelled, and may produce others, at
/// any time before it has executed.
public enum OperationEvent: Sendable {
  /// It entered an `OperationFeeder` or a queue; Foundation's own queue is noticed when it reads `isReady`.
  case didAttach
  /// `main` is about to be called.
  case willExecute
  /// It gave another operation to its queue, by `produce(_:)`.
  case didProduce(Operation)
  /// It was cancelled, and has not finished.
  case didCancel
  /// Its work is over; left out if it never began.
  case didExecute
  /// It has finished, with its `failure` if it has one; always the last.
  case didFinish((any Error)?)
}

/// Receives the events of an operation; each method does nothing by default.
public protocol OperationObserver: Sendable {
  /// It entered a queue or a feeder.
  func operationDidAttach(_ operation: AsyncOperation)
  /// `main` is about to be called, or has been by now: the operation does not wait for observers.
  func operationWillExecute(_ operation: AsyncOperation)
  /// It gave another operation to its queue.
  func operation(_ operation: AsyncOperation, didProduce other: Operation)
  /// It was cancelled, and had not finished.
  func operationDidCancel(_ operation: AsyncOperation)
  /// Its work is over; not called if it never began.
  func operationDidExecute(_ operation: AsyncOperation)
  /// It has finished; always the last.
  func operation(_ operation: AsyncOperation, didFinishWith failure: (any Error)?)
}

extension OperationObserver {
  /// Does nothing.
  public func operationDidAttach(_ operation: AsyncOperation) {}
  /// Does nothing.
  public func operationWillExecute(_ operation: AsyncOperation) {}
  /// Does nothing.
  public func operation(_ operation: AsyncOperation, didProduce other: Operation) {}
  /// Does nothing.
  public func operationDidCancel(_ operation: AsyncOperation) {}
  /// Does nothing.
  public func operationDidExecute(_ operation: AsyncOperation) {}
  /// Does nothing.
  public func operation(_ operation: AsyncOperation, didFinishWith failure: (any Error)?) {}

  fileprivate func tell(_ operation: AsyncOperation, _ event: OperationEvent) {
    switch event {
    case .didAttach: operationDidAttach(operation)
    case .willExecute: operationWillExecute(operation)
    case .didProduce(let other): self.operation(operation, didProduce: other)
    case .didCancel: operationDidCancel(operation)
    case .didExecute: operationDidExecute(operation)
    case .didFinish(let failure): self.operation(operation, didFinishWith: failure)
    }
  }
}

extension AsyncOperation {
  /// Delivers the events from now on to `observer` on `queue`; the observer is kept until the operation has finished.
  ///
  /// Calls come one at a time, in the order of the events, none left out; on one queue that holds across observers and
  /// operations. Any thread may call this. Add the observer before the operation enters a queue to see it attach.
  public final func addObserver(_ observer: any OperationObserver, on queue: DispatchQueue = .main) {
    addEvents(on: queue) { operation, event in observer.tell(operation, event) }
  }

  @discardableResult
  fileprivate final func addEvents(
    on queue: DispatchQueue, _ handler: @escaping @Sendable (AsyncOperation, OperationEvent) -> Void
  ) -> OperationObservation {
    let observation = OperationObservation(
      in: parts.observers, interest: .life, on: queue,
      handler: { operation, old, new in
        guard let old else { return }
        let operation = unsafeDowncast(operation, to: AsyncOperation.self)
        OperationEvent.forEach(from: old.lifecycle, to: new.lifecycle, operation) { handler(operation, $0) }
      },
      news: { operation, news in
        let operation = unsafeDowncast(operation, to: AsyncOperation.self)
        switch news {
        case .attached: handler(operation, .didAttach)
        case .produced(let other): handler(operation, .didProduce(other))
        case .lines, .timed: break
        }
      })
    // With a side state the operation is told that it enters a queue.
    _ = parts.sideState
    add(observation)
    return observation
  }
}

extension ObservableOperation {
  /// Calls `handler` on `queue` with each event from now on, until the token goes away or the operation has finished.
  ///
  /// In order and none left out, as with `addObserver(_:on:)`.
  public func observeEvents(
    on queue: DispatchQueue = .main, _ handler: @escaping @Sendable (Self, OperationEvent) -> Void
  ) -> ObservationToken {
    ObservationToken(
      addEvents(on: queue) { operation, event in
        handler(unsafeDowncast(operation, to: Self.self), event)
      })
  }
}

extension ChangeInterest {
  fileprivate static let life = lifecycle { [$0.isExecuting, $0.isCancelled, $0.isFinished] }
}

extension OperationEvent {
  fileprivate static func forEach(
    from old: OperationLifecycle, to new: OperationLifecycle, _ operation: AsyncOperation,
    _ body: (OperationEvent) -> Void
  ) {
    if !old.isExecuting, new.isExecuting { body(.willExecute) }
    if !old.isCancelled, new.isCancelled { body(.didCancel) }
    guard new.isFinished else { return }
    if old.isExecuting { body(.didExecute) }
    body(.didFinish(operation.failure))
  }
}
