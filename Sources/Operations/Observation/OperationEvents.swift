import Foundation

/// An event in the life of an operation.
///
/// Events occur in this order, though not all of them in every operation. An operation may be cancelled, and may
/// produce others, at any time before it has executed.
public enum OperationEvent: Sendable {
  /// The operation entered an `OperationFeeder` or a queue; Foundation's own queue is noticed when it starts the
  /// operation.
  case didAttach
  /// `main` is about to be called.
  case willExecute
  /// The operation gave another operation to its queue, by `produce(_:)`.
  case didProduce(Operation)
  /// The operation was cancelled, and has not finished.
  case didCancel
  /// The operation's work is over; omitted if it never began.
  case didExecute
  /// The operation has finished, with its `failure` if it has one; always the last event.
  case didFinish((any Error)?)
}

extension ObservableOperation {
  /// Calls `handler` on `queue` with each event from now on, until the token is freed or the operation has finished.
  ///
  /// Events are delivered one at a time, in order, and without gaps; on one queue, this order holds across observations
  /// and operations. May be called from any thread. To receive `didAttach`, observe before the operation enters a
  /// queue.
  public func observeEvents(
    on queue: DispatchQueue = .main, _ handler: @escaping @Sendable (Self, OperationEvent) -> Void
  ) -> ObservationToken {
    let observation = OperationObservation(
      in: parts.observers, interest: .life, on: queue,
      handler: { operation, old, new in
        guard let old else { return }
        let operation = unsafeDowncast(operation, to: Self.self)
        OperationEvent.forEach(from: old.lifecycle, to: new.lifecycle, operation) { handler(operation, $0) }
      },
      news: { operation, news in
        let operation = unsafeDowncast(operation, to: Self.self)
        switch news {
        case .attached: handler(operation, .didAttach)
        case .produced(let other): handler(operation, .didProduce(other))
        case .lines, .timed: break
        }
      })
    // With a side state, the operation is notified when it enters a queue.
    _ = parts.sideState
    add(observation)
    return ObservationToken(observation)
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
