/// Limits a stream to a number of bytes per second.
struct Pace {
  /// Bytes per second; nil is unlimited.
  let rate: Int?
  private var credit = 0.0
  private var last: Duration?

  /// The time between two portions: short enough to look even, long enough to cost little.
  private static let portion = Duration.milliseconds(40)

  init(rate: Int?) { self.rate = rate }

  enum Step: Equatable {
    case pass(Int)
    /// No byte may pass for this time.
    case wait(Duration)
  }

  /// How many of `wanted` bytes may pass at `now`.
  mutating func step(wanted: Int, at now: Duration) -> Step {
    guard let rate else { return .pass(wanted) }
    let portion = max(1, Double(rate) * (Self.portion / .seconds(1)))
    if let last { credit += Double(rate) * ((now - last) / .seconds(1)) }
    // Late timers are made up for; a reader that pauses longer gets no more than four portions at once.
    credit = min(credit, portion * 4)
    last = now
    let needed = min(Double(wanted), portion)
    guard credit >= needed else {
      return .wait(max(.milliseconds(1), .seconds((needed - credit) / Double(rate))))
    }
    let count = min(wanted, Int(credit))
    credit -= Double(count)
    return .pass(count)
  }
}
