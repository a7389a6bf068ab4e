import Dispatch
import Operations

/// Where an engine has its time from, so that a test can be the one who moves it.
package protocol JobClock: Sendable {
  /// Monotonic, since an origin of the clock's own.
  var now: Duration { get }

  /// Calls `body` once on `queue` when `now` has reached `time`, unless the timer is cancelled before.
  func schedule(
    at time: Duration, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
  ) -> any OperationTimer
}

/// The machine's monotonic clock; a cancelled timer wakes nobody.
package struct SystemClock: JobClock {
  private static let origin = ContinuousClock.now

  package init() {}

  package var now: Duration { ContinuousClock.now - Self.origin }

  package func schedule(
    at time: Duration, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
  ) -> any OperationTimer {
    SystemOperationClock().schedule(after: time - now, on: queue, body)
  }
}
