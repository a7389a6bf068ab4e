import Foundation

/// An operation that is attempted until it succeeds: each attempt is a new operation.
///
/// The operation executes, and keeps its slot, through all attempts and the waits between them; attempts run in a queue
/// of their own. Each attempt is announced to observers as produced. The operation ends with the first success, or with
/// the error of the last attempt. Cancelling it cancels the attempt, or ends the wait at once.
public final class RetryOperation<Success: Sendable>: ResultOperation<Success>, @unchecked Sendable {
  // Safe: constant.
  private let attempts: AttemptSeries<Success>

  /// Makes an operation that has not begun.
  ///
  /// - Parameters:
  ///   - retries: The maximum number of attempts after the first.
  ///   - backoff: The waits before them.
  ///   - clock: Measures the waits.
  ///   - isWorthRetrying: Whether another attempt follows an error of the attempt with this number, from 1; called on
  ///     the thread that the attempt ended on. By default, every error but a cancellation is retried.
  ///   - make: Makes the attempt with this number, from 1.
  public init(
    retries: Int, backoff: Backoff = .exponential(.seconds(1)).capped(at: .seconds(30)).jittered(),
    clock: any OperationClock = .system,
    when isWorthRetrying: @escaping @Sendable (any Error, Int) -> Bool = { error, _ in !(error is CancellationError) },
    _ make: @escaping @Sendable (Int) -> ResultOperation<Success>
  ) {
    attempts = AttemptSeries(clock: clock, make: make) { outcome, number in
      guard case .failure(let error) = outcome, number <= retries, isWorthRetrying(error, number) else {
        return .end(outcome)
      }
      return .again(after: backoff.delay(beforeRetry: number))
    }
  }

  /// Begins the first attempt; the queue calls it.
  public override func main() { attempts.begin(1, of: self) }

  /// Cancels the attempt or ends the wait; the queue calls it.
  public override func didCancel() { attempts.cancel(self) }
}

extension RetryOperation: ParentOperation {
  package var unfinishedChildren: [Operation] { attempts.unfinished }
  package var toleratesFailures: Bool { true }
  package func isAttempt(_ child: Operation) -> Bool { attempts.current === child }
}
