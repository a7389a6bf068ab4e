/// How many bytes may pass now, for a stream held to a number of bytes a second.
struct Pace {
  /// Bytes a second; nil is unlimited.
  let rate: Int?
  private var credit = 0.0
  private var last: Duration?

  /// Bytes pass in portions of this long: short enough to look even, long enough to cost little.
  private static let portion = Duration.milliseconds(40)

  init(rate: Int?) { self.rate = rate }

  enum Step: Equatable {
    case pass(Int)
    /// Nothing may pass before this long from now.
    case wait(Duration)
  }

  /// What to do with `wanted` bytes at instant `now`.
  mutating func step(wanted: Int, at now: Duration) -> Step {
    guard let rate else { return .pass(wanted) }
    let portion = max(1, Double(rate) * (Self.portion / .seconds(1)))
    if let last { credit += Double(rate) * ((now - last) / .seconds(1)) }
    // A reader that was away may catch up on one portion, not on all that it missed; a late timer is no such reader.
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
