import Foundation

/// An asynchronous operation that ends with a value or an error.
///
/// The operation has a result once it has finished, and calls each handler once with it. If it was cancelled without
/// giving a result, the result is a `CancellationError`, or the error passed to `cancel(with:)`; if only `finish()` was
/// called, the result is the `OperationError` `.missingResult`.
open class ResultOperation<Success: Sendable>: AsyncOperation, @unchecked Sendable {
  /// The result passed to a handler.
  public typealias Outcome = Result<Success, any Error>

  private enum State {
    case open(given: Given?, handlers: [@Sendable (Outcome) -> Void])
    case final(Outcome)
  }

  /// The argument of the first call of `finish`.
  private enum Given {
    case nothing
    case outcome(Outcome)
  }

  // Safe: the only mutable state is behind the lock.
  private let outcomeState = Lock(State.open(given: nil, handlers: []))

  /// Finishes with `result`; only the first call of this or another `finish` counts.
  public final func finish(_ result: Outcome) {
    if claim(.outcome(result)) { endClaimed() }
  }

  final override func claimEnd(_ error: (any Error)?) -> Bool {
    claim(error.map { .outcome(.failure($0)) } ?? .nothing)
  }

  private func claim(_ given: Given) -> Bool {
    outcomeState.withLock { state in
      guard case .open(given: nil, let handlers) = state, !isFinished else { return false }
      state = .open(given: given, handlers: handlers)
      return true
    }
  }

  /// The result, once the operation has finished.
  public final var outcome: Outcome? {
    outcomeState.withLock { state in
      switch state {
      case .final(let outcome): return outcome
      case .open(let given, let handlers):
        guard isFinished else { return nil }
        // The finishing thread has not called its handlers yet; they get the same outcome.
        let outcome = finalOutcome(given)
        state = .open(given: .outcome(outcome), handlers: handlers)
        return outcome
      }
    }
  }

  /// Calls `handler` once with the result, on the finishing thread, or on this one if the operation has finished.
  ///
  /// `isFinished` is true by then, and the queue has not yet started another operation in this one's place.
  package final func whenDone(_ handler: @escaping @Sendable (Outcome) -> Void) {
    let outcome = outcomeState.withLock { state -> Outcome? in
      switch state {
      case .final(let outcome): return outcome
      case .open(let given, var handlers):
        // The only reference to the array is the local one, so that appending does not copy it.
        state = .open(given: given, handlers: [])
        handlers.append(handler)
        state = .open(given: given, handlers: handlers)
        return nil
      }
    }
    if let outcome { handler(outcome) }
  }

  /// Calls `handler` once with the result, on `queue`.
  ///
  /// The operation retains `handler` until it has finished. A handler that needs the operation should take it as an
  /// argument: if the handler captured it, an operation that is never run would retain itself.
  public final func result(on queue: DispatchQueue = .main, _ handler: @escaping @Sendable (Outcome) -> Void) {
    whenDone { result in queue.async { handler(result) } }
  }

  /// Calls `handler` once with this operation and its result, on `queue`.
  ///
  /// The operation retains `handler` until it has finished, and passes itself so that `handler` need not capture it.
  public final func result(
    on queue: DispatchQueue = .main, _ handler: @escaping @Sendable (ResultOperation, Outcome) -> Void
  ) {
    whenDone { [weak self] result in
      // A freed operation has no end.
      guard let self else { return }
      queue.async { handler(self, result) }
    }
  }

  package final override func operationDidFinish() {
    let (outcome, handlers) = outcomeState.withLock { state in
      guard case .open(let given, let handlers) = state else {
        programmerError("an operation finishes once, and its result is final then")
      }
      let outcome = finalOutcome(given)
      state = .final(outcome)
      return (outcome, handlers)
    }
    for handler in handlers { handler(outcome) }
  }

  /// The result of an operation that gave `given`; a success stands, however late the cancellation was.
  private func finalOutcome(_ given: Given?) -> Outcome {
    let given: Outcome? = if case .outcome(let outcome) = given { outcome } else { nil }
    if let given, case .success = given { return given }
    let wasCancelled = wasCancelledInTime
    if wasCancelled, let error = parts.existingRareState?.errors.cancellation { return .failure(error) }
    return given ?? .failure(wasCancelled ? CancellationError() : OperationError(.missingResult, of: displayName))
  }

  package final override var claimedFailure: (any Error)? {
    let given = outcomeState.withLock { state -> Given? in
      if case .open(let given, _) = state { return given }
      return nil
    }
    guard case .failure(let error) = finalOutcome(given) else { return nil }
    return error
  }

  final override var cause: (any Error)? {
    guard case .failure(let error) = outcome else { return nil }
    return error
  }
}
