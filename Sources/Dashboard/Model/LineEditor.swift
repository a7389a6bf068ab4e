import Screen

/// A line that a person types at the bottom of the screen, and the cursor in it.
struct LineEditor: Equatable {
  /// The text before the cursor.
  private(set) var head: String
  /// The text from the cursor on.
  private(set) var tail = ""

  var text: String { head + tail }

  private static let limit = 200

  init(_ text: String) { head = text }

  /// Edits the text or moves the cursor, or ignores a key that does neither.
  mutating func take(_ key: Key) {
    switch key {
    case .character(let character): insert(String(character))
    case .left, .control("b"): if let last = head.popLast() { tail = String(last) + tail }
    case .right, .control("f"): if !tail.isEmpty { head.append(tail.removeFirst()) }
    case .home, .control("a"): (head, tail) = ("", text)
    case .end, .control("e"): (head, tail) = (text, "")
    case .backspace, .control("h"): _ = head.popLast()
    case .delete: if !tail.isEmpty { tail.removeFirst() }
    case .control("u"): head = ""
    case .control("k"): tail = ""
    case .control("w"):
      while head.last == " " { head.removeLast() }
      while let last = head.last, last != " " { head.removeLast() }
    default: break
    }
  }

  /// Inserts text as one line, with a blank for the tabs and newlines between two words, without control characters.
  mutating func insert(_ more: String) {
    let line = more.split { $0.isNewline || $0 == "\t" }.joined(separator: " ").filter { TextWidth.isPrintable($0) }
    head += line.prefix(max(0, Self.limit - text.count))
  }
}
