import Screen
import Support
import Testing

@Suite struct JobTextTests {
  @Test func linesForATerminalKeepTheirColorsAndNothingElse() {
    let bytes = Array("\u{1B}[31mred\u{1B}[0m\n\u{1B}]0;title\u{7}a\r\n\nb".utf8)
    #expect(JobText.cleanLines(bytes).text == "\u{1B}[31mred\u{1B}[0m\na\n\nb")
  }

  @Test(arguments: [
    ("plain", "plain"), ("", ""), ("漢字 é", "漢字 é"),
    // Control sequences.
    ("a\u{1B}[2Jb", "ab"), ("a\u{1B}[10;20Hb", "ab"), ("a\u{1B}[?1049hb", "ab"), ("a\u{1B}[>4;2mb", "ab"),
    ("a\u{1B}[1 qb", "ab"), ("a\u{1B}[K", "a"), ("a\u{1B}[31", "a"), ("a\u{1B}", "a"), ("a\u{1B}[\u{1B}[1mb", "ab"),
    ("a\u{1B}[3\u{18}1mb", "a1mb"), ("a\u{1B}cb", "ab"), ("a\u{1B}(0b", "ab"), ("a\u{1B}#8b", "ab"),
    ("a\u{1B}7b", "ab"),
    // Strings, ended and not.
    ("a\u{1B}]0;title\u{7}b", "ab"), ("a\u{1B}]0;title\u{1B}\\b", "ab"), ("a\u{1B}]52;c;aGk=\u{9C}b", "ab"),
    ("a\u{1B}]8;;http://x\u{1B}\\link\u{1B}]8;;\u{1B}\\b", "alinkb"), ("a\u{1B}]0;never ends", "a"),
    ("a\u{1B}Pq#0;2\u{1B}\\b", "ab"), ("a\u{1B}Pq\u{7}still", "a"), ("a\u{1B}_x\u{1B}\\b", "ab"),
    ("a\u{1B}^x\u{1B}\\b", "ab"), ("a\u{1B}Xx\u{1B}\\b", "ab"), ("a\u{1B}]0;x\u{1B}[31mb", "ab"),
    // The same in their one-character form.
    ("a\u{9B}2Jb", "ab"), ("a\u{9D}0;t\u{7}b", "ab"), ("a\u{90}q\u{9C}b", "ab"), ("a\u{85}b", "ab"),
    // What moves the cursor within the line.
    ("10%\r20%\r30%", "30%"), ("done\r", "done"), ("done\r\r", "done"), ("long line\rshort", "short"),
    ("ab\u{8}c", "ac"), ("\u{8}\u{8}a", "a"), ("_\u{8}a_\u{8}b", "ab"), ("a\u{8}ab\u{8}b", "ab"), ("漢\u{8}x", "x"),
    ("a\tb", "a       b"), ("\tb", "        b"), ("1234567\tb", "1234567 b"), ("12345678\tb", "12345678        b"),
    ("漢\tb", "漢      b"), ("xx\ra\tb", "a       b"),
    // Nothing to see.
    ("a\u{0}\u{7}\u{B}\u{C}\u{E}\u{7F}b", "ab"), ("a\u{202E}b\u{202C}", "ab"), ("a\u{2066}b\u{2069}\u{200F}", "ab"),
    ("a\u{200B}\u{FEFF}\u{AD}b", "ab"), ("a\u{2028}b", "ab"), ("👨‍👩‍👧", "👨‍👩‍👧"), ("❤️", "❤️"),
  ])
  func onlyReadableTextIsKept(_ line: String, _ expected: String) {
    #expect(JobText(line).plain == expected)
  }

