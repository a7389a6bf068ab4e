import Operations
import Testing

@testable import Processes

/// What a terminal shows of a line that is drawn again.
struct RedrawnLineTests {
  private func line(_ chunks: [String]) -> OperationLogLine? {
    var splitter = LineSplitter(.standardOutput)
    var lines: [OperationLogLine] = []
    for chunk in chunks { lines += splitter.feed(Array(chunk.utf8)).lines }
    return lines.first ?? splitter.finish()
  }

  @Test(arguments: [
    ("10%\r42%\n", "42%"),
    // As a terminal shows it: what is not overwritten stays.
    ("a longer line\rshort\n", "shortger line"),
    ("a longer line\r\u{1B}[Kshort\n", "short"),
    ("a longer line\rshort\u{1B}[K\n", "short"),
    ("a longer line\r\u{1B}[2Kshort\n", "short"),
    ("spinner |\u{1B}[2K\u{1B}[1Gdone\n", "done"),
    ("0/12\u{8}\u{8}\u{8}\u{8}1/12\n", "1/12"),
    ("Password: x\u{8} \u{8}\n", "Password:"),
    ("ab\u{1B}[2Dxy\u{1B}[1Cz\n", "xy z"),
    ("[    ]\r[==\n", "[==  ]"),
    ("one\ttwo\rONE\n", "ONE     two"),
    ("padded       \rpad\n", "padded"),
    ("héllo wörld\rHÉ\n", "HÉllo wörld"),
    ("\u{1B}]0;title\u{7}50%\r60%\n", "60%"),
    ("\u{1B}[?25l10%\r20%\u{1B}[?25h\n", "20%"),
    ("twice\r\r\n", "twice"),
    ("\u{8}\u{8}x\n", "x"),
    ("old\u{1B}[Jx\rnew\u{1B}[J\n", "new"),
    ("logo\u{1B}[6Chost\n", "logo      host"), ("logo\u{1B}[11Ghost\n", "logo      host"),
  ])
  func aRedrawnLineIsWhatATerminalShows(written: String, shown: String) {
    #expect(line([written])?.text == shown)
    // However the bytes arrive.
    var splitter = LineSplitter(.standardOutput)
    let bytewise = written.utf8.flatMap { splitter.feed([$0]).lines }
    // A sequence to the left that comes in pieces is seen only where the line has moved back before.
    if written.contains("\r") || written.contains("\u{8}") { #expect(bytewise.map(\.text) == [shown]) }
  }

  @Test func colorsStayOnTheirCells() {
    #expect(line(["\u{1B}[32mok\u{1B}[0m rest\rno\n"])?.text == "no rest")
    #expect(line(["plain\r\u{1B}[1m\u{1B}[31mbold\u{1B}[0m\n"])?.text == "\u{1B}[1m\u{1B}[31mbold\u{1B}[0mn")
  }

  @Test func aRedrawnLineThatNeverEndsTakesBoundedMemory() {
    var splitter = LineSplitter(.standardOutput)
    for round in 0..<200 {
      _ = splitter.feed(Array("\r\(round) ".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 1000))
      _ = splitter.feed([UInt8](repeating: UInt8(ascii: "y"), count: 10_000))
    }
    let line = splitter.finish()
    #expect(line?.isCut == true)
    #expect((line?.text.utf8.count ?? .max) <= LineSplitter.limit)
    #expect(line?.text.hasPrefix("199 xxx") == true)
  }

  @Test func anEscapeSequenceWithoutAnEndHidesNoMoreThanItself() {
    var splitter = LineSplitter(.standardOutput)
    _ = splitter.feed(Array("\r\u{1B}]0;".utf8))
    for _ in 0..<1000 { _ = splitter.feed([UInt8](repeating: UInt8(ascii: "t"), count: 100)) }
    #expect(splitter.feed(Array("\nnext\n".utf8)).lines.last?.text == "next")
  }

  @Test func aFloodOfRedrawsKeepsTheNewestOnly() {
    var splitter = LineSplitter(.standardOutput)
    let output = splitter.feed(Array((0..<10_000).map { "\r\($0)" }.joined().utf8))
    #expect(output.redraws.count <= RedrawnLine.window)
    #expect(output.redraws.last?.text == "9998")
  }

  // MARK: Pieces of a line

  /// A line of these pieces, and the texts before its moves back.
  private func written(_ pieces: [String]) -> (line: RedrawnLine, redraws: [String]) {
    var line = RedrawnLine([])
    var redraws: [String] = []
    for piece in pieces { line.write(Array(piece.utf8)[...], keeping: &redraws) }
    return (line, redraws)
  }

  private func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

  @Test(arguments: [
    ("abcdefghijklmn\u{1B}[12DX", "abXdefghijklmn"), ("abc\u{1B}[DX", "abX"), ("abc\u{1B}[0DX", "abX"),
    ("a\u{1B}[Cb", "a b"), ("a\u{1B}[0Cb", "a b"), ("a\u{1B}[12Cb", "a            b"),
    ("abcdefghij\u{1B}[9GX", "abcdefghXj"), ("abc\u{1B}[GX", "Xbc"), ("abc\u{1B}[0GX", "Xbc"),
    ("abc\u{1B}[2`X", "aXc"), ("12345678\tx", "12345678        x"), ("1234567\tx", "1234567 x"),
  ])
  func theCursorMovesByTheParameter(written: String, shown: String) {
    #expect(self.written([written]).line.plain == shown)
  }

  @Test(arguments: [
    ("abcdef\u{1B}[3G\u{1B}[1K", "   def"), ("abcdef\u{1B}[3G\u{1B}[1KX", "  Xdef"),
    ("abc\u{1B}[20G\u{1B}[1Kx", "                   x"), ("ab\u{1B}[5C\u{1B}[Kx", "ab     x"),
    ("abc\u{1B}[2Kx", "   x"), ("abc\r\u{1B}[Jx", "x"), ("abcdef\u{1B}[3G\u{1B}[K", "ab"),
  ])
  func anEraseLeavesTheCursorWhereItIs(written: String, shown: String) {
    #expect(self.written([written]).line.plain == shown)
  }

  @Test(arguments: [
    "\u{1B}]0;t\u{1B}\\x", "\u{1B}Ptext\u{1B}\\x", "\u{1B}Xtext\u{1B}\\x", "\u{1B}^text\u{7}x", "\u{1B}_text\u{7}x",
    "\u{1B}(Bx", "\u{1B}(0x", "\u{1B}#8x", "\u{1B}0x", "\u{1B}7x", "\u{1B}[1 qx", "\u{1B}[@x", "\u{1B}[?25lx",
    "\u{1F}x\u{7}", "x\u{7F}",
  ])
  func whatIsNoTextShowsNothing(written: String) {
    #expect(self.written([written]).line.plain == "x")
    #expect(self.written(written.map(String.init)).line.plain == "x")
  }

  @Test func anotherSequenceEndsAStringWithoutAnEnd() {
    #expect(written(["\u{1B}]0;title\u{1B}[1mX"]).line.line.text == "\u{1B}[1mX\u{1B}[0m")
  }

  @Test(arguments: ["\u{1B}]", "\u{1B}P", "\u{1B}_"], [253, 254, 255, 5000])
  func aLongStringShowsNothing(start: String, length: Int) {
    let text = repeated("t", length)
    for end in ["\u{7}", "\u{1B}\\"] {
      #expect(written([start + text, text + end + "x"]).line.plain == "x")
      #expect(written([start + text, text, "t" + end, "x"]).line.plain == "x")
    }
    #expect(written([start + text + "\u{1B}", "\\x"]).line.plain == "x")
    #expect(written([start + text, "\u{1B}[1mX"]).line.line.text == "\u{1B}[1mX\u{1B}[0m")
  }

  @Test func aLongControlSequenceShowsNothing() {
    #expect(written(["\u{1B}[" + repeated("1;", 200), "1;1mx"]).line.plain == "x")
    #expect(written(["\u{1B}[" + repeated("1;", 200), repeated("1;", 200), "?hx"]).line.plain == "x")
  }

  // MARK: Wide graphemes

  /// By the cells of a terminal, of which a wide grapheme has two.
  @Test(arguments: [
    ("漢字\rab", "ab字"), ("漢字\ra", "a 字"), ("漢字\u{1B}[2Gx", " x字"), ("漢字\u{1B}[3Gx", "漢x"), ("漢字\u{1B}[4Gx", "漢 x"),
    ("abcd\r漢", "漢cd"), ("abcd\u{1B}[2G漢", "a漢d"), ("漢字\u{1B}[2G語", " 語 "), ("漢\u{8}x", " x"), ("漢\tx", "漢      x"),
    ("漢字\u{1B}[2DX", "漢X"), ("漢\u{1B}[2Cx", "漢  x"), ("進捗 10%\r進捗 20%", "進捗 20%"), ("進捗 10%\u{1B}[6G20%", "進捗 20%"),
    ("漢字\u{1B}[2G\u{1B}[K", ""), ("漢字\u{1B}[4G\u{1B}[K", "漢"), ("漢字\u{1B}[1G\u{1B}[1K", "  字"),
    ("漢字\u{1B}[3G\u{1B}[1K", ""),
    ("😀 ok\u{1B}[4GOK", "😀 OK"), ("🇩🇪 x\u{1B}[4Gy", "🇩🇪 y"), ("e\u{301}x\u{1B}[2Gy", "e\u{301}y"),
    ("ab\u{200B}c\u{1B}[3Gd", "abd"),
  ])
  func aWideGraphemeHasTwoCells(written: String, shown: String) {
    let blanks = shown.reversed().prefix { $0 == " " }.count
    #expect(self.written([written]).line.plain == String(shown.dropLast(blanks)))
    // However the bytes arrive.
    #expect(self.written(written.unicodeScalars.map { String($0) }).line.plain == String(shown.dropLast(blanks)))
  }

  @Test func aHalfOfAWideGraphemeHasNoColor() {
    let red = "\u{1B}[31m"
    #expect(written(["\(red)漢\u{1B}[m\rx"]).line.line.text == "x")
    #expect(written(["\(red)漢字\u{1B}[m\rx"]).line.line.text == "x \(red)字\u{1B}[0m")
  }

  @Test func aWideGraphemeAtTheLimitIsCut() {
    let (full, over) = (written([repeated("漢", 1365)]).line, written([repeated("x", 4095) + "漢"]).line)
    #expect(!full.isCut && full.plain.count == 1365)
    #expect(over.isCut && over.plain.count == 4095)
  }

  // MARK: Redraws

  @Test(
    arguments: [
      ("10%\r20%\r", ["10%", "20%"], nil), ("a\r\rb", ["a"], "b"), ("abc\u{1B}[1Dd", ["abc"], "abd"),
      ("\rab\u{1B}[3Gc", [], "abc"), ("\ra\u{1B}[5Gb", [], "a   b"), ("ab\u{1B}[K", ["ab"], nil),
      ("ab\u{1B}[Jc", ["ab"], "abc"), ("\ra\u{1B}[1mb", [], "ab"), ("", [], nil),
      // Moved on, but not back.
      ("a\u{1B}[5Gb", [], nil), ("a\u{1B}[5C45%", [], nil), ("ab", [], nil),
    ] as [(String, [String], String?)])
  func aRedrawIsTheNewTextBeforeAMoveBack(text: String, redraws: [String], last: String?) {
    let result = written([text])
    #expect(result.redraws == redraws)
    #expect(result.line.lastRedraw == last)
  }

  @Test func theNewestRedrawsAreKeptExactly() {
    // The last two numbers are not before a move back that has new text.
    let redraws = written([(0..<300).map { "\r\($0)" }.joined()]).redraws
    #expect(redraws == (43...298).map(String.init))
    #expect(redraws.count == RedrawnLine.window)
  }

  // MARK: Colors

  @Test(arguments: [
    ("\u{1B}[31ma\u{1B}[0m\u{1B}[32mb\u{1B}[0mc", "\u{1B}[31ma\u{1B}[0m\u{1B}[32mb\u{1B}[0mc"),
    ("\u{1B}[31ma", "\u{1B}[31ma\u{1B}[0m"), ("\u{1B}[31ma\u{1B}[mb", "\u{1B}[31ma\u{1B}[0mb"),
    // A blank with a background can be seen.
    ("\u{1B}[41m \u{1B}[0m  ", "\u{1B}[41m \u{1B}[0m"), ("\u{1B}[31mab", "\u{1B}[31mab\u{1B}[0m"),
  ])
  func eachChangeOfColorIsWrittenOnce(written: String, text: String) {
    #expect(self.written([written]).line.line.text == text)
  }

  @Test func ofColorsThatAreNeverResetTheLastIsKept() {
    let red = "\u{1B}[31m"
    func text(_ colors: String) -> String { written([colors + "x"]).line.line.text }
    #expect(text(repeated(red, 12)) == repeated(red, 12) + "x\u{1B}[0m")
    // 64 bytes, and 65.
    #expect(text(repeated(red, 12) + "\u{1B}[1m") == repeated(red, 12) + "\u{1B}[1mx\u{1B}[0m")
    #expect(text(repeated(red, 13)) == red + "x\u{1B}[0m")
  }

  // MARK: The limit

  @Test func aLineHasAtMostAsManyCellsAsTheLimit() {
    let (full, over) = (written([repeated("x", 4096)]).line, written([repeated("x", 4097)]).line)
    #expect(!full.isCut && full.plain.count == 4096)
    #expect(over.isCut && over.plain.count == 4096)
    #expect(over.line.isCut && over.line.text.utf8.count <= LineSplitter.limit)
    #expect(written(["\u{1B}[5000G\u{8}x"]).line.plain.count == 4096)
  }

  @Test func aLineHasAtMostAsManyBytesAsTheLimit() {
    let (full, over) = (written([repeated("é", 2048)]).line.line, written([repeated("é", 2049)]).line.line)
    #expect(!full.isCut && full.text.utf8.count == 4096)
    #expect(over.isCut && over.text.utf8.count == 4096)
  }

  @Test func aLineThatIsCutResetsItsColor() {
    let red = "\u{1B}[31m"
    let (full, over) = (written([red + repeated("x", 4087)]).line.line, written([red + repeated("x", 4088)]).line.line)
    #expect(!full.isCut && full.text == red + repeated("x", 4087) + "\u{1B}[0m")
    #expect(over.isCut && over.text == full.text)
    // The color has ended before.
    let plain = written([red + "x\u{1B}[m" + repeated("y", 4086), repeated("z", 9)]).line.line
    #expect(plain.isCut && plain.text.utf8.count == 4096 && plain.text.hasSuffix("y"))
  }

  @Test(arguments: ["\r\u{1B}[K", "\u{1B}[2K", "\r\u{1B}[J"]) func anErasedLineIsCutNoLonger(erase: String) {
    let line = written([repeated("x", 4097), erase]).line
    #expect(!line.isCut && line.plain.isEmpty)
    #expect(RedrawnLine([], isCut: true).line.isCut)
  }

  // MARK: Bytes

  @Test(arguments: [
    ("", false), ("abc", false), ("a\r\nb\r\n", false), ("a\r", true), ("a\r\n\rb", true), ("a\r\r\n", true),
    ("a\u{8}", true), ("\u{1B}[D", true), ("\u{1B}[G", true), ("\u{1B}[`", true), ("x\u{1B}[31mred\u{1B}[2D", true),
    ("\u{1B}[m\u{1B}[5G", true), ("\u{1B}7\u{1B}[D", true), ("\u{1B}\u{1B}[D", true), ("\u{1B}[C", true),
    ("\u{1B}[m", false), ("\u{1B}[12", false), ("\u{1B}[", false), ("\u{1B}", false), ("\u{1B}[@D", false),
    ("\u{1B}[mD", false), ("\u{1B}]D", false),
  ])
  func whatMovesTheCursorIsKnownByItsBytes(text: String, moves: Bool) {
    #expect(Array(text.utf8)[...].moveCursor == moves)
    #expect(Array("xy\(text)".utf8)[2...].moveCursor == moves)
  }

  @Test func thePlaceOfAByteIsThatInTheWholeArray() {
    let bytes = Array("yaxbx".utf8)
    #expect(bytes[1...].place(of: UInt8(ascii: "x")) == 2)
    #expect(bytes[3...].place(of: UInt8(ascii: "x")) == 4)
    #expect(bytes[1...].place(of: UInt8(ascii: "y")) == nil)
    #expect(bytes[5...].place(of: UInt8(ascii: "x")) == nil)
  }

  /// The first and the last scalar of each length.
  @Test(arguments: ["\u{80}", "\u{7FF}", "\u{800}", "\u{FFFD}", "\u{10000}", "\u{10FFFF}"])
  func aScalarIsWholeWithItsLastByte(scalar: String) {
    let bytes = Array("a\(scalar)".utf8)
    for end in 1..<bytes.count { #expect(bytes[..<end].wholeScalars == 1) }
    #expect(bytes[...].wholeScalars == bytes.count)
    // Bytes that continue nothing are passed on.
    #expect(Array("a".utf8)[...].wholeScalars == 1)
    #expect(([UInt8](repeating: 0x80, count: 5))[...].wholeScalars == 5)
  }
}
