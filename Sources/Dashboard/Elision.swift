import Screen

/// Shortens text to a number of cells, with a mark that the terminal can draw.
struct Elision {
  /// What stands for the part left out.
  let mark: String

  init(isASCII: Bool) { mark = isASCII ? ".." : "…" }

  /// Keeps both ends: names often differ in their last letters.
  func middle(_ text: String, to width: Int) -> String { Elide.middle(text, to: width, mark: mark) }

  /// Keeps the beginning.
  func end(_ text: String, to width: Int) -> String { Elide.end(text, to: width, mark: mark) }
}
