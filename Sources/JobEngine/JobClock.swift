import Dispatch

/// Where an engine has its time from, so that a test can be the one who moves it.
package protocol JobClock: Sendable {
  /// Monotonic, since an origin of the clock's own.
  var now: Duration { get }

  /// Calls `body` once on `queue` when `now` has reached `time`, unless the timer is cancelled before.
  func schedule(at time: Duration, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) -> any JobTimer
}

package protocol JobTimer: Sendable {
  func cancel()
}

/// The machine's monotonic clock; a cancelled timer wakes nobody.
package struct SystemClock: JobClock {
  private static let origin = ContinuousClock.now

  package init() {}

  package var now: Duration { ContinuousClock.now - Self.origin }

  package func schedule(
    at time: Duration, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
  ) -> any JobTimer {
    let source = DispatchSource.makeTimerSource(queue: queue)
    // As long as dispatch can count: what is later never comes.
    let seconds = min(max(0, (time - now) / .seconds(1)), 1e9)
    source.schedule(deadline: .now() + seconds, leeway: .milliseconds(1))
    source.setEventHandler {
      source.cancel()
      body()
    }
    source.activate()
    return Timer(source: source)
  }

  private struct Timer: JobTimer, @unchecked Sendable {
    // Safe: dispatch sources may be cancelled from any thread.
    let source: any DispatchSourceTimer

    func cancel() { source.cancel() }
  }
}
