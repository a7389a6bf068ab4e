import NcursesTerminal
import Screen
import Testing

@Suite struct InputDecoderTests {
  private func decode(_ text: String, _ decoder: InputDecoder = InputDecoder()) -> [DecodedInput] {
    var decoder = decoder
    return decoder.feed(text.utf8) + decoder.flush()
  }

  @Test(
    arguments: [
      ("a", .character("a")), ("G", .character("G")), ("/", .character("/")), (" ", .character(" ")),
      ("é", .character("é")), ("漢", .character("漢")), ("e\u{301}", .character("é")), ("👨‍👩‍👧", .character("👨‍👩‍👧")),
      ("\u{4}", .control("d")), ("\u{15}", .control("u")), ("\u{13}", .control("s")), ("\u{0}", .control(" ")),
      ("\u{1F}", .control("_")), ("\u{1C}", .control("\\")),
      ("\r", .enter), ("\n", .enter), ("\t", .tab), ("\u{7F}", .backspace), ("\u{8}", .backspace), ("\u{1B}", .escape),
      ("\u{1B}[Z", .backTab), ("\u{1B}[A", .up), ("\u{1B}OA", .up), ("\u{1B}[B", .down), ("\u{1B}OB", .down),
      ("\u{1B}[C", .right), ("\u{1B}OC", .right), ("\u{1B}[D", .left), ("\u{1B}OD", .left), ("\u{1B}[1;5A", .up),
      ("\u{1B}[H", .home), ("\u{1B}OH", .home), ("\u{1B}[1~", .home), ("\u{1B}[7~", .home), ("\u{1B}[1;2H", .home),
      ("\u{1B}[F", .end), ("\u{1B}OF", .end), ("\u{1B}[4~", .end), ("\u{1B}[8~", .end),
      ("\u{1B}[5~", .pageUp), ("\u{1B}[6~", .pageDown), ("\u{1B}[3~", .delete), ("\u{1B}[3;5~", .delete),
      ("\u{1B}OP", .function(1)), ("\u{1B}OQ", .function(2)), ("\u{1B}OR", .function(3)), ("\u{1B}OS", .function(4)),
      ("\u{1B}[11~", .function(1)), ("\u{1B}[14~", .function(4)), ("\u{1B}[15~", .function(5)),
      ("\u{1B}[17~", .function(6)), ("\u{1B}[18~", .function(7)), ("\u{1B}[19~", .function(8)),
      ("\u{1B}[20~", .function(9)), ("\u{1B}[21~", .function(10)), ("\u{1B}[23~", .function(11)),
      ("\u{1B}[24~", .function(12)), ("\u{1B}[[A", .function(1)), ("\u{1B}[[E", .function(5)),
      ("\u{1B}[1;2P", .function(1)), ("\u{1B}OM", .enter), ("\u{1B}Ok", .character("+")), ("\u{1B}Op", .character("0")),
      ("\u{1B}Oy", .character("9")), ("\u{1B}Oo", .character("/")),
    ] as [(String, Key)])
  func aSequenceIsItsKey(_ bytes: String, _ key: Key) {
    #expect(decode(bytes) == [.key(key)])
  }

  @Test(
    arguments: [
      ("\u{1B}[A", .up), ("\u{1B}[24~", .function(12)), ("漢", .character("漢")), ("\u{1B}OP", .function(1)),
    ] as [(String, Key)])
  func aSequenceMayComeInPieces(_ bytes: String, _ key: Key) {
    var decoder = InputDecoder()
    var decoded: [DecodedInput] = []
    for byte in bytes.utf8 {
      decoded += decoder.feed([byte])
    }
    #expect(decoded == [.key(key)])
    #expect(decoder.patience == nil)
  }

  @Test func escapeIsAKeyOnceNothingFollows() {
    var decoder = InputDecoder()
    #expect(decoder.feed([0x1B]).isEmpty)
    #expect(decoder.patience == .short)
    #expect(decoder.flush() == [.key(.escape)])
    #expect(decoder.patience == .medium)
    #expect(decoder.flush().isEmpty)
    #expect(decoder.patience == nil)
  }

