/// The times, on the run's clock, to poll the observed queue for changes that Foundation doesn't announce.
struct LookSchedule {
  /// The delay of a poll after an observed change.
  private static let soon: Duration = .milliseconds(20)
  /// The time between polls while operations execute, and at rest.
  private static let interval: (working: Duration, resting: Duration) = (.milliseconds(250), .seconds(1))
  /// Polling may take at most a twentieth of the time, because reading a long queue holds its lock.
  private static let share = 20

  private var wanted: Duration?
  private var last: Duration = .zero
  /// The least time from the last poll to the next.
  private var pause: Duration = .zero

  /// Requests a poll shortly after a change, which is usually followed by others.
  mutating func changed(at now: Duration) {
    if wanted == nil { wanted = max(now + Self.soon, last + pause) }
  }

  /// Records a poll and its duration.
  mutating func looked(at now: Duration, taking time: Duration) {
    wanted = nil
    last = now
    pause = time * Self.share
  }

  /// The time of the next poll; without `isRegular`, only of a requested one.
  func next(isRegular: Bool, isWorking: Bool) -> Duration? {
    guard isRegular else { return wanted }
    let regular = last + max(isWorking ? Self.interval.working : Self.interval.resting, pause)
    return min(wanted ?? regular, regular)
  }
}
