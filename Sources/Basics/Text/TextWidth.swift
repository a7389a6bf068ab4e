/// The number of cells that text takes on a terminal.
package enum TextWidth {
  /// 0, 1 or 2; a control character counts 1, the width of its replacement.
  ///
  /// Ambiguous widths count 1, emoji sequences 2.
  package static func of(_ grapheme: Character) -> Int {
    if let ascii = grapheme.asciiValue { return ascii == 0 ? 0 : 1 }
    let scalars = grapheme.unicodeScalars
    guard let first = scalars.first else { return 0 }
    var rest = scalars.dropFirst()
    let width = of(first)
    if rest.isEmpty { return width }
    if isRegionalIndicator(first) { return 2 }
    if first.properties.isEmoji, rest.contains(where: { $0.value == 0xFE0F }) { return 2 }
    // A joined or toned emoji is as wide as its first picture.
    if width == 2, first.properties.isEmojiPresentation { return 2 }
    var sum = width
    while sum < 2, let scalar = rest.popFirst() { sum += of(scalar) }
    return min(2, sum)
  }

  package static func of(_ text: String) -> Int {
    if isSimple(text) { return text.utf8.count == 0 ? 0 : text.unicodeScalars.count }
    return text.reduce(0) { $0 + of($1) }
  }

  /// 0, 1 or 2 for a single scalar.
  package static func of(_ scalar: Unicode.Scalar) -> Int {
    let value = scalar.value
    if value == 0 { return 0 }
    if value < 0x300 || isSimple(scalar) { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return 0
    case .format: return isPrepended(value) ? 1 : 0
    default: break
    }
    // The vowels and final consonants that join a Hangul syllable before them.
    if (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FF).contains(value) { return 0 }
    if isWide(value) { return 2 }
    return scalar.properties.isEmojiPresentation && !isRegionalIndicator(scalar) ? 2 : 1
  }

  package static func isPrintable(_ grapheme: Character) -> Bool {
    grapheme.unicodeScalars.allSatisfy(isPrintable)
  }

  /// Whether a terminal shows the scalar and nothing else: false for controls and for invisible scalars but the joiners.
  package static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    if (0x20..<0x7F).contains(scalar.value) { return true }
    switch scalar.properties.generalCategory {
    case .control, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator: return false
    // The joiners of emoji and some scripts are kept.
    case .format: return !scalar.isInvisible || scalar.value == 0x200C || scalar.value == 0x200D
    default: return true
    }
  }

  /// Whether every scalar is a printable grapheme of one cell, by its range alone.
  package static func isSimple(_ text: String) -> Bool { text.unicodeScalars.allSatisfy(isSimple) }

  package static func isSimple(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x20..<0x7F, 0xA0..<0xA9, 0xAA..<0xAD, 0xAF..<0x300, 0x2500..<0x25A0: true
    default: false
    }
  }

  package static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool {
    (0x1F1E6...0x1F1FF).contains(scalar.value)
  }

  /// Whether it is one of the bidirectional controls, which make a line read as another one.
  package static func isReordering(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// Format characters that are drawn before their digits.
  private static func isPrepended(_ value: UInt32) -> Bool {
    switch value {
    case 0x0600...0x0605, 0x06DD, 0x070F, 0x0890...0x0891, 0x08E2, 0x110BD, 0x110CD: true
    default: false
    }
  }

  /// East Asian Wide and Fullwidth; the wide emoji come from their own property.
  private static func isWide(_ value: UInt32) -> Bool {
    switch value {
    case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
      0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x16FF1,
      0x17000...0x18D08, 0x1AFF0...0x1AFFE, 0x1B000...0x1B2FB, 0x1F200...0x1F265, 0x20000...0x2FFFD,
      0x30000...0x3FFFD:
      true
    default: false
    }
  }
}

extension String {
  /// The text with blanks behind it if it takes fewer than `width` cells.
  package func padded(to width: Int) -> String { self + blanks(to: width) }

  /// The text with blanks before it if it takes fewer than `width` cells.
  package func padded(leftTo width: Int) -> String { blanks(to: width) + self }

  private func blanks(to width: Int) -> String { String(repeating: " ", count: max(0, width - TextWidth.of(self))) }
}