  @Test(
    arguments: [
      ("\u{1B}x", [.alt(.character("x"))]), ("\u{1B}é", [.alt(.character("é"))]), ("\u{1B}\r", [.alt(.enter)]),
      ("\u{1B}\u{7F}", [.alt(.backspace)]), ("\u{1B}[", [.alt(.character("["))]), ("\u{1B}O", [.alt(.character("O"))]),
      ("\u{1B}]", [.alt(.character("]"))]), ("\u{1B}P", [.alt(.character("P"))]), ("\u{1B}\u{1B}[A", [.alt(.up)]),
      ("\u{1B}\u{1B}OA", [.alt(.up)]),
      ("a\u{1B}bc", [.key(.character("a")), .alt(.character("b")), .key(.character("c"))]),
      ("\u{1B}b\u{1B}[A", [.alt(.character("b")), .key(.up)]), ("\u{1B}\u{1B}", [.key(.escape), .key(.escape)]),
      ("\u{1B}\u{1B}\u{1B}", [.key(.escape), .key(.escape), .key(.escape)]),
      ("\u{1B}\u{1B}\u{1B}[A", [.key(.escape), .alt(.up)]), ("\u{1B}\u{1B}[Ex", [.key(.character("x"))]),
    ] as [(String, [DecodedInput])])
  func anEscapeByteBeforeAKeyIsAlt(_ bytes: String, _ expected: [DecodedInput]) {
    #expect(decode(bytes) == expected)
    var decoder = InputDecoder()
    #expect(bytes.utf8.flatMap { decoder.feed([$0]) } + decoder.flush() == expected)
  }

