import Screen

/// A line that a person types at the foot of the screen.
struct LineEditor: Equatable {
  private(set) var text: String
  /// What Esc goes back to.
  let original: String

  init(_ text: String) {
    self.text = text
    original = text
  }

  /// Whether the key was one for typing.
  mutating func take(_ key: Key) -> Bool {
    switch key {
    case .character(let character): insert(String(character))
    case .backspace, .delete, .control("h"): if !text.isEmpty { text.removeLast() }
    case .control("u"): text = ""
    case .control("w"):
      while text.last == " " { text.removeLast() }
      while let last = text.last, last != " " { text.removeLast() }
    default: return false
    }
    return true
  }

  /// Pasted text comes in as one line, without what a terminal would obey.
  mutating func insert(_ more: String) {
    text += more.filter { TextWidth.isPrintable($0) }
    if text.count > 200 { text = String(text.prefix(200)) }
  }
}
