/// How far ahead of its width a queue is filled.
///
/// By a few, so that what waits can still be cancelled and put in another order; by more in a rush, while operations come
/// and go so fast that filling the queue for each of them costs as much as they do.
struct Lead {
  static let smallest = 2
  static let largest = 64

  /// What follows in less than this is a rush, in nanoseconds.
  ///
  /// It is over after more than twenty times this.
  private static let rush: UInt64 = 500_000

  private var length = smallest
  private var last: UInt64?

  /// Below how many the queue is filled again, and up to how many.
  func fill(width: Int) -> (low: Int, high: Int) {
    // Without a limit all that is ready runs.
    guard width >= 0 else { return (.max, .max) }
    let high = width + max(length, width / 2)
    return (high - max(0, length / 2 - 1), high)
  }

  /// It has been filled, at a time in nanoseconds.
  mutating func filled(at time: UInt64) {
    defer { last = time }
    guard let last, time > last else { return }
    if time - last < Self.rush {
      length = min(Self.largest, length * 2)
    } else if time - last > 20 * Self.rush {
      length = Self.smallest
    }
  }
}
