import Screen
import Testing

struct TerminalTextTests {
  private let hostile = "7\u{1B}]52;c;UFdO\u{7}\n\u{9B}2J"
  private let shown = #"7\u{1B}]52;c;UFdO\u{07}\n\u{009B}2J"#

  @Test func whatIsPutIntoALiteralIsFiltered() {
    let text: TerminalText = "job \(hostile) on \(3)"
    #expect(text.text == "job \(shown) on 3")
  }

  @Test func aTextThatIsMadeAlreadyStaysAsItIs() {
    let line = JobText.clean("\u{1B}[31mred\u{1B}[0m\u{1B}[2J", keepingColor: true)
    let text: TerminalText = "| \(line)"
    #expect(text.text == "| \u{1B}[31mred\u{1B}[0m")
    #expect((text + "\n").text == "| \u{1B}[31mred\u{1B}[0m\n")
  }

  @Test func aPageKeepsItsLinesAndTabs() {
    #expect(MessageText.page("a\tb\n\nc\u{1B}[2J\n").text == "a\tb\n\nc\\u{1B}[2J\n")
  }

  @Test func theClipboardGetsNoSequences() {
    #expect(JobText.written("a\tb\u{1B}[2J\n\u{1B}]0;x\u{7}c").text == "a\tb\nc")
    #expect(JobText.written("one\r\ntwo").text == "one\ntwo")
  }

  @Test func aCellHoldsNoControlCharacter() {
    #expect(Cell("\u{1B}").text == "\u{FFFD}" && Cell("a\u{7}").text == "a" && Cell("").isContinuation)
    #expect(Cell(String(repeating: "\u{301}", count: 90)).text == "\u{FFFD}")
  }

  @Test func aColouredTextIsShortenedWithoutItsColours() {
    let text = JobText.clean("\u{1B}[31mabcdef\u{1B}[0m", keepingColor: true)
    #expect(Elision(isASCII: true).end(text, to: 4) == "ab..")
    #expect(Elision(isASCII: true).name("abc[de]", to: 20) == "abc[de]")
  }

  @Test func blanksAndLinesAreCounted() {
    #expect(TerminalText.blanks(-1).isEmpty && TerminalText.blanks(2) == "  ")
    #expect(("a  " as TerminalText).trimmed == "a" && TextWidth.of("a漢" as TerminalText) == 3)
    #expect((["a", "b"] as [TerminalText]).joined(separator: ", ") == "a, b")
  }

  @Test(arguments: [(0, "", 3), (1, "", 3), (3, "c\n", 2), (4, "c\n", 2), (5, "b\nc\n", 1), (6, "b\nc\n", 1)])
  func theLastLinesAreKept(_ size: Int, _ kept: String, _ removed: Int) {
    var text = MessageText.page("aa\nb\nc\n")
    #expect(text.keepLines(inLast: size) == removed)
    #expect(text.text == kept)
  }
}
