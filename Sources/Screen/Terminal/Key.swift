/// A key press.
package enum Key: Sendable, Hashable {
  /// A printable grapheme: `a`, `G`, `/`, `é`.
  case character(Character)
  /// Ctrl with a lower-case letter: `control("d")`.
  case control(Character)
  /// 1 ... 12.
  case function(Int)
  case up
  case down
  case left
  case right
  case pageUp
  case pageDown
  case home
  case end
  case enter
  case escape
  case tab
  case backTab
  case backspace
  case delete
}

extension Key {
  /// The name in footer, help and settings file: `x`, `X`, `^U`, `F9`, `Space`, `PgUp`; arrows beyond ASCII.
  package func name(isASCII: Bool = true) -> String {
    switch self {
    case .character(" "): "Space"
    case .character(let character): String(character)
    case .control(" "): "^Space"
    case .control(let letter): "^\(letter.uppercased())"
    case .function(let number): "F\(number)"
    case .up: isASCII ? "Up" : "↑"
    case .down: isASCII ? "Down" : "↓"
    case .left: isASCII ? "Left" : "←"
    case .right: isASCII ? "Right" : "→"
    case .pageUp: "PgUp"
    case .pageDown: "PgDn"
    case .home: "Home"
    case .end: "End"
    case .enter: "Enter"
    case .escape: "Esc"
    case .tab: "Tab"
    case .backTab: "S-Tab"
    case .backspace: "Backspace"
    case .delete: "Del"
    }
  }

  /// All names longer than the character that they stand for, as `name` writes them.
  package static let names: [String] =
    ["Space", "Enter", "Esc", "Tab", "S-Tab", "Backspace", "Del", "Up", "Down", "Left", "Right", "PgUp", "PgDn"]
    + ["Home", "End"] + (1...12).map { "F\($0)" }

  /// Reads a name as `name` writes it, or as tmux and Emacs do: `C-u`, `PageUp`, `Return`, `Escape`.
  ///
  /// Only single letters are case-sensitive. A key that a terminal can't tell from another, such as
  /// Ctrl-I from Tab, becomes the other. Nil for an unknown name.
  package init?(named text: String) {
    if text.count == 1, let character = text.first {
      guard TextWidth.isPrintable(character), TextWidth.of(character) > 0 else { return nil }
      self = Self.arrows[character] ?? .character(character)
      return
    }
    let lowered = text.lowercased()
    if let key = Self.byName[lowered] {
      self = key
    } else if lowered.hasPrefix("f"), let number = Int(lowered.dropFirst()), (1...12).contains(number) {
      self = .function(number)
    } else if let key = Self.withControl(lowered) {
      self = key
    } else {
      return nil
    }
  }

  /// Whether the terminal turns it into a signal, so that it never arrives as a key.
  package var isSignal: Bool { [.control("c"), .control("z"), .control("\\")].contains(self) }

  private static func withControl(_ text: String) -> Key? {
    let prefixes = ["^", "c-", "ctrl-", "ctrl+", "control-"]
    guard let prefix = prefixes.first(where: text.hasPrefix) else { return nil }
    let rest = String(text.dropFirst(prefix.count))
    if rest == "space" { return .control(" ") }
    guard rest.count == 1, let letter = rest.first else { return nil }
    switch letter {
    case "h": return .backspace
    case "i": return .tab
    case "j", "m": return .enter
    case "[": return .escape
    case "a"..."z" where letter.isASCII: return .control(letter)
    case "\\", "]", "^", "_": return .control(letter)
    default: return nil
    }
  }

  private static let arrows: [Character: Key] = ["↑": .up, "↓": .down, "←": .left, "→": .right]

  private static let byName: [String: Key] = [
    "space": .character(" "), "enter": .enter, "return": .enter, "esc": .escape, "escape": .escape, "tab": .tab,
    "s-tab": .backTab, "shift-tab": .backTab, "backtab": .backTab, "btab": .backTab, "backspace": .backspace,
    "bspace": .backspace, "del": .delete, "delete": .delete, "up": .up, "down": .down, "left": .left, "right": .right,
    "pgup": .pageUp, "pageup": .pageUp, "ppage": .pageUp, "pgdn": .pageDown, "pgdown": .pageDown,
    "pagedown": .pageDown, "npage": .pageDown, "home": .home, "end": .end,
  ]
}
