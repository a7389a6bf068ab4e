import Screen

/// A line that a person types at the bottom of the screen.
struct LineEditor: Equatable {
  private(set) var text: String

  init(_ text: String) { self.text = text }

  /// Edits the text, or ignores a key that does not edit.
  mutating func take(_ key: Key) {
    switch key {
    case .character(let character): insert(String(character))
    case .backspace, .delete, .control("h"): if !text.isEmpty { text.removeLast() }
    case .control("u"): text = ""
    case .control("w"):
      while text.last == " " { text.removeLast() }
      while let last = text.last, last != " " { text.removeLast() }
    default: break
    }
  }

  /// Inserts text as one line, with a blank for the tabs and newlines between two words, without control characters.
  mutating func insert(_ more: String) {
    text += more.split { $0.isNewline || $0 == "\t" }.joined(separator: " ").filter { TextWidth.isPrintable($0) }
    if text.count > 200 { text = String(text.prefix(200)) }
  }
}
