import Dispatch

/// Calls `body` on the main queue, soon.
package func onMain(_ body: @escaping @MainActor @Sendable () -> Void) {
  DispatchQueue.main.async { MainActor.assumeIsolated(body) }
}

extension OperationClock {
  /// Calls `body` once on the main queue when `duration` has passed, unless the timer is cancelled before.
  @discardableResult
  package func scheduleOnMain(
    after duration: Duration, _ body: @escaping @MainActor @Sendable () -> Void
  ) -> any OperationTimer {
    schedule(after: duration, on: .main) { MainActor.assumeIsolated(body) }
  }
}
