import Foundation

/// An operation that is repeated: each repetition is a new operation.
///
/// The operation ends with the value of the last repetition, or with the first error. Like a `RetryOperation`, it keeps
/// its slot through all repetitions and the waits between them. When cancelled, it cancels the current repetition or
/// ends the wait.
public final class RepeatOperation<Success: Sendable>: ResultOperation<Success>, @unchecked Sendable {
  // Safe: constant.
  private let attempts: AttemptSeries<Success>

  /// Makes an operation that has not begun.
  ///
  /// - Parameters:
  ///   - count: The maximum number of repetitions, at least one; nil for no limit other than `isEnough`.
  ///   - interval: The waits between the end of one repetition and the start of the next.
  ///   - clock: Measures the waits.
  ///   - isEnough: Whether to stop after the value of the repetition with this number, from 1; called on the thread
  ///     that the repetition ended on. By default, never.
  ///   - make: Makes the operation with this number, from 1.
  public init(
    times count: Int? = nil, every interval: Backoff = .constant(.zero), clock: any OperationClock = .system,
    until isEnough: @escaping @Sendable (Success, Int) -> Bool = { _, _ in false },
    _ make: @escaping @Sendable (Int) -> ResultOperation<Success>
  ) {
    require(count ?? 1 > 0, "an operation is repeated at least once, not \(count ?? 1) times")
    attempts = AttemptSeries(clock: clock, make: make) { outcome, number in
      guard case .success(let value) = outcome, count.map({ number < $0 }) ?? true, !isEnough(value, number) else {
        return .end(outcome)
      }
      return .again(after: interval.delay(beforeRetry: number))
    }
  }

  /// Begins the first repetition; the queue calls it.
  public override func main() { attempts.begin(1, of: self) }

  /// Cancels the current repetition or ends the wait; the queue calls it.
  public override func didCancel() { attempts.cancel(self) }
}

extension RepeatOperation: ParentOperation {
  package var unfinishedChildren: [Operation] { attempts.unfinished }
  package var toleratesFailures: Bool { false }
  package func isAttempt(_ child: Operation) -> Bool { attempts.current === child }
}