  @Test func keysInOneReadKeepTheirOrder() {
    #expect(
      decode("ab\u{1B}[Ac\u{1B}[<64;3;4Md\r") == [
        .key(.character("a")), .key(.character("b")), .key(.up), .key(.character("c")),
        .mouse(MouseEvent(.wheelUp, x: 2, y: 3)),
        .key(.character("d")), .key(.enter),
      ])
  }

  @Test(
    arguments: [
      ("\u{1B}[<0;1;1M", [.mouse(MouseEvent(.click, x: 0, y: 0))]),
      ("\u{1B}[<0;300;120M", [.mouse(MouseEvent(.click, x: 299, y: 119))]),
      ("\u{1B}[<0;5;5m", [.mouse(MouseEvent(.release, x: 4, y: 4))]),
      ("\u{1B}[<64;2;3M", [.mouse(MouseEvent(.wheelUp, x: 1, y: 2))]),
      ("\u{1B}[<65;2;3M", [.mouse(MouseEvent(.wheelDown, x: 1, y: 2))]),
      ("\u{1B}[<16;2;3M", [.mouse(MouseEvent(.click, x: 1, y: 2))]),
      ("\u{1B}[<68;2;3M", [.mouse(MouseEvent(.wheelUp, x: 1, y: 2))]), ("\u{1B}[<2;2;3M", []),
      ("\u{1B}[<1;2;3M", []), ("\u{1B}[<66;2;3M", []), ("\u{1B}[<0;0;3M", []),
      ("\u{1B}[M !!", [.mouse(MouseEvent(.click, x: 0, y: 0))]),
      ("\u{1B}[M`\"#", [.mouse(MouseEvent(.wheelUp, x: 1, y: 2))]),
      ("\u{1B}[M#!!", [.mouse(MouseEvent(.release, x: 0, y: 0))]),
      ("\u{1B}[Ma\"#", [.mouse(MouseEvent(.wheelDown, x: 1, y: 2))]),
      ("\u{1B}[32;2;3M", [.mouse(MouseEvent(.click, x: 1, y: 2))]),
      ("\u{1B}[96;2;3M", [.mouse(MouseEvent(.wheelUp, x: 1, y: 2))]),
      ("\u{1B}[35;2;3M", [.mouse(MouseEvent(.release, x: 1, y: 2))]),
      // The pointer's way while a button is down, and while none is.
      ("\u{1B}[<32;2;3M", [.mouse(MouseEvent(.drag, x: 1, y: 2))]),
      ("\u{1B}[<36;2;3M", [.mouse(MouseEvent(.drag, x: 1, y: 2))]), ("\u{1B}[<34;2;3M", []),
      ("\u{1B}[<35;2;3M", []), ("\u{1B}[<32;2;3m", []), ("\u{1B}[<2;2;3m", []), ("\u{1B}[<65;2;3m", []),
      ("\u{1B}[M@\"#", [.mouse(MouseEvent(.drag, x: 1, y: 2))]), ("\u{1B}[MB\"#", []), ("\u{1B}[MC\"#", []),
      ("\u{1B}[64;2;3M", [.mouse(MouseEvent(.drag, x: 1, y: 2))]),
    ] as [(String, [DecodedInput])])
  func aMouseReportIsWhatWasDone(_ bytes: String, _ expected: [DecodedInput]) {
    #expect(decode(bytes) == expected)
  }

  @Test(arguments: [
    // As xterm and its likenesses report it, as older terminals do, and as rxvt.
    "\u{1B}[<0;3;2M\u{1B}[<32;4;2M\u{1B}[<32;4;3M\u{1B}[<0;4;3m",
    "\u{1B}[M #\"\u{1B}[M@$\"\u{1B}[M@$#\u{1B}[M#$#",
    "\u{1B}[32;3;2M\u{1B}[64;4;2M\u{1B}[64;4;3M\u{1B}[35;4;3M",
  ])
  func aDragIsAPressTheWayAndARelease(_ bytes: String) {
    let expected: [DecodedInput] = [
      .mouse(MouseEvent(.click, x: 2, y: 1)), .mouse(MouseEvent(.drag, x: 3, y: 1)),
      .mouse(MouseEvent(.drag, x: 3, y: 2)), .mouse(MouseEvent(.release, x: 3, y: 2)),
    ]
    #expect(decode(bytes) == expected)
    var decoder = InputDecoder()
    #expect(bytes.utf8.flatMap { decoder.feed([$0]) } == expected)
  }

  @Test func pastedTextIsOne() {
    #expect(
      decode("\u{1B}[200~a\rb\r\nc\td\u{1B}[31m\u{1B}[201~x") == [.paste("a\nb\nc\td[31m"), .key(.character("x"))])
  }

  @Test(arguments: [
    ("\u{1B}]11;rgb:0000/0000/0000\u{1B}\\", DecodedInput.background(.dark)),
    ("\u{1B}]11;rgb:ffff/ffff/ffff\u{7}", .background(.light)), ("\u{1B}]11;rgb:f/f/f\u{7}", .background(.light)),
    ("\u{1B}]11;rgb:28/2c/34\u{7}", .background(.dark)), ("\u{1B}]11;rgb:fdfd/f6f6/e3e3\u{1B}\\", .background(.light)),
    ("\u{1B}]11;rgba:0000/2b2b/3636/ffff\u{7}", .background(.dark)), ("\u{1B}[?64;1;2c", .attributes),
    ("\u{1B}]11;rgb:f/0/0\u{7}", .background(.light)), ("\u{1B}]11;rgb:0/f/0\u{7}", .background(.light)),
    ("\u{1B}]11;rgb:0/0/f\u{7}", .background(.dark)), ("\u{1B}]11;rgb:6/6/6\u{7}", .background(.dark)),
    ("\u{1B}]11;rgb:7/7/7\u{7}", .background(.light)), ("\u{1B}]11;rgb:6b/6b/6b\u{7}", .background(.dark)),
    ("\u{1B}]11;rgb:6c/6c/6c\u{7}", .background(.light)),
  ])
  func answersOfTheTerminalAreDelivered(_ bytes: String, _ answer: DecodedInput) {
    #expect(decode("a" + bytes + "z") == [.key(.character("a")), answer, .key(.character("z"))])
  }

  @Test func anAnswerThatComesInPiecesIsOne() {
    var decoder = InputDecoder()
    #expect(decoder.feed("\u{1B}]11;rgb:ffff/ff".utf8).isEmpty)
    #expect(decoder.patience == .long)
    #expect(decoder.feed("ff/ffff\u{1B}\\".utf8) == [.background(.light)])
  }

  @Test func twoAnswersAreReadApart() {
    let answers = "\u{1B}]11;rgb:0/0/0\u{7}\u{1B}]11;rgb:ffff/ffff/ffff\u{1B}\\"
    #expect(decode(answers) == [.background(.dark), .background(.light)])
  }

  @Test(arguments: [(4096, [DecodedInput.background(.light)]), (4097, [])])
  func anAnswerOfMoreThan4096BytesIsNone(length: Int, answer: [DecodedInput]) {
    let beginning = "11;rgba:f/f/f/"
    let filling = String(repeating: "f", count: length - beginning.utf8.count)
    #expect(decode("\u{1B}]" + beginning + filling + "\u{7}q") == answer + [.key(.character("q"))])
  }

  @Test(arguments: [(64, Key.up), (65, .character("A"))])
  func aSequenceHasAtMost64ParameterBytes(count: Int, key: Key) {
    #expect(decode("\u{1B}[" + String(repeating: "1", count: count) + "A") == [.key(key)])
  }

  @Test func twoPastesAreReadApartAndInOrderWithKeys() {
    let bytes = "a\u{1B}[200~one\u{1B}[201~b\u{1B}[200~two\u{1B}[201~c"
    #expect(
      decode(bytes) == [
        .key(.character("a")), .paste("one"), .key(.character("b")), .paste("two"), .key(.character("c")),
      ])
  }

  @Test func aPasteOfAMebibyteIsWhole() {
    let text = String(repeating: "x", count: 1 << 20)
    #expect(decode("\u{1B}[200~\(text)\u{1B}[201~") == [.paste(text)])
  }

  @Test func halfACharacterIsForgottenAtAControlAndAfterAPause() {
    var decoder = InputDecoder()
    #expect(decoder.feed([0xC3, 0x0D, 0xA9]) == [.key(.enter)])
    #expect(decoder.feed([0xC3]).isEmpty)
    #expect(decoder.patience == .long)
    #expect(decoder.flush().isEmpty)
    #expect(decoder.patience == nil)
    #expect(decoder.feed([0xA9]).isEmpty)
    #expect(decoder.feed("é".utf8) == [.key(.character("é"))])
  }

  @Test(arguments: ["\u{1B}[[@", "\u{1B}[[F"])
  func theLinuxConsoleHasFiveKeysOfItsOwn(bytes: String) {
    #expect(decode(bytes + "z") == [.key(.character("z"))])
  }

  @Test func aHugePasteIsCutAndEnds() throws {
    var decoder = InputDecoder()
    let decoded = decoder.feed(("\u{1B}[200~" + String(repeating: "x", count: 1_200_000) + "\u{1B}[201~q").utf8)
    #expect(decoded.count == 2)
    #expect(decoded.last == .key(.character("q")))
    guard case .paste(let text) = try #require(decoded.first) else {
      Issue.record("not a paste: \(decoded)")
      return
    }
    #expect((1 << 20)...(1 << 20 + 16) ~= text.utf8.count)
  }

  @Test(arguments: [
    "\u{1B}]10;rgb:0000/0000/0000\u{1B}\\", "\u{1B}]11;?\u{1B}\\", "\u{1B}]11;rgb:ffff/ffff\u{7}",
    "\u{1B}]11;rgb:x/y/z\u{7}", "\u{1B}P1+r544e\u{1B}\\", "\u{1B}P11;rgb:0/0/0\u{1B}\\",
    "\u{1B}[I", "\u{1B}[O", "\u{1B}[2~", "\u{1B}[34~", "\u{1B}[E", "\u{1B}[>0;95;0c", "\u{1B}[999999999999999999999A;",
  ])
  func unknownSequencesAreIgnored(_ bytes: String) {
    #expect(
      !decode(bytes + "z").contains { $0 != .key(.character("z")) && $0 != .key(.up) && $0 != .key(.character(";")) })
    #expect(decode(bytes + "z").contains(.key(.character("z"))))
  }

  @Test(arguments: [[0xC3], [0xFF], [0xE2, 0x96], [0xC3, 0x28], [0x9B, 0x41], [0xC2, 0x9B]] as [[UInt8]])
  func invalidTextTypesNoControls(_ bytes: [UInt8]) {
    var decoder = InputDecoder()
    for item in decoder.feed(bytes) + decoder.flush() {
      #expect([.key(.character("(")), .key(.character("A"))].contains(item))
    }
    #expect(decoder.feed("q".utf8) == [.key(.character("q"))])
  }

  @Test func aTerminalsOwnDescriptionAddsKeys() {
    let sequences = KeySequences(described: [Array("\u{1}A\r".utf8): .function(2), Array("\u{1B}Vx".utf8): .home])
    let decoder = InputDecoder(sequences: sequences)
    #expect(decode("\u{1}A\r", decoder) == [.key(.function(2))])
    #expect(decode("\u{1B}Vx", decoder) == [.key(.home)])
    #expect(decode("\u{1B}[A", decoder) == [.key(.up)])
  }

  @Test(arguments: UInt64(1)...100)
  func noBytesTypeAControlCharacterOrBlockTheKeyboard(_ seed: UInt64) {
    var random = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    func next() -> UInt8 {
      random ^= random << 13
      random ^= random >> 7
      random ^= random << 17
      return UInt8(truncatingIfNeeded: random >> 32)
    }
    var decoder = InputDecoder()
    let favourites: [UInt8] = [0x1B, 0x5B, 0x4F, 0x3C, 0x4D, 0x7E, 0x32, 0x30, 0x31, 0x3B, 0x5D, 0x50]
    for _ in 0..<2000 {
      let byte = next()
      let decoded = decoder.feed([byte & 1 == 0 ? favourites[Int(byte) / 2 % favourites.count] : next()])
      for case .key(.character(let character)) in decoded { #expect(TextWidth.isPrintable(character)) }
    }
    _ = decoder.flush()
    #expect(decoder.feed("q".utf8) == [.key(.character("q"))])
  }
}
