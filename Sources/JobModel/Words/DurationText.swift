import Basics

/// Durations as job files and options write them: `500ms`, `8s`, `10m`, `1h30m`, `0.5s`.
package enum DurationText {
  /// For messages about malformed durations.
  package static let examples = "500ms, 8s, 10m or 1h30m"
  /// Eleven years: longer than any run, shorter than a clock can count.
  package static let limit = Duration.seconds(100_000 * 3600)

  private static let units: [(name: String, length: Duration)] = [
    ("h", .seconds(3600)), ("m", .seconds(60)), ("s", .seconds(1)), ("ms", .milliseconds(1)),
  ]

  /// Numbers with units (h, m, s, ms), the largest unit first and none twice, or a lone 0; nil for anything else.
  package static func parse(_ text: String) -> Duration? { read(text).flatMap { $0 > limit ? nil : $0 } }

  /// As `parse`, without the limit; any length above it stands for a longer one.
  package static func read(_ text: String) -> Duration? {
    if text == "0" { return .zero }
    var rest = text.utf8[...]
    var open = units[...]
    var total = Duration.zero
    while !rest.isEmpty {
      let digits = rest.prefix { isDigit($0) || $0 == UInt8(ascii: ".") }
      rest = rest[digits.endIndex...]
      let letters = rest.prefix { !isDigit($0) && $0 != UInt8(ascii: ".") }
      rest = rest[letters.endIndex...]
      guard let number = number(digits), let place = open.firstIndex(where: { $0.name == String(Substring(letters)) })
      else { return nil }
      total += rounded(number, of: units[place].length)
      open = units[(place + 1)...]
    }
    return text.isEmpty ? nil : total
  }

  /// The form that `parse` reads back, to the millisecond: `1h30m`, `1s500ms`, `0s`.
  package static func exact(_ duration: Duration) -> String {
    var left = Swift.max(.zero, duration)
    var text = ""
    for unit in units {
      let count = Int64(clamping: left / unit.length)
      if count > 0 {
        text += "\(count)\(unit.name)"
        left -= unit.length * count
      }
    }
    return text.isEmpty ? "0s" : text
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  /// `8`, `0.25`; not `.5`, `1.` or `1.2.3`.
  private static func number(_ digits: Substring.UTF8View.SubSequence) -> Double? {
    let parts = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }), digits.count <= 20 else { return nil }
    return Double(String(Substring(digits)))
  }

  /// Rounded to milliseconds, so that 0.1 s is exact, and limited, so that an integer can hold it.
  private static func rounded(_ number: Double, of unit: Duration) -> Duration {
    .milliseconds(Int64(min(number * (unit / .milliseconds(1)), 1e18).rounded()))
  }
}