  @Test(arguments: [
    // Links, the clipboard, device strings, whole and torn.
    ("\u{1B}]8;id=1;https://x.test/\u{7}link\u{1B}]8;;\u{7}", "link"), ("a\u{1B}]52;c;cm0gLXJm\u{7}b", "ab"),
    ("a\u{1B}]52;p;?\u{1B}\\b", "ab"), ("a\u{1B}]52;c;cm0gLXJm", "a"), ("a\u{1B}P$q\"p\u{1B}\\b", "ab"),
    ("a\u{1B}P+q544e\u{1B}", "a"), ("a\u{90}1$r0m\u{9C}b", "ab"),
    ("a\u{9E}pm\u{9C}\u{9F}apc\u{9C}\u{98}sos\u{9C}b", "ab"),
    ("a\u{84}\u{88}\u{8D}\u{8E}\u{8F}b", "ab"), ("a\u{1B}]1337;File=:AAAA\u{7}b", "ab"),
    // Cursor moves, scrolling, modes, reports, resets.
    ("a\u{1B}[Ab\u{1B}[5Cc\u{1B}[1;1Hd\u{1B}[3;7re", "abcde"), ("a\u{1B}[s\u{1B}[ub\u{1B}[4Xc\u{1B}[2@d", "abcd"),
    ("a\u{1B}[?25lb\u{1B}[?1002hc\u{1B}[?2004hd", "abcd"), ("a\u{1B}[6nb\u{1B}[cc\u{1B}[>qd", "abcd"),
    ("a\u{1B}[!pb\u{1B}]104\u{7}c\u{1B}[22;0td", "abcd"), ("a\u{1B}Db\u{1B}Ec\u{1B}Md", "abcd"),
    // The marks that reorder text, and those that hide it.
    ("user\u{202E}nimda\u{202C}", "usernimda"), ("\u{2067}a\u{2069}\u{061C}b", "ab"), ("a\u{2060}\u{E0041}b", "ab"),
    // Colours without end.
    ("\u{1B}[" + String(repeating: "1;", count: 5000) + "31mred", "red"),
    ("\u{1B}[" + String(repeating: "9", count: 5000) + "mplain", "plain"),
  ])
  func controlSequencesAreRemoved(_ line: String, _ expected: String) {
    #expect(JobText(line).plain == expected)
    #expect(JobText(written: line).plain == expected)
  }

  @Test func aSequenceThatIsSplitBetweenLinesIsObeyedInNeither() {
    let whole = "a\u{1B}[31;1mb\u{1B}]52;c;aGk=\u{1B}\\c\u{1B}P1;2q\u{1B}\\d"
    for place in whole.unicodeScalars.indices {
      for part in [whole.unicodeScalars[..<place], whole.unicodeScalars[place...]] {
        let text = JobText(String(String.UnicodeScalarView(part)))
        #expect(text.plain.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value < 0x7F })
      }
    }
  }

  @Test func copiedTextKeepsItsTabs() {
    #expect(JobText(written: "\ta\tb\u{1B}[31m\tc").plain == "\ta\tb\tc")
    #expect(JobText(written: "10%\rdone\t!").plain == "done\t!")
  }

  @Test(
    arguments: [
      ([0x61, 0x9B, 0x32, 0x4A, 0x62], "ab"), ([0x61, 0x9D, 0x30, 0x3B, 0x9C, 0x62], "ab"),
      ([0x61, 0xFF, 0x62], "a\u{FFFD}b"),
      ([0x61, 0xC3], "a\u{FFFD}"), ([0xC3, 0x62], "\u{FFFD}b"), ([0xE2, 0x96, 0x88], "█"), ([0xC0, 0x9B], "\u{FFFD}"),
      ([0xED, 0xA0, 0x80], "\u{FFFD}"), ([0xF4, 0x90, 0x80, 0x80], "\u{FFFD}"),
      ([0xE2, 0x96, 0x1B, 0x5B, 0x6D], "\u{FFFD}"),
    ] as [([UInt8], String)])
  func bytesThatAreNotUTF8AreMarkedOrDropped(_ line: [UInt8], _ expected: String) {
    #expect(JobText(line: line).plain == expected)
  }

  @Test(arguments: [
    ("31", Style(.indexed(1))), ("91", Style(.indexed(9))), ("41", Style(.standard, on: .indexed(1))),
    ("107", Style(.standard, on: .indexed(15))), ("38;5;208", Style(.indexed(208))), ("38:5:208", Style(.indexed(208))),
    ("48;5;16;31", Style(.indexed(1), on: .indexed(16))), ("38;2;255;0;0", Style(.indexed(196))),
    ("38:2:255:0:0", Style(.indexed(196))), ("38:2::255:0:0", Style(.indexed(196))),
    ("38;2;128;128;128", Style(.indexed(244))), ("38;2;1;2", .plain), ("38;5", .plain), ("38;5;256", .plain),
    ("38;9;1", Style(.standard, .bold)),
    ("1;2;3;4;7", Style(.standard, on: .standard, [.bold, .dim, .italic, .underline, .reverse])),
    ("1;22", .plain), ("3;23;4;24;7;27", .plain), ("4:3", Style(.standard, .underline)), ("4;4:0", .plain),
    ("31;39", .plain), ("41;49", .plain), ("31;0", .plain), ("31;", .plain), ("", .plain), ("999", .plain),
    ("58;5;1", .plain), ("58:2::1:2:3;31", Style(.indexed(1))), ("99999999999999999999", .plain),
  ])
  func coloursAreKept(_ parameters: String, _ style: Style) {
    #expect(JobText("\u{1B}[\(parameters)mx").runs == [JobText.Run("x", style)])
  }

