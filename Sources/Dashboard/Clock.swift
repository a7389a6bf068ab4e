import Dispatch

/// The time that the dashboard lives by: the run's clock, and one alarm.
@MainActor
package protocol DashboardClock: AnyObject {
  /// Since the run began, on the clock of its events.
  var now: Duration { get }

  /// Calls `fire` once, when the clock reaches `time` or soon after; takes the place of an alarm set before. Nil unsets it.
  func setAlarm(at time: Duration?, _ fire: @escaping @MainActor () -> Void)
}

/// The real clock: a dispatch timer on the main queue that is armed only while an alarm is set.
@MainActor
package final class DispatchDashboardClock: DashboardClock {
  private let reading: @MainActor () -> Duration
  private var timer: (any DispatchSourceTimer)?

  /// `now` reads the run's clock.
  package init(now: @escaping @MainActor () -> Duration) { reading = now }

  package var now: Duration { reading() }

  package func setAlarm(at time: Duration?, _ fire: @escaping @MainActor () -> Void) {
    timer?.cancel()
    timer = nil
    guard let time else { return }
    let wait = max(.zero, time - now)
    let source = DispatchSource.makeTimerSource(queue: .main)
    source.setEventHandler { [weak self] in
      MainActor.assumeIsolated {
        self?.timer?.cancel()
        self?.timer = nil
        fire()
      }
    }
    source.schedule(deadline: .now() + .nanoseconds(Int(wait / .nanoseconds(1))), leeway: .milliseconds(2))
    timer = source
    source.activate()
  }
}
