import Basics
import Foundation

extension Date {
  /// The nearest millisecond, the precision of dates in events.
  package var wholeMilliseconds: Date { Date(milliseconds: milliseconds) }

  fileprivate init(milliseconds: Double) { self.init(timeIntervalSinceReferenceDate: milliseconds / 1000) }

  /// Since the reference date.
  fileprivate var milliseconds: Double { (timeIntervalSinceReferenceDate * 1000).rounded() }

  /// UTC in ISO 8601 with milliseconds: `2026-01-01T00:00:00.250Z`.
  package var eventText: String {
    let seconds = (milliseconds / 1000).rounded(.down)
    let rest = String(Int(clamping: milliseconds - seconds * 1000), digits: 3)
    let text = Date.ISO8601FormatStyle().format(Date(timeIntervalSinceReferenceDate: seconds))
    return "\(text.dropLast()).\(rest)Z"
  }

  /// Nil for anything but what `eventText` gives.
  init?(eventText text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    // Of four digits for the year; a calendar may not be able to count others.
    guard text.utf8.count == 24, parts.count == 2, let rest = Int(parts[1].dropLast()),
      let date = try? Date("\(parts[0])Z", strategy: .iso8601)
    else { return nil }
    self = Date(milliseconds: date.milliseconds + Double(rest))
    // Numbers may have signs, and other forms of a date may be read too.
    guard eventText == text else { return nil }
  }
}

extension Duration {
  /// Truncated to microseconds.
  package var wholeMicroseconds: Duration { .microseconds(microseconds) }
}
