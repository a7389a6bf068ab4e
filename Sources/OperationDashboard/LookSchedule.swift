/// When the observed queue is to be looked at for what Foundation gives no notification of, on the run's clock.
struct LookSchedule {
  /// How soon after an observed change.
  private static let soon: Duration = .milliseconds(20)
  /// How often while operations execute, and how often at rest.
  private static let interval: (working: Duration, resting: Duration) = (.milliseconds(250), .seconds(1))
  /// Reading a long queue holds its lock: that may take a twentieth of the time at most.
  private static let share = 20

  private var wanted: Duration?
  private var last: Duration = .zero
  /// The least time from the last look to the next.
  private var pause: Duration = .zero

  /// Asks for a look shortly after a change, which mostly has others in its train.
  mutating func changed(at now: Duration) {
    if wanted == nil { wanted = max(now + Self.soon, last + pause) }
  }

  /// Records a look, and how long it took.
  mutating func looked(at now: Duration, taking time: Duration) {
    wanted = nil
    last = now
    pause = time * Self.share
  }

  /// The next look; without `isRegular` only one that was asked for.
  func next(isRegular: Bool, isWorking: Bool) -> Duration? {
    guard isRegular else { return wanted }
    let regular = last + max(isWorking ? Self.interval.working : Self.interval.resting, pause)
    return min(wanted ?? regular, regular)
  }
}
