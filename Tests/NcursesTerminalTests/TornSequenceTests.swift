import NcursesTerminal
import Screen
import Testing

/// Sequences that another one interrupts.
struct TornSequenceTests {
  @Test(arguments: ["\u{1B}[", "\u{1B}[1;", "\u{1B}[<0;3", "\u{1B}[?6"])
  func anEscapeInsideASequenceBeginsTheNextOne(beginning: String) {
    var decoder = InputDecoder()
    #expect(decoder.feed((beginning + "\u{1B}[Ax").utf8) == [.key(.up), .key(.character("x"))])
    #expect(decoder.patience == nil)
  }

  @Test func anEscapeKeyAfterAnIncompleteSequenceIsAKey() {
    var decoder = InputDecoder()
    #expect(decoder.feed("\u{1B}[1\u{1B}".utf8).isEmpty)
    #expect(decoder.flush() == [.key(.escape)])
  }

  @Test func aSequenceWithoutAnEndIsGivenUp() {
    var decoder = InputDecoder()
    _ = decoder.feed(("\u{1B}[" + String(repeating: "1;", count: 5000)).utf8)
    #expect(decoder.patience == nil)
    #expect(decoder.feed("\u{1B}[A".utf8) == [.key(.up)])
  }
}
