import Foundation

/// An operation that is repeated: each time is a new operation.
///
/// It ends with the value of the last time, or with the first error. Like a `RetryOperation` it keeps its slot through all
/// times and the waits between them; cancelled, it ends the one that it is in.
public final class RepeatOperation<Success: Sendable>: ResultOperation<Success>, @unchecked Sendable {
  // Safe: constant.
  private let attempts: AttemptSeries<Success>

  /// Makes an operation that has not begun.
  ///
  /// - Parameters:
  ///   - count: How often at most, at least once; nil for as often as `isEnough` wants.
  ///   - interval: The waits between the end of one and the start of the next.
  ///   - clock: Measures the waits.
  ///   - isEnough: Whether to stop after the value of the time with this number, from 1; on the thread that the operation
  ///     ended on. Never by default.
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

  /// Begins the first time; the queue calls it.
  public override func main() { attempts.begin(1, of: self) }

  /// Ends what executes, or the wait; the queue calls it.
  public override func didCancel() { attempts.cancel(self) }
}

extension RepeatOperation: ParentOperation {
  package var unfinishedChildren: [Operation] { attempts.unfinished }
  package var toleratesFailures: Bool { false }
  package func isAttempt(_ child: Operation) -> Bool { attempts.current === child }
}
