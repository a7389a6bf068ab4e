/// How many cells a text takes on a terminal.
package enum TextWidth {
  /// 0, 1 or 2; a control character counts 1, as the mark that is shown in its place.
  package static func of(_ grapheme: Character) -> Int {
    if let ascii = grapheme.asciiValue { return ascii == 0 ? 0 : 1 }
    guard let first = grapheme.unicodeScalars.first else { return 0 }
    switch first.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
      0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
      0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      return 2
    default:
      return first.properties.generalCategory == .nonspacingMark ? 0 : 1
    }
  }

  package static func of(_ text: String) -> Int { text.reduce(0) { $0 + of($1) } }

  /// Whether a terminal shows it rather than obeys it.
  package static func isPrintable(_ grapheme: Character) -> Bool {
    grapheme.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator: false
      default: true
      }
    }
  }
}
