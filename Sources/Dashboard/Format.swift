import Foundation
import JobModel

/// Quantities in the few cells that a column has.
enum Format {
  /// `0:12`, `1:02`, `1:02:03`; whole seconds, the rest dropped.
  static func time(_ duration: Duration) -> String {
    let seconds = max(0, duration.components.seconds)
    let tail = two(seconds % 60)
    guard seconds >= 3600 else { return "\(seconds / 60):\(tail)" }
    return "\(seconds / 3600):\(two(seconds / 60 % 60)):\(tail)"
  }

  /// As `time`, with minutes of two digits: for places where the width should not jump.
  static func steadyTime(_ duration: Duration) -> String {
    let seconds = max(0, duration.components.seconds)
    return seconds < 600 ? "0" + time(duration) : time(duration)
  }

  /// A wait that ends: rounded up, so that 0:00 means now.
  static func countdown(_ duration: Duration) -> String {
    let (seconds, attoseconds) = max(.zero, duration).components
    return time(.seconds(seconds + (attoseconds > 0 ? 1 : 0)))
  }

  /// For short stretches: `0.3s` below ten seconds, else as `time`.
  static func stretch(_ duration: Duration) -> String {
    guard duration < .seconds(10) else { return time(duration) }
    let tenths = max(0, Int64(duration / .milliseconds(100)))
    return "\(tenths / 10).\(tenths % 10)s"
  }

  /// `999`, `1.2K`, `34M`, `1.2G`: powers of 1024, at most four cells.
  static func bytes(_ count: Int64) -> String { scaled(Double(max(0, count)), base: 1024) }

  /// `8.1M/s` for bytes, `3.2/s` for steps.
  static func rate(_ rate: Double, _ unit: JobProgress.Unit) -> String {
    switch unit {
    case .bytes: scaled(rate, base: 1024) + "/s"
    case .steps: (rate < 10 ? tenths(rate) : scaled(rate, base: 1000)) + "/s"
    }
  }

  static func percent(_ fraction: Double) -> String {
    // Rounded down: 100% is said of what is whole.
    "\(Int(min(1, max(0, fraction)) * 100))%"
  }

  /// `03:12.1` since the run began.
  static func stamp(_ time: Duration) -> String {
    let tenths = max(0, Int64(time / .milliseconds(100)))
    return "\(steadyTime(.seconds(tenths / 10))).\(tenths % 10)"
  }

  /// `14:03:12` on the wall clock of `zone`.
  static func clock(_ date: Date, in zone: TimeZone) -> String {
    let shifted = date.timeIntervalSince1970 + Double(zone.secondsFromGMT(for: date))
    let day = Int64(shifted.rounded(.down)) % 86_400
    let seconds = day < 0 ? day + 86_400 : day
    return "\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
  }

  /// `1 job`, `3 jobs`.
  static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

  private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

  private static func tenths(_ value: Double) -> String {
    let tenths = Int64((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  private static func scaled(_ value: Double, base: Double) -> String {
    guard value.isFinite else { return "?" }
    var value = max(0, value)
    var unit = 0
    let units = ["", "K", "M", "G", "T", "P", "E", "Z"]
    while value >= 999.5, unit < units.count - 1 {
      value /= base
      unit += 1
    }
    if unit == 0 { return "\(Int64(value.rounded()))" }
    return (value < 9.95 ? tenths(value) : "\(Int64(value.rounded()))") + units[unit]
  }
}
