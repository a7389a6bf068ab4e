import Basics
import Foundation

/// Durations, sizes, rates and counts as people read them.
package enum Format {
  // MARK: Durations

  /// `0:12`, `1:02`, `1:02:03`; whole seconds, rounded down.
  package static func time(_ duration: Duration) -> String {
    let seconds = max(0, duration.components.seconds)
    let tail = two(seconds % 60)
    guard seconds >= 3600 else { return "\(seconds / 60):\(tail)" }
    return "\(seconds / 3600):\(two(seconds / 60 % 60)):\(tail)"
  }

  /// As `time`, with at least two digits for the minutes, so that the width stays the same for an hour.
  package static func steadyTime(_ duration: Duration) -> String {
    duration < .seconds(600) ? "0" + time(duration) : time(duration)
  }

  /// The time until something happens: as `time`, rounded up, so that `0:00` means now.
  package static func countdown(_ duration: Duration) -> String {
    let (seconds, attoseconds) = max(.zero, duration).components
    return time(.seconds(seconds.plus(attoseconds > 0 ? 1 : 0)))
  }

  /// `0.3s` below ten seconds, else as `time`; rounded down.
  package static func stretch(_ duration: Duration) -> String {
    guard duration < .seconds(10) else { return time(duration) }
    let tenths = max(0, duration.microseconds / 100_000)
    return "\(tenths / 10).\(tenths % 10)s"
  }

  /// How long something took, with units: `0.4s`, `12.3s`, `2m04s`, `1h05m`; rounded to tenths.
  package static func length(_ duration: Duration) -> String {
    let tenths = max(0, duration.microseconds.plus(50_000) / 100_000)
    guard tenths >= 600 else { return "\(tenths / 10).\(tenths % 10)s" }
    let seconds = tenths / 10
    guard seconds >= 3600 else { return "\(seconds / 60)m\(two(seconds % 60))s" }
    return "\(seconds / 3600)h\(two(seconds / 60 % 60))m"
  }

  /// An instant on the run's clock: `00:03.1`, `1:02:03.4`; rounded down to tenths.
  package static func stamp(_ time: Duration) -> String {
    "\(steadyTime(time)).\(max(0, time.microseconds / 100_000) % 10)"
  }

  /// An instant on an axis: `0:05`, with tenths where it is not a whole second.
  package static func axis(_ time: Duration) -> String {
    let tenths = Int64(clamping: time / .milliseconds(100))
    return tenths % 10 == 0 ? Format.time(time) : Format.time(time) + ".\(tenths % 10)"
  }

  /// `14:03:12` on the wall clock of `zone`.
  package static func clock(_ date: Date, in zone: TimeZone) -> String {
    let shifted = date.timeIntervalSince1970 + Double(zone.secondsFromGMT(for: date))
    let day = Int64(clamping: shifted.rounded(.down)) % 86_400
    let seconds = day < 0 ? day + 86_400 : day
    return "\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
  }

  // MARK: Amounts

  /// `999 B`, `1.2 MB`: powers of 1000, at most three digits.
  package static func bytes(_ count: Int64) -> String { scaled(Double(max(0, count)), units: byteUnits) }

  /// `1.1 of 2.0 GB`, `900 KB of 2.0 GB`; `1.1 GB` while the total is unknown.
  package static func bytes(_ done: Int64, of total: Int64?) -> String {
    guard let total else { return bytes(done) }
    let (part, whole) = (bytes(done).split(separator: " "), bytes(total))
    let isSameUnit = part.count == 2 && whole.hasSuffix(" \(part[1])")
    return (isSameUnit ? String(part[0]) : part.joined(separator: " ")) + " of " + whole
  }

  /// `8.1 MB/s` for bytes, `3.2/s` for steps.
  package static func rate(_ rate: Double, _ unit: JobProgress.Unit) -> String {
    switch unit {
    case .bytes: scaled(rate, units: byteUnits) + "/s"
    case .steps: (rate < 10 ? tenths(max(0, rate)) : scaled(rate, units: countUnits)) + "/s"
    }
  }

  /// Rounded down: `100%` is the whole and nothing less.
  package static func percent(_ fraction: Double) -> String { "\(Int(clamping: min(1, max(0, fraction)) * 100))%" }

  /// `1 job`, `3 jobs`.
  package static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

  /// `1 try`, `3 tries`.
  package static func tries(_ number: Int) -> String { "\(number) \(number == 1 ? "try" : "tries")" }

  /// `, after 3 tries`; empty for one or none.
  package static func after(tries number: Int) -> String { number > 1 ? ", after \(tries(number))" : "" }

  /// `1 slot`, `8 slots`, `any slots`.
  package static func slots(_ slots: Int) -> String { "\(Run.slotsText(slots)) \(slots == 1 ? "slot" : "slots")" }

  private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// `2.5`, rounded.
  package static func tenths(_ value: Double) -> String {
    let tenths = Int64(clamping: (value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  private static let byteUnits = [" B", " KB", " MB", " GB", " TB", " PB", " EB"]
  private static let countUnits = ["", "K", "M", "G", "T", "P", "E"]

  private static func scaled(_ value: Double, units: [String]) -> String {
    guard value.isFinite else { return "?" }
    var value = max(0, value)
    var unit = 0
    while value >= 999.5, unit < units.count - 1 {
      value /= 1000
      unit += 1
    }
    if unit == 0 { return "\(Int64(clamping: value.rounded()))" + units[0] }
    return (value < 9.95 ? tenths(value) : "\(Int64(clamping: value.rounded()))") + units[unit]
  }
}

extension Duration {
  /// Whole microseconds, rounded toward zero; the nearest number to them that there is.
  package var microseconds: Int64 {
    components.seconds.times(1_000_000).plus(components.attoseconds / 1_000_000_000_000)
  }
}
