/// Text that a terminal shows and that can't control it: its colors are the program's, or were kept by `JobText`.
///
/// `MessageText`, `JobText` and the literals of the program make it; a `String` in a literal goes through
/// `MessageText`. Code that writes to a terminal takes no `String`.
package struct TerminalText: Sendable, Hashable {
  /// As it is written.
  package private(set) var text: String

  /// For this target alone: the text must have been filtered.
  init(filtered text: String) { self.text = text }

  package static func + (left: TerminalText, right: TerminalText) -> TerminalText {
    TerminalText(filtered: left.text + right.text)
  }

  package static func += (left: inout TerminalText, right: TerminalText) { left.text += right.text }

  package var isEmpty: Bool { text.isEmpty }
  package var bytes: [UInt8] { Array(text.utf8) }

  package mutating func removeAll(keepingCapacity: Bool) { text.removeAll(keepingCapacity: keepingCapacity) }

  /// Removes all but the last lines that fit in `size` bytes; returns how many lines were removed.
  package mutating func keepLines(inLast size: Int) -> Int {
    let bytes = text.utf8
    let start = bytes.index(bytes.endIndex, offsetBy: -size, limitedBy: bytes.startIndex) ?? bytes.startIndex
    let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { bytes.index(after: $0) } ?? bytes.endIndex
    defer { text.removeSubrange(..<end) }
    return bytes[..<end].count { $0 == UInt8(ascii: "\n") }
  }

  /// A number of blanks, none for a negative one.
  package static func blanks(_ count: Int) -> TerminalText {
    TerminalText(filtered: String(repeating: " ", count: max(0, count)))
  }

  /// The text with blanks behind it if it takes fewer than `width` cells.
  package func padded(to width: Int) -> TerminalText { self + .blanks(width - TextWidth.of(self)) }

  /// The text without blanks at its end.
  package var trimmed: TerminalText { TerminalText(filtered: String(text.reversed().drop { $0 == " " }.reversed())) }
}

extension TerminalText: ExpressibleByStringInterpolation {
  /// A text of the source code only, which no value can be.
  package typealias StringLiteralType = StaticString

  package init(stringLiteral text: StaticString) { self.text = text.description }

  package init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity * 2) }

    package mutating func appendLiteral(_ literal: StaticString) { text += literal.description }

    package mutating func appendInterpolation(_ part: TerminalText) { text += part.text }

    /// Filters text from anywhere.
    package mutating func appendInterpolation(_ part: String) { text += MessageText.of(part).text }

    package mutating func appendInterpolation(_ number: some BinaryInteger) { text += "\(number)" }
  }
}

extension TerminalText: CustomStringConvertible {
  package var description: String { text }
}

extension Sequence<TerminalText> {
  package func joined(separator: TerminalText = "") -> TerminalText {
    TerminalText(filtered: map(\.text).joined(separator: separator.text))
  }
}

extension TextWidth {
  /// The cells of a text without colors.
  package static func of(_ text: TerminalText) -> Int { of(text.text) }
}
