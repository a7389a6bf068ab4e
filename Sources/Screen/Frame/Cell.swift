/// One cell of the screen: a grapheme and its style.
package struct Cell: Sendable, Hashable {
  /// One grapheme without control characters; empty in the second cell of a wide one.
  package let text: String
  package var style: Style

  /// Unprintable scalars are dropped; a grapheme of nothing else, or a very long one, becomes U+FFFD.
  package init(_ text: String, _ style: Style = .plain) {
    var text = text
    if !text.unicodeScalars.allSatisfy(TextWidth.isPrintable) {
      text.unicodeScalars.removeAll { !TextWidth.isPrintable($0) }
      if text.isEmpty { text = "\u{FFFD}" }
    }
    self.text = text.utf8.count > Self.longest ? "\u{FFFD}" : text
    self.style = style
  }

  init(_ grapheme: Character, _ style: Style) { self.init(String(grapheme), style) }

  /// A scalar of a simple text.
  init(_ scalar: Unicode.Scalar, _ style: Style) {
    text = String(scalar)
    self.style = style
  }

  package static let blank = Cell(" ")
  /// The right half of a wide grapheme.
  package static let continuation = Cell("")

  package var isContinuation: Bool { text.isEmpty }

  /// In bytes; a family of four with skin tones takes 41.
  private static let longest = 64
}
