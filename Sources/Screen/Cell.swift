/// One place of the screen: a grapheme and its style.
package struct Cell: Sendable, Hashable {
  /// A single grapheme, free of control characters; empty in the second place of a wide one.
  package var text: String
  package var style: Style

  package init(_ text: String, _ style: Style = .plain) {
    self.text = text
    self.style = style
  }

  package static let blank = Cell(" ")
  /// The right half of a wide grapheme.
  package static let continuation = Cell("")
}
