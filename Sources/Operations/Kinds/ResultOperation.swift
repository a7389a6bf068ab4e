import Foundation

/// An asynchronous operation that ends with a value or an error.
///
/// It has a result once it has finished, and each handler is called once with it. If it was cancelled and gave none, the
/// result is a `CancellationError`, or the error that it was cancelled with; if it only called `finish()`, `MissingResult`.
open class ResultOperation<Success: Sendable>: AsyncOperation, @unchecked Sendable {
  /// What a handler is called with.
  public typealias Outcome = Result<Success, any Error>

  private enum State {
    case open(given: Given?, handlers: [@Sendable (Outcome) -> Void])
    case final(Outcome)
  }

  /// What the first call of `finish` has given.
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
        // The thread that finishes it has not come to its handlers yet; they get the same outcome.
        let outcome = finalOutcome(given)
        state = .open(given: .outcome(outcome), handlers: handlers)
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
  /// The operation keeps `handler` until it has finished. One that needs the operation takes it as an argument: with a
  /// capture, an operation that is never run would keep itself.
  public final func result(on queue: DispatchQueue = .main, _ handler: @escaping @Sendable (Outcome) -> Void) {
    whenDone { result in queue.async { handler(result) } }
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
    if isCancelled, let error = parts.existingSideState?.errors.cancellation { return .failure(error) }
    return given ?? .failure(isCancelled ? CancellationError() : MissingResult(operation: displayName))
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

/// An operation finished without a result: a fault of its class, which called `finish()` alone.
public struct MissingResult: Error, CustomStringConvertible {
  /// The operation's name, or that of its class.
  public let operation: String

  /// Makes the error that an operation of this name fails with.
  public init(operation: String) { self.operation = operation }

  /// One sentence that says what to do.
  public var description: String { "\(operation) finished without a result; call finish(_:) with one" }
}
