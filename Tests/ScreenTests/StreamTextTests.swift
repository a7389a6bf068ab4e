import Screen
import Support
import Testing

@Suite struct StreamTextTests {
  @Test(arguments: [
    ("plain ✓ text", "plain ✓ text", "plain ✓ text"),
    ("\u{1B}[1;31mred\u{1B}[0m", "red", "\u{1B}[1;31mred\u{1B}[0m"),
    ("\u{1B}[31mred", "red", "\u{1B}[31mred\u{1B}[0m"),
    ("\u{9B}31mred", "red", "\u{1B}[31mred\u{1B}[0m"),
    ("\u{1B}[38:2:1:2:3mx\u{1B}[m", "x", "\u{1B}[38:2:1:2:3mx\u{1B}[m"),
    ("a\u{1B}[2Jb\u{1B}[10;10Hc\u{1B}[?1049hd", "abcd", "abcd"),
    ("a\u{1B}[>4;2mb", "ab", "ab"),
    ("a\u{1B}]0;title\u{07}b\u{1B}]8;;http://x\u{1B}\\c", "abc", "abc"),
    ("a\u{1B}]52;c;aGk=", "a", "a"),
    ("a\u{1B}P1;2|payload\u{1B}\\b\u{90}more\u{9C}c", "abc", "abc"),
    ("a\u{1B}(Bb\u{1B}=c\u{1B}7d\u{1B}#8e", "abcde", "abcde"),
    ("a\u{1B}", "a", "a"),
    ("a\u{1B}[", "a", "a"),
    ("a\u{1B}[12;", "a", "a"),
    ("10%\r20%\r100%\r", "100%", "100%"),
    ("dos line\r", "dos line", "dos line"),
    ("\r", "", ""),
    (
      "bell\u{07} back\u{08} null\u{0} del\u{7F} tab\tend", "bell back null del tab\tend", "bell back null del tab\tend"
    ),
    ("c1\u{85}\u{9F}x", "c1", "c1"),
    ("bidi \u{202E}txt\u{2066}\u{200F}\u{2028}.", "bidi txt.", "bidi txt."),
    ("arabic letter mark \u{61C}.", "arabic letter mark .", "arabic letter mark ."),
    ("hidden \u{200B}\u{FEFF}\u{E0041}.", "hidden .", "hidden ."),
    ("\u{1B}[31m10%\r\u{1B}[32m20%", "20%", "\u{1B}[32m20%\u{1B}[0m"),
  ])
  func onlyColourPassesAndOnlyWhereItIsAllowed(_ text: String, _ plain: String, _ coloured: String) {
    #expect(JobText.clean(text).text == plain)
    #expect(JobText.clean(text, keepingColor: true).text == coloured)
  }

  @Test(arguments: [
    ("8", ""), ("5", ""), ("6", ""), ("1;8", "1"), ("8;1", "1"), ("08", ""), ("008;31", "31"), ("8:1", ""),
    ("31;5;8;6;1", "31;1"), ("28", "28"), ("25", "25"), ("0;8", "0"), (";8", ""),
    // In a color these numbers are no attributes.
    ("38;5;8", "38;5;8"), ("48;5;5;8", "48;5;5"), ("38;2;8;5;6", "38;2;8;5;6"), ("38;2;8;5;6;8", "38;2;8;5;6"),
    ("38:5:8", "38:5:8"), ("58;5;6;5", "58;5;6"),
    // An incomplete color must not shield them.
    ("38;8", ""), ("38;9;8", "9"), ("38;5", ""), ("38;2;8;8", ""), ("38", ""), ("38;05;8", ""),
  ])
  func hiddenAndBlinkingTextIsShownAsPlainText(_ parameters: String, _ kept: String) {
    let text = JobText.clean("a\u{1B}[\(parameters)mb", keepingColor: true).text
    let sequence = kept.isEmpty && parameters != ";8" ? "" : "\u{1B}[\(kept)m"
    let reset = kept.isEmpty || kept == "0" ? "" : "\u{1B}[0m"
    #expect(text == "a\(sequence)b\(reset)")
    #expect(JobText("\u{1B}[\(parameters)mb").runs.allSatisfy { $0.style.attributes.isSubset(of: [.bold]) })
  }

  @Test func noMixOfBytesLeavesAControlCharacter() {
    var generator = SplitMix(seed: 7)
    let parts = [
      "\u{1B}", "[", "]", "P", "m", "0", ";", "\\", "\u{07}", "\u{9B}", "\u{9D}", "\u{9C}", "x", "é", "\r", "\t", "?",
      "(",
    ]
    for _ in 0..<20_000 {
      let text = (0..<Int.random(in: 0...24, using: &generator)).map { _ in parts.randomElement(using: &generator) ?? ""
      }
      .joined()
      let plain = JobText.clean(text).text
      #expect(!plain.unicodeScalars.contains { isControl($0) }, "\(text.debugDescription)")
      let coloured = JobText.clean(text, keepingColor: true).text
      let rest = coloured.replacing(/\u{1B}\[[0-9;:]*m/, with: "")
      #expect(!rest.unicodeScalars.contains { isControl($0) }, "\(text.debugDescription)")
    }
  }

  private func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar != "\t" && (scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value))
  }
}
