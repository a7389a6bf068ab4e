import Testing

@testable import JobFiles

/// The bytes of a file: what is refused, and where its lines and places are.
struct SourceTextTests {
  private func source(_ text: String) -> SourceText { SourceText(checked: Array(text.utf8)) }

  private func fault(_ bytes: [UInt8]) -> String? {
    do throws(JobFileFaults) {
      _ = try SourceText(bytes, file: "f")
      return nil
    } catch {
      return error.description
    }
  }

  private static let utf16 = "f:1:1: the file is UTF-16: save it as UTF-8"
  private static let binary = "f:1:1: the file is binary, not text: name a job file"

  /// Without an escape for a NUL, which no text may have.
  private static func control(_ column: Int, _ number: String, _ escape: String? = nil) -> String {
    "f:1:\(column): control character U+\(number): delete it"
      + (escape.map { ", or write \"\\x\($0)\" in double quotes" } ?? "")
  }

  // MARK: What is refused

  @Test(arguments: [
    // Zeros in every second byte: three of them, and more than a third of the beginning.
    ("a\0b\0c\0", utf16), ("a\0b\0", control(2, "0000")), ("a\0b\0c\0de", utf16),
    ("a\0b\0c\0def", control(2, "0000")), ("\0a\0b\0c", utf16),
    // Zeros anywhere: four of them.
    ("a\0\0b\0\0", binary), ("a\0\0b\0", control(2, "0000")),
    // Only the first 512 bytes tell the kind.
    (String(repeating: "a", count: 508) + "\0\0\0\0", binary),
    (String(repeating: "a", count: 509) + "\0\0\0\0", control(510, "0000")),
    ("\u{7F}ELF", binary), ("PK\u{3}\u{4}x", binary), ("PK\u{3}", control(3, "0003", "03")),
  ])
  func aFileThatIsNoTextSaysWhatItIs(text: String, message: String) {
    #expect(fault(Array(text.utf8)) == message)
  }

  @Test(
    arguments: [
      ([0xFF, 0xFE, 0x61, 0x62], utf16), ([0xFE, 0xFF, 0x61, 0x62], utf16), ([0x1F, 0x8B, 0x08], binary),
      ([0x89, 0x50, 0x4E, 0x47, 0x0D], binary),
    ] as [([UInt8], String)])
  func theFirstBytesTellAFormat(bytes: [UInt8], message: String) {
    #expect(fault(bytes) == message)
  }

  @Test func aFileMayBeAsLargeAsTheLimitAndNoLarger() {
    // Told by the first bytes, so that the others need not be read.
    var bytes: [UInt8] = [0xFF, 0xFE] + [UInt8](repeating: 0x23, count: SourceText.limit - 2)
    #expect(fault(bytes) == Self.utf16)
    bytes.append(0x23)
    #expect(fault(bytes) == "f:1:1: the file is larger than 64 MiB: split it into several job files")
  }

  @Test(arguments: [
    "\t", "\n", "\r", " ", "~", "\u{A0}", "\u{D7FF}", "\u{E000}", "\u{FFFD}", "\u{10000}", "\u{10FFFF}",
  ])
  func aCharacterOfYAMLIsText(character: String) {
    #expect(fault(Array("a\(character)b".utf8)) == nil)
  }

  @Test(arguments: [0x01, 0x08, 0x0B, 0x0C, 0x0E, 0x1F, 0x7F, 0x80, 0x84, 0x86, 0x9F])
  func aControlCharacterIsRefused(value: UInt32) throws {
    let scalar = try #require(Unicode.Scalar(value))
    let digits = (value < 0x10 ? "0" : "") + String(value, radix: 16, uppercase: true)
    #expect(fault(Array("a\(scalar)b".utf8)) == Self.control(2, "00" + digits, digits))
  }

  /// libyaml would end the line there, and a comment with it.
  @Test(arguments: [(0x85, "0085"), (0x2028, "2028"), (0x2029, "2029")] as [(UInt32, String)])
  func aLineBreakThatEditorsDoNotShowIsRefused(value: UInt32, number: String) throws {
    let bytes = Array("# a\(try #require(Unicode.Scalar(value)))b".utf8)
    let advice = "delete it, or write \"\\u\(number)\" in double quotes"
    #expect(fault(bytes) == "f:1:4: U+\(number) is a line break that few editors show: \(advice)")
    #expect(throws: Never.self) { try SourceText(bytes, file: "f", isYAML: false) }
  }

  @Test(arguments: [(0xFFFE, "FFFE"), (0xFFFF, "FFFF")] as [(UInt32, String)])
  func aNumberThatIsNoCharacterIsRefused(value: UInt32, number: String) throws {
    let scalar = try #require(Unicode.Scalar(value))
    #expect(fault(Array("a\(scalar)".utf8))?.hasPrefix("f:1:2: control character U+\(number): ") == true)
  }

  // MARK: Lines

  @Test func everyLineBreakOfYAMLEndsALine() {
    let text = source("a\u{2028}b\u{2029}c\u{85}d\re\r\nf\ng…\u{A9}\u{20AC}é")
    #expect((0...8).map(text.line) == [nil, "a", "b", "c", "d", "e", "f", "g…\u{A9}\u{20AC}é", nil])
    #expect(text.end == Place(line: 7, column: 6))
  }

