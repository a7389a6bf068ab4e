import Foundation

/// An asynchronous operation that ends with a value or an error.
///
/// It has a result once it has finished, and each handler is called once with it. If it was cancelled and gave none, the
/// result is a `CancellationError`, or the error that it was cancelled with; if it only called `finish()`, `MissingResult`.
open class ResultOperation<Success: Sendable>: AsyncOperation, @unchecked Sendable {
  /// What a handler is called with.
  public typealias Outcome = Result<Success, any Error>

  private enum State {
    case open(given: Outcome?, handlers: [@Sendable (Outcome) -> Void])
    case final(Outcome)
  }

  // Safe: the only mutable state is behind the lock.
  private let outcomeState = Lock(State.open(given: nil, handlers: []))

  /// Finishes with a failure; only the first call counts.
  public final override func finish(with error: any Error) { finish(.failure(error)) }

  /// Finishes with `result`; only the first call counts.
  public final func finish(_ result: Outcome) {
    outcomeState.withLock { state in
      guard case .open(given: nil, let handlers) = state else { return }
      state = .open(given: result, handlers: handlers)
    }
    finish()
  }

  /// The result, once the operation has finished.
  public final var outcome: Outcome? {
    outcomeState.withLock { state in
      switch state {
      case .final(let outcome): return outcome
      case .open(let given, let handlers):
        guard isFinished else { return nil }
        // The thread that finishes it has not come to its handlers yet; they get the same outcome.
        let outcome = finalOutcome(given)
        state = .open(given: outcome, handlers: handlers)
        return outcome
      }
    }
  }

  /// Calls `handler` once with the result, at once on the thread that finishes the operation (or on this one, if it has).
  ///
  /// `isFinished` is true by then, and the queue has not yet started another operation in this one's place.
  package final func whenDone(_ handler: @escaping @Sendable (Outcome) -> Void) {
    let outcome = outcomeState.withLock { state -> Outcome? in
      switch state {
      case .final(let outcome): return outcome
      case .open(let given, let handlers):
        state = .open(given: given, handlers: handlers + [handler])
        return nil
      }
    }
    if let outcome { handler(outcome) }
  }

  /// Calls `handler` once with the result, on `queue`.
  public final func result(on queue: DispatchQueue = .main, _ handler: @escaping @Sendable (Outcome) -> Void) {
    whenDone { result in queue.async { handler(result) } }
  }

  package final override func operationDidFinish() {
    let (outcome, handlers) = outcomeState.withLock { state in
      guard case .open(let given, let handlers) = state else {
        preconditionFailure("an operation finishes once, and its result is final then")
      }
      let outcome = finalOutcome(given)
      state = .final(outcome)
      return (outcome, handlers)
    }
    for handler in handlers { handler(outcome) }
  }

  /// The result of an operation that gave `given`; a success stands, however late the cancellation was.
  private func finalOutcome(_ given: Outcome?) -> Outcome {
    if let given, case .success = given { return given }
    if isCancelled, let error = parts.existingSideState?.errors.cancellation { return .failure(error) }
    return given ?? .failure(isCancelled ? CancellationError() : MissingResult(operation: displayName))
  }

  final override var cause: (any Error)? {
    guard case .failure(let error) = outcome else { return nil }
    return error
  }
}

/// An operation finished without a result: a fault of its class, which called `finish()` alone.
public struct MissingResult: Error, CustomStringConvertible {
  /// The operation's name, or that of its class.
  public let operation: String

  /// One sentence that says what to do.
  public var description: String { "\(operation) finished without a result; call finish(_:) with one" }
}
