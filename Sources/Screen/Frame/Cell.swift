/// One cell of the screen: a grapheme and its style.
package struct Cell: Sendable, Hashable {
  /// One grapheme without control characters; empty in the second cell of a wide one.
  package var text: String
  package var style: Style

  package init(_ text: String, _ style: Style = .plain) {
    self.text = text
    self.style = style
  }

  /// An unprintable or very long grapheme becomes U+FFFD.
  init(_ grapheme: Character, _ style: Style) {
    let printable = TextWidth.isPrintable(grapheme) && grapheme.utf8.count <= Self.longest
    self.init(printable ? String(grapheme) : "\u{FFFD}", style)
  }

  init(_ scalar: Unicode.Scalar, _ style: Style) { self.init(String(scalar), style) }

  package static let blank = Cell(" ")
  /// The right half of a wide grapheme.
  package static let continuation = Cell("")

  package var isContinuation: Bool { text.isEmpty }

  /// In bytes; a family of four with skin tones takes 41.
  private static let longest = 64
}
