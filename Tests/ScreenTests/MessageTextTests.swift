import Screen
import Testing

struct MessageTextTests {
  @Test(arguments: [
    ("plain 'text' of a \\ path: é漢✓", "plain 'text' of a \\ path: é漢✓"), ("", ""),
    ("\u{1B}[31mred\u{7}", #"\u{1B}[31mred\u{07}"#), ("\u{9B}2J\u{7F}", #"\u{009B}2J\u{7F}"#),
    ("false.yml: 1 job\rno\nfaults\t", #"false.yml: 1 job\rno\nfaults\t"#),
    ("a\u{202E}b\u{61C}c\u{2028}d", #"a\u{202E}b\u{061C}c\u{2028}d"#),
    ("a\u{200B}b\u{200D}c\u{2064}d\u{FEFF}e", #"a\u{200B}b\u{200D}c\u{2064}d\u{FEFF}e"#),
    ("a\u{E0041}\u{E007F}b", #"a\u{000E0041}\u{000E007F}b"#),
  ])
  func whatATerminalObeysOrHidesIsWrittenOut(_ text: String, _ shown: String) {
    #expect(MessageText.of(text).text == shown)
    #expect(MessageText.of(shown).text == shown)
  }
}
