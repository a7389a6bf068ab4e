import Testing

@testable import NcursesTerminal

struct GlyphTests {
  /// The scalars of the cells, in a terminal in which selectors, joiners and U+0301 have no cell of their own.
  private func cells(_ grapheme: String, width: Int, isASCII: Bool = false, unknown: Set<UInt32> = []) -> [String] {
    let glyph = Glyph(grapheme, width: width, isASCII: isASCII) { scalar in
      if unknown.contains(scalar) { return -1 }
      switch scalar {
      case 0x301, 0x200D, 0xFE0F, 0x20E3: return 0
      case 0x6F22, 0x1F400...0x1F6FF: return 2
      default: return 1
      }
    }
    return glyph.pieces.map { piece in
      String(String.UnicodeScalarView(piece.compactMap { Unicode.Scalar($0) }))
    }
  }

  @Test func aGraphemeHasTheCellsOfItsScalars() {
    #expect(cells("é", width: 1) == ["é"])
    #expect(cells("e\u{301}", width: 1) == ["e\u{301}"])
    #expect(cells("漢", width: 2) == ["漢"])
  }

  @Test func aGraphemeThatIsNarrowerInCursesIsFilledUp() {
    #expect(cells("❤\u{FE0F}", width: 2) == ["❤", " "])
    #expect(cells("1\u{FE0F}\u{20E3}", width: 2) == ["1", " "])
  }

  @Test func whatFindsNoRoomIsLeftOut() {
    #expect(cells("👩\u{200D}💻", width: 2) == ["👩"])
    #expect(cells("ab", width: 1) == ["a"])
    #expect(cells("ab", width: 2) == ["a", "b"])
    #expect(cells("a漢", width: 2) == ["a", " "])
  }

  @Test func aFlagIsItsTwoLetters() {
    #expect(cells("\u{1F1E9}\u{1F1EA}", width: 2) == ["D", "E"])
    #expect(cells("\u{1F1E6}\u{1F1FF}", width: 2) == ["A", "Z"])
  }

  @Test func aCellHoldsFiveScalars() {
    let accents = String(repeating: "\u{301}", count: 6)
    #expect(cells("e" + accents, width: 1).map(\.unicodeScalars.count) == [5])
    #expect(cells("\u{301}e", width: 1) == ["e"])
  }

  @Test func whatCursesDoesNotKnowIsReplaced() {
    #expect(cells("漢", width: 2, unknown: [0x6F22]) == ["\u{FFFD}", " "])
    #expect(cells("漢", width: 2, unknown: [0x6F22, 0xFFFD]) == ["?", " "])
  }

  @Test func inASCIIAllElseIsAQuestionMark() {
    #expect(cells("a", width: 1, isASCII: true) == ["a"])
    #expect(cells("é", width: 1, isASCII: true) == ["?"])
    #expect(cells("漢", width: 2, isASCII: true) == ["?", " "])
  }
}
