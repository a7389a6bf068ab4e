import Foundation

/// An asynchronous operation that ends with a value or an error.
open class ResultOperation<Success: Sendable>: AsyncOperation, @unchecked Sendable {
  // Safe: the only mutable state is behind the lock.
  private let outcome = Lock<
    (result: Result<Success, any Error>?, handlers: [@Sendable (Result<Success, any Error>) -> Void])
  >(
    (nil, []))

  /// Finishes with `result`; only the first call counts.
  public final func finish(_ result: Result<Success, any Error>) {
    let handlers = outcome.withLock { outcome in
      guard outcome.result == nil else { return [@Sendable (Result<Success, any Error>) -> Void]() }
      outcome.result = result
      defer { outcome.handlers = [] }
      return outcome.handlers
    }
    for handler in handlers { handler(result) }
    finish()
  }

  /// Calls `handler` once with the result, at once on the thread that finishes the operation (or on this one, if it has).
  package final func whenDone(_ handler: @escaping @Sendable (Result<Success, any Error>) -> Void) {
    let result = outcome.withLock { outcome in
      if outcome.result == nil { outcome.handlers.append(handler) }
      return outcome.result
    }
    if let result { handler(result) }
  }

  /// Calls `handler` once with the result, on `queue`.
  public final func result(
    on queue: DispatchQueue = .main, _ handler: @escaping @Sendable (Result<Success, any Error>) -> Void
  ) {
    whenDone { result in queue.async { handler(result) } }
  }
}
