/// An operation that finishes a given time after it began; meanwhile it holds a slot of its queue, but no thread.
public final class DelayOperation: AsyncOperation, @unchecked Sendable {
  // Safe: constants, and a timer behind a lock.
  private let duration: Duration
  private let clock: any OperationClock
  private let timer = Lock<(any OperationTimer)?>(nil)

  /// Makes a delay that has not begun.
  public init(_ duration: Duration, clock: any OperationClock = .system) {
    self.duration = duration
    self.clock = clock
  }

  /// Begins the wait; the queue calls it.
  public override func main() {
    let timer = clock.schedule(after: duration) { self.finish() }
    self.timer.withLock { $0 = timer }
  }

  /// Ends the wait; the queue calls it.
  public override func didCancel() {
    timer.withLock { $0 }?.cancel()
    finish()
  }
}
