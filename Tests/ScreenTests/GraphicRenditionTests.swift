import Screen
import Testing

@Suite struct GraphicRenditionTests {
  private func style(_ parameters: String) -> Style? { JobText("\u{1B}[\(parameters)mx").runs.first?.style }

  @Test(arguments: [
    ("29", .plain), ("30", Style(.indexed(0))), ("37", Style(.indexed(7))), ("40", Style(.standard, on: .indexed(0))),
    ("47", Style(.standard, on: .indexed(7))), ("50", .plain), ("89", .plain), ("90", Style(.indexed(8))),
    ("97", Style(.indexed(15))), ("98", .plain), ("99", .plain), ("100", Style(.standard, on: .indexed(8))),
    ("107", Style(.standard, on: .indexed(15))), ("108", .plain),
  ])
  func theBasicColoursHaveFourRangesOfCodes(_ code: String, _ style: Style) {
    #expect(self.style(code) == style)
  }

  @Test(
    arguments: [
      ("1", .bold), ("2", .dim), ("3", .italic), ("4", .underline), ("21", .underline), ("7", .reverse), ("5", []),
      ("6", []), ("8", []), ("1;2;22", []), ("1;3;23", .bold), ("1;21;24", .bold), ("1;7;27", .bold),
      ("1;0;3", .italic),
      ("4:0", []), ("4:1", .underline), ("1;4;4:0", .bold),
    ] as [(String, Style.Attributes)])
  func anAttributeIsSetAndTakenBack(_ codes: String, _ attributes: Style.Attributes) {
    #expect(style(codes) == Style(.standard, on: .standard, attributes))
  }

  @Test(arguments: [
    ("38;5;0", Style(.indexed(0))), ("38;5;255", Style(.indexed(255))),
    ("48;5;255", Style(.standard, on: .indexed(255))),
    ("48:5:7", Style(.standard, on: .indexed(7))), ("48;2;255;255;255", Style(.standard, on: .indexed(231))),
    ("38:2:0:0", .plain), ("38:2:0:255:0", Style(.indexed(46))), ("38:2::0:255:0", Style(.indexed(46))),
    ("38:2:1:0:255:0", Style(.indexed(46))), ("38;2;0;0;256", .plain), ("38;2;0;255;0;1", Style(.indexed(46), .bold)),
    ("58;2;1;2;3;31", Style(.indexed(1))), ("38:5", .plain), ("38:9:1", .plain),
  ])
  func anExtendedColourTakesItsArguments(_ parameters: String, _ style: Style) {
    #expect(self.style(parameters) == style)
  }

  // MARK: Written

  @Test(arguments: [
    (.plain, "0"), (Style(.indexed(0)), "0;30"), (Style(.indexed(7)), "0;37"), (Style(.indexed(8)), "0;90"),
    (Style(.indexed(15)), "0;97"), (Style(.indexed(16)), "0;38;5;16"), (Style(.indexed(255)), "0;38;5;255"),
    (Style(.standard, on: .indexed(0)), "0;40"), (Style(.standard, on: .indexed(7)), "0;47"),
    (Style(.standard, on: .indexed(8)), "0;100"), (Style(.standard, on: .indexed(15)), "0;107"),
    (Style(.standard, on: .indexed(16)), "0;48;5;16"), (Style(.indexed(1), on: .indexed(2)), "0;31;42"),
    (Style(.standard, .bold), "0;1"), (Style(.standard, .dim), "0;2"), (Style(.standard, .italic), "0;3"),
    (Style(.standard, .underline), "0;4"), (Style(.standard, .reverse), "0;7"),
    (Style(.indexed(9), on: .standard, [.reverse, .bold]), "0;1;7;91"),
  ])
  func aStyleIsWrittenWhole(_ style: Style, _ codes: String) {
    #expect(style.graphicRendition == "\u{1B}[\(codes)m")
    #expect(self.style(codes) == style)
  }

  @Test func aRowIsWrittenWithFewSequencesAndEndsPlain() {
    var frame = Frame(Size(width: 12, height: 3))
    frame.put("a", x: 0, y: 0)
    frame.put("bc", x: 1, y: 0, style: Style(.indexed(203), on: .indexed(12), [.bold, .reverse]))
    frame.put("漢", x: 4, y: 0, style: Style(.indexed(1)))
    frame.put("  ", x: 0, y: 1, style: Style(.standard, on: .indexed(4)))
    #expect(
      frame.line(row: 0, palette: .many) == "a\u{1B}[0;1;7;38;5;203;104mbc\u{1B}[0m \u{1B}[0;31m漢\u{1B}[0m")
    #expect(frame.line(row: 0, palette: .none) == "a\u{1B}[0;1;7mbc\u{1B}[0m 漢")
    // Blanks with a background are seen.
    #expect(frame.line(row: 1, palette: .many) == "\u{1B}[0;44m  \u{1B}[0m")
    #expect(frame.line(row: 1, palette: .none) == "  ")
    #expect(frame.line(row: 2, palette: .many).isEmpty)
  }

  // MARK: Combined

  @Test func aStyleOverAnotherKeepsItsOwnColours() {
    let base = Style(.indexed(1), on: .indexed(2), .bold)
    #expect(Style.plain.over(base) == base)
    #expect(Style(.indexed(3)).over(base) == Style(.indexed(3), on: .indexed(2), .bold))
    #expect(Style(.standard, on: .indexed(4), .dim).over(base) == Style(.indexed(1), on: .indexed(4), [.bold, .dim]))
    #expect(base.over(.plain) == base)
    #expect(Style(.indexed(3), .dim).with([.dim, .italic]) == Style(.indexed(3), [.dim, .italic]))
  }
}