  @Test(arguments: ["a\r", "a\n", "a\r\n", "a\u{85}", "a\u{2028}"])
  func aBreakAtTheEndBeginsAnEmptyLine(text: String) {
    let text = source(text)
    #expect((1...3).map(text.line) == ["a", "", nil])
    #expect(text.end == Place(line: 2, column: 1))
  }

  @Test func aVeryLongLineIsCut() {
    let text = source("ab\n" + String(repeating: "x", count: 5000) + "\n" + String(repeating: "y", count: 4096))
    #expect([1, 2, 3].map { text.line($0)?.utf8.count } == [2, 4096, 4096])
    #expect(text.rest(from: Place(line: 2, column: 11)).utf8.count == 4096)
    #expect(text.rest(from: Place(line: 2, column: 4901)).utf8.count == 100)
  }

  @Test func aCutDividesNoCharacter() {
    let end = source("a" + String(repeating: "é", count: 3000))
    #expect(end.line(1) == "a" + String(repeating: "é", count: 2047))
    #expect(end.rest(from: .start) == "a" + String(repeating: "é", count: 2047))
    let beginning = source(String(repeating: "é", count: 3000) + "ab")
    #expect(beginning.excerpt(at: Place(line: 1, column: 3002))?.before == String(repeating: "é", count: 2047) + "a")
  }

  @Test func anExcerptHasTheEndOfALongBeginning() {
    let text = source("ab\n" + String(repeating: "x", count: 5000) + "y")
    let excerpt = text.excerpt(at: Place(line: 2, column: 5001))
    #expect(excerpt?.number == 2)
    #expect(excerpt?.before.utf8.count == 4096)
    #expect(excerpt?.after == "y")
    #expect(text.excerpt(at: Place(line: 1, column: 2))?.before == "a")
  }

  @Test(arguments: [
    ("  \nx", 1, true), ("  \nx", 3, true), ("\nx", 1, true), (" \t\n", 1, false), (" \t\n", 3, false),
    ("  x", 1, false),
    ("x  ", 4, false),
  ])
  func aBlankLineIsShownForItsTabsOnly(text: String, column: Int, isHidden: Bool) {
    #expect((source(text).excerpt(at: Place(line: 1, column: column)) == nil) == isHidden)
  }

  @Test func behindTheFileThereIsNothing() {
    let text = source("ab")
    #expect(text.rest(from: Place(line: 1, column: 2)) == "b")
    #expect(text.rest(from: Place(line: 1, column: 3)).isEmpty)
    for place in [Place(line: 1, column: 4), Place(line: 1, column: 9), Place(line: 2, column: 1)] {
      #expect(text.rest(from: place).isEmpty)
      #expect(text.excerpt(at: place) == nil)
      #expect(text.comment(after: place) == nil)
    }
  }

  // MARK: Places

  @Test func aByteIsAtItsCharacterOfItsLine() {
    let text = source("é\r\nab\n")
    #expect(
      [0, 2, 4, 5, 6, 7].map { text.place(ofByte: $0).words } == [
        "line 1, column 1", "line 1, column 2", "line 2, column 1", "line 2, column 2", "line 2, column 3",
        "line 3, column 1",
      ])
  }

  @Test func placesAreFoundInAnyOrder() {
    let text = source("éa bc\nde\nf")
    let places = [(1, 4), (1, 2), (1, 5), (2, 2), (2, 1), (1, 1), (3, 1), (1, 5), (2, 2)]
    #expect(
      places.map { text.rest(from: Place(line: $0.0, column: $0.1)) } == [
        "bc", "a bc", "c", "e", "de", "éa bc", "f", "c", "e",
      ])
  }

  @Test func eachOccurrenceOfATextHasItsPlace() {
    let text = source("x ${a} ${a}")
    let end = Place(line: 1, column: 12)
    func column(_ count: Int, from: Int = 1, to: Place) -> Int? {
      text.place(of: "${a}", count: count, from: Place(line: 1, column: from), to: to)?.column
    }
    #expect((0...2).map { column($0, to: end) } == [3, 8, nil])
    // It must stand between the two places as a whole.
    #expect(column(1, to: Place(line: 1, column: 11)) == nil)
    #expect(column(0, from: 3, to: end) == 3)
    #expect(column(0, from: 4, to: end) == 8)
    #expect(column(0, from: 12, to: end) == nil)
    #expect(text.place(of: "", count: 0, from: .start, to: end) == nil)
  }

  @Test(arguments: [
    ("a #b", 2, 3), ("a \t#b", 2, 4), ("a\t#b", 2, 3), ("a#b", 2, nil), ("a  b", 2, nil), ("a  ", 2, nil),
    ("a\n #b", 2, nil),
  ])
  func aCommentFollowsAfterBlanks(text: String, column: Int, comment: Int?) {
    #expect(source(text).comment(after: Place(line: 1, column: column)) == comment.map { Place(line: 1, column: $0) })
  }
}