  @Test func colourHoldsUntilItIsChangedAndNotBeyondTheLine() {
    #expect(
      JobText("a\u{1B}[31mb\u{1B}[1mc\u{1B}[md").runs == [
        .init("a"), .init("b", Style(.indexed(1))), .init("c", Style(.indexed(1)).with(.bold)), .init("d"),
      ])
    #expect(JobText("e").runs == [.init("e")])
  }

  @Test func aBackspaceGoesBackOverRunsAndCells() {
    let red = Style(.indexed(1))
    #expect(JobText("a\u{1B}[31mb\u{8}\u{8}c").runs == [.init("c", red)])
    #expect(JobText("a\u{1B}[31mb\u{8}\u{1B}[mc").runs == [.init("ac")])
    #expect(JobText("ab\u{8}\tc").plain == "a       c" && JobText("漢\u{8}\tc").plain == "        c")
    #expect(JobText("ab\r\u{8}c").plain == "c" && JobText("ab\r\u{8}").plain == "ab")
    #expect(JobText("\u{8}\u{8}\tc").plain == "        c")
  }

  @Test func theMarksOfEachCellAreCountedAnew() {
    let mark = "\u{301}"
    func marks(_ count: Int) -> String { String(repeating: mark, count: count) }
    #expect(JobText("a" + marks(8) + "b").plain.unicodeScalars.count == 10)
    #expect(JobText("a" + marks(9) + "b").plain.unicodeScalars.count == 10)
    #expect(JobText("a" + marks(9) + "b" + mark).plain.unicodeScalars.count == 11)
    #expect(JobText("a" + marks(9) + "\rb" + mark).plain.unicodeScalars.count == 2)
  }

  @Test func aLineHasTheWidthOfItsRuns() {
    #expect(JobText("ab\u{1B}[31m漢c").width == 5 && JobText("").width == 0)
  }

  @Test func combiningMarksOfOneCellAreLimited() {
    let text = JobText("a" + String(repeating: "\u{301}", count: 1000))
    #expect(text.plain.unicodeScalars.count <= 10)
  }

  @Test(arguments: UInt64(1)...200)
  func noCellIsEverAControlCharacter(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    let pieces: [[UInt8]] = [
      [0x1B], [0x1B, 0x5B], [0x1B, 0x5D], [0x9B], [0xC2, 0x9B], [0x1B, 0x50], [0x07], [0x1B, 0x5C], Array("31;1".utf8),
      [0x6D],
      [0x0D], [0x08], [0x09], Array("\u{202E}".utf8), Array("漢".utf8), Array("e\u{301}".utf8), Array("👨‍👩‍👧".utf8), [0x00],
      [0x7F],
    ]
    var line: [UInt8] = []
    while line.count < 4096 {
      if Bool.random(using: &random) {
        line += pieces[Int.random(in: 0..<pieces.count, using: &random)]
      } else {
        line.append(UInt8.random(in: 0...255, using: &random))
      }
    }
    let text = JobText(line: line.prefix(4096))
    #expect(text.runs.allSatisfy { !$0.text.isEmpty })
    for scalar in text.plain.unicodeScalars {
      let isControl = scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
      #expect(!isControl && !(0x202A...0x202E).contains(scalar.value))
    }
    var frame = Frame(Size(width: 100, height: 1))
    frame.put(text, x: 0, y: 0)
    for cell in frame.rows[0] { #expect(cell.text.unicodeScalars.allSatisfy(TextWidth.isPrintable) || isJoiner(cell)) }
  }

  private func isJoiner(_ cell: Cell) -> Bool {
    cell.text.unicodeScalars.contains { $0.value == 0x200C || $0.value == 0x200D }
  }
}
