import Foundation

extension ResultOperation {
  /// The value, once the operation has finished; throws its failure.
  ///
  ///     let size = try await measuring.value
  ///
  /// Reading it starts nothing: add the operation to a queue, before or after. Any number of tasks may wait. Cancelling
  /// a waiting task ends its wait at once, with a `CancellationError`, and does not affect the operation, as with the
  /// `value` of a `Task`. A waiting task does not retain the operation. If the operation is freed before its end,
  /// the `OperationError` `.freed` is thrown. A `TaskOperation` that waits for itself waits until it is cancelled.
  public final var value: Success {
    consuming get async throws { try await value(cancellingOperation: false) }
  }

  /// The value, as the property; with `cancellingOperation`, cancelling the waiting task cancels the operation.
  ///
  /// If the operation has not begun, that wait ends at once with a `CancellationError`, otherwise when the operation
  /// ends.
  public final consuming func value(cancellingOperation: Bool) async throws -> Success {
    let end = pendingValue()
    let onCancel = cancelHandler(ending: end, cancellingOperation: cancellingOperation)
    let wait = AwaitingWork.wait(for: self)
    _ = consume self
    defer { withExtendedLifetime(wait) {} }
    return try await end.wait(onCancel: onCancel)
  }

  private func pendingValue() -> PendingAnswer<Success> {
    let end = PendingAnswer<Success>()
    let giver = AnswerGiver(end, of: displayName)
    whenDone { giver.give($0) }
    return end
  }
}

extension Operation {
  /// Waits until this operation, of any class, has finished; throws its failure, if it has one.
  ///
  ///     try await installing.untilFinished()
  ///
  /// Waiting and cancelling work as with `ResultOperation.value`; with `cancelsOperation`, cancelling the waiting task
  /// cancels the operation. For an operation of a class other than `AsyncOperation`, the only failure thrown is a
  /// cancellation, and the operation is retained until it has finished.
  public consuming func untilFinished(cancelsOperation: Bool = false) async throws {
    let end = pendingEnd()
    let onCancel = cancelHandler(ending: end, cancellingOperation: cancelsOperation)
    let wait = AwaitingWork.wait(for: self)
    _ = consume self
    defer { withExtendedLifetime(wait) {} }
    try await end.wait(onCancel: onCancel)
  }

  private func pendingEnd() -> PendingAnswer<Void> {
    let end = PendingAnswer<Void>()
    if let operation = self as? AsyncOperation {
      let giver = AnswerGiver(end, of: operation.displayName)
      operation.parts.rareState.whenEnded { giver.give($0.end) }
      // Not called if the operation had finished before.
      if operation.isFinished { giver.give(operation.end) }
    } else if isFinished {
      end.give(foreignEnd)
    } else {
      whenFinished { end.give(self.foreignEnd) }
    }
    return end
  }

  private var foreignEnd: Result<Void, any Error> {
    isCancelled ? .failure(CancellationError()) : .success(())
  }

  /// The handler that ends the wait of a cancelled task, at once or by cancelling the operation.
  ///
  /// Without `cancellingOperation` the wait ends at once. With it, the wait ends when the operation does, except in two
  /// cases: an operation that has not begun may never end, because it may be in no queue, and an operation that waits
  /// for itself can't end before the wait does.
  fileprivate func cancelHandler<Value>(
    ending end: PendingAnswer<Value>, cancellingOperation: Bool
  ) -> @Sendable () -> Void {
    guard cancellingOperation else { return { end.give(.failure(CancellationError())) } }
    let waitsForItself = AwaitingWork.currentOperation === self
    return { [weak self] in
      guard let self else { return }
      cancel()
      if isCancelled, waitsForItself || !isExecuting, !isFinished { end.give(.failure(CancellationError())) }
    }
  }
}

extension AsyncOperation {
  fileprivate var end: Result<Void, any Error> { failure.map { .failure($0) } ?? .success(()) }
}
