import Foundation
import Processes

/// A regular expression that is searched in the lines of an output.
struct LinePattern: Sendable {
  /// How much of a line is searched, in UTF-16 units: the time of some patterns grows faster than the text.
  static let width = 1024

  private let expression: NSRegularExpression

  /// Nil where the text is no regular expression.
  init?(_ pattern: String) {
    guard let expression = try? NSRegularExpression(pattern: pattern) else { return nil }
    self.expression = expression
  }

  /// Whether it matches the line as a terminal shows it, without colors and other escape sequences.
  func matches(_ line: String) -> Bool {
    let line = ProgressPattern.visible(line)
    let length = min(Self.width, line.utf16.count)
    return expression.firstMatch(in: line, range: NSRange(location: 0, length: length)) != nil
  }
}
