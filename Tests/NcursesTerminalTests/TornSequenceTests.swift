import NcursesTerminal
import Screen
import Testing

/// Sequences that a slow line divides, or that another one interrupts.
struct TornSequenceTests {
  private static let described = KeySequences(
    described: [Array("\u{1B}Vx".utf8): .home, Array("\u{1}A\r".utf8): .function(2)])

  private static let sequences: [(bytes: String, key: Key)] = [
    ("\u{1B}[A", .up), ("\u{1B}[D", .left), ("\u{1B}OD", .left), ("\u{1B}Op", .character("0")),
    ("\u{1B}[[A", .function(1)),
    ("\u{1B}[5~", .pageUp), ("\u{1B}[1;5A", .up), ("\u{1B}[24~", .function(12)), ("\u{1B}[Z", .backTab),
    ("\u{1B}Vx", .home), ("\u{1}A\r", .function(2)), ("漢", .character("漢")),
  ]

  /// What comes of pieces with pauses between them, in which only a short patience ends.
  private static func decode(_ pieces: [some Sequence<UInt8>]) -> [DecodedInput] {
    var decoder = InputDecoder(sequences: described)
    return pieces.flatMap { piece in
      let decoded = decoder.feed(piece)
      return decoder.patience == .short ? decoded + decoder.flush() : decoded
    }
  }

  @Test func aDividedSequenceTypesNoneOfItsCharacters() {
    for (text, key) in Self.sequences {
      let bytes = Array(text.utf8)
      for first in 1..<bytes.count {
        for second in first..<bytes.count {
          let decoded = Self.decode([bytes[..<first], bytes[first..<second], bytes[second...]])
          // A pause after the first byte makes an Escape of it.
          #expect(decoded.drop { $0 == .key(.escape) } == [.key(key)], "\(bytes) at \(first) and \(second)")
        }
      }
    }
  }

  @Test func aDividedMouseReportTypesNoCharacter() {
    for text in ["\u{1B}[<0;1;1M", "\u{1B}[M !!"] {
      let decoded = Self.decode(text.utf8.map { [$0] })
      #expect(decoded.drop { $0 == .key(.escape) } == [.mouse(MouseEvent(.click, x: 0, y: 0))])
    }
  }

  @Test func aDividedAnswerTypesNoCharacter() {
    let decoded = Self.decode("\u{1B}]11;rgb:0/0/0\u{1B}\\".utf8.map { [$0] })
    #expect(decoded.drop { $0 == .key(.escape) } == [.background(.dark)])
  }

  @Test(arguments: ["[", "O", "]"]) func aKeySoonAfterEscapeIsItself(key: String) {
    var decoder = InputDecoder()
    _ = decoder.feed([0x1B])
    #expect(decoder.flush() == [.key(.escape)])
    #expect(decoder.feed(key.utf8).isEmpty)
    #expect(decoder.patience != .long)
    #expect(decoder.flush() == [.key(.character(Character(key)))])
    #expect(decoder.patience == nil)
  }

  @Test(arguments: ["x", "P", "X", "]j", "]]j", "Pj"]) func keysSoonAfterEscapeAreNoAnswer(keys: String) {
    var decoder = InputDecoder()
    _ = decoder.feed([0x1B])
    _ = decoder.flush()
    #expect(decoder.feed(keys.utf8) == keys.map { .key(.character($0)) })
  }

  @Test(arguments: ["[", "O", "]", "x"]) func aKeyLongAfterEscapeIsItselfAtOnce(key: String) {
    var decoder = InputDecoder()
    _ = decoder.feed([0x1B])
    while decoder.patience != nil { _ = decoder.flush() }
    #expect(decoder.feed(key.utf8) == [.key(.character(Character(key)))])
  }

  @Test func aPasteThatStallsIsOne() {
    let paste = "\u{1B}[200~make é\r\nx\u{1B}[201~"
    for cut in 6..<(paste.utf8.count - 1) {
      var decoder = InputDecoder()
      let head = Array(paste.utf8.prefix(cut))
      #expect(decoder.feed(head) == [])
      // The escape byte of its end may be a key.
      #expect(decoder.patience == (head.last == 0x1B ? .long : nil))
      if head.last != 0x1B { #expect(decoder.flush() == []) }
      let rest = Array(paste.utf8.dropFirst(cut)) + "j".utf8
      #expect(decoder.feed(rest) == [.paste("make é\nx"), .key(.character("j"))])
    }
  }

  @Test func anEscapeAloneEndsAPasteWhoseEndIsLost() {
    var decoder = InputDecoder()
    #expect(decoder.feed("\u{1B}[200~half".utf8) == [] && decoder.flush() == [])
    #expect(decoder.feed("q\u{1B}".utf8) == [])
    #expect(decoder.patience == .long)
    #expect(decoder.flush() == [.paste("halfq")])
    // The end of a mark that took so long types nothing.
    #expect(decoder.feed("[201~".utf8) == [])
    #expect(decoder.feed("q".utf8) == [.key(.character("q"))])
  }

  @Test(arguments: [
    "\u{1B}[", "\u{1B}[1;", "\u{1B}[<0;3", "\u{1B}[?6", "\u{1B}O", "\u{1B}[[", "\u{1B}[M !", "\u{1B}V", "\u{1}A",
  ])
  func anEscapeInsideASequenceBeginsTheNextOne(beginning: String) {
    var decoder = InputDecoder(sequences: Self.described)
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
