/// Counts the attempts that end in quick succession.
struct AttemptPace {
  /// Attempts that end at this interval leave the engine the time to admit the next one.
  private static let interval: Duration = .milliseconds(50)

  /// The maximum of the count.
  private let most: Int
  private var level = 0.0
  private var last: Duration = .zero

  init(most: Int) { self.most = most }

  /// The number of attempts that ended faster than one per `interval`.
  var recent: Int { max(0, Int(level) - 1) }

  mutating func ended(at time: Duration) {
    level = min(Double(most), max(0, level - (time - last) / Self.interval) + 1)
    last = time
  }
}
