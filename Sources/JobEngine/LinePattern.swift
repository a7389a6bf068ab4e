import Foundation

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

  func matches(_ line: String) -> Bool {
    let length = min(Self.width, line.utf16.count)
    return expression.firstMatch(in: line, range: NSRange(location: 0, length: length)) != nil
  }
}
