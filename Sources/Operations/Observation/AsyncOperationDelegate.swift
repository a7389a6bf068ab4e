import Dispatch

/// Receives the changes of an operation, one call at a time and in order, on the queue that it asked for.
///
/// Implement what matters; each method does nothing by default. A `@MainActor` type implements them `nonisolated` and
/// begins with `MainActor.assumeIsolated`, which holds when it asked for `.main`.
public protocol AsyncOperationDelegate: AnyObject, Sendable {
  /// The operation has passed from one state to the next.
  func operation(
    _ operation: AsyncOperation, didChangeFrom oldState: AsyncOperation.State, to state: AsyncOperation.State)
  /// The operation has reported how far it has come.
  func operation(_ operation: AsyncOperation, didReport progress: OperationProgress)
  /// The operation has been cancelled; one that executes has yet to finish.
  func operationDidCancel(_ operation: AsyncOperation)
  /// The operation is over; the last call.
  func operationDidFinish(_ operation: AsyncOperation)
}

extension AsyncOperationDelegate {
  /// Does nothing.
  public func operation(
    _ operation: AsyncOperation, didChangeFrom oldState: AsyncOperation.State, to state: AsyncOperation.State
  ) {}
  /// Does nothing.
  public func operation(_ operation: AsyncOperation, didReport progress: OperationProgress) {}
  /// Does nothing.
  public func operationDidCancel(_ operation: AsyncOperation) {}
  /// Does nothing.
  public func operationDidFinish(_ operation: AsyncOperation) {}
}

extension AsyncOperation {
  /// Makes `delegate` receive the changes of this operation on `queue`, instead of the delegate before; nil for none.
  ///
  /// From any thread. The delegate is not kept. It receives the changes from now on, until the operation has finished.
  public final func setDelegate(_ delegate: (any AsyncOperationDelegate)?, on queue: DispatchQueue = .main) {
    guard let delegate else {
      parts.existingSideState?.setDelegate(nil)
      return
    }
    let observation = OperationObservation(in: parts.observers, interest: .status, on: queue) {
      [weak delegate] operation, old, new in
      guard let delegate, let old else { return }
      let operation = unsafeDowncast(operation, to: AsyncOperation.self)
      let (before, after) = (OperationStatus(old), OperationStatus(new))
      if before.progress != after.progress { delegate.operation(operation, didReport: after.progress) }
      if !before.isCancelled, after.isCancelled { delegate.operationDidCancel(operation) }
      if before.state != after.state {
        delegate.operation(operation, didChangeFrom: before.state, to: after.state)
      }
      if after.state == .finished { delegate.operationDidFinish(operation) }
    }
    parts.sideState.setDelegate(observation)
    add(observation)
  }
}
