/// The number of operations that a queue holds beyond its width.
///
/// The number is small, so that waiting operations can still be cancelled and reordered. It grows while operations come
/// and go so fast that filling the queue for each of them costs as much as they do.
struct PrefetchWindow {
  static let smallest = 2
  static let largest = 64

  /// The interval between fills, in nanoseconds, below which the window doubles.
  ///
  /// An interval of more than twenty times this value resets the window to its smallest length.
  private static let rush: UInt64 = 500_000

  private var length = smallest
  private var last: UInt64?

  /// The number of operations below which the queue is filled again, and the number it is filled up to.
  func fill(width: Int) -> (low: Int, high: Int) {
    // Without a limit all ready operations run; so they do with a width that is near the largest number.
    let (high, isBeyond) = width.addingReportingOverflow(max(length, width / 2))
    guard width >= 0, !isBeyond else { return (.max, .max) }
    return (high - max(0, length / 2 - 1), high)
  }

  /// Records that the queue has been filled, at a time in nanoseconds.
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
