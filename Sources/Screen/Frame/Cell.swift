/// One cell of the screen: a grapheme and its style.
package struct Cell: Sendable, Hashable {
  /// One grapheme without control characters; empty in the second cell of a wide one.
  package var text: String
  package var style: Style

  package init(_ text: String, _ style: Style = .plain) {
    self.text = text
    self.style = style
  }

  /// Unprintable scalars are dropped; a grapheme of nothing else, or a very long one, becomes U+FFFD.
  init(_ grapheme: Character, _ style: Style) {
    var text = String(grapheme)
    if !TextWidth.isPrintable(grapheme) { text.unicodeScalars.removeAll { !TextWidth.isPrintable($0) } }
    self.init(text.isEmpty || text.utf8.count > Self.longest ? "\u{FFFD}" : text, style)
  }

  init(_ scalar: Unicode.Scalar, _ style: Style) { self.init(String(scalar), style) }

  package static let blank = Cell(" ")
  /// The right half of a wide grapheme.
  package static let continuation = Cell("")

  package var isContinuation: Bool { text.isEmpty }

  /// In bytes; a family of four with skin tones takes 41.
  private static let longest = 64
}
