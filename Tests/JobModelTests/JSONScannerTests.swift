import Testing

@testable import JobModel

@Suite struct JSONScannerTests {
  private func parse(_ bytes: [UInt8]) -> Result<JSONFields, JSONFault> {
    bytes.withUnsafeBufferPointer { bytes in
      Result { () throws(JSONFault) in try JSONScanner.fields(of: bytes) }
    }
  }

  private func fault(_ text: String) -> String? {
    if case .failure(let fault) = parse(Array(text.utf8)) { return fault.message }
    return nil
  }

  /// The value of the field `a`.
  private func text(_ text: String) throws -> String {
    try parse(Array(#"{"a":"\#(text)"}"#.utf8)).get().text("a")
  }

  @Test func whiteSpaceMayStandBetweenAnyTwoParts() throws {
    let text = " \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } ,\n\"c\" : [ ] , \"d\":\"x\" } \n"
    let fields = try parse(Array(text.utf8)).get()
    #expect(fields.all.map { $0.name } == ["a", "b", "c", "d"])
    #expect(try fields.list(ifAny: "a")?.count == 2)
    #expect(try fields.object(ifAny: "b")?.all.isEmpty == true)
    #expect(try fields.list(ifAny: "c")?.isEmpty == true)
    #expect(try fields.text("d") == "x")
  }

  @Test func eightLevelsAreReadAndTheNinthIsRefused() {
    func lists(_ count: Int) -> String {
      #"{"a":"# + String(repeating: "[", count: count) + String(repeating: "]", count: count) + "}"
    }
    func objects(_ count: Int) -> String {
      String(repeating: #"{"a":"#, count: count) + "1" + String(repeating: "}", count: count)
    }
    #expect(fault(lists(7)) == nil && fault(objects(8)) == nil)
    #expect(fault(lists(8)) == "not JSON from column 13 on")
    #expect(fault(objects(9)) == "not JSON from column 41 on")
  }

  @Test func nestingCountsFromTheObjectItIsInAndNotFromTheNeighbour() {
    let deep = String(repeating: "[", count: 7) + String(repeating: "]", count: 7)
    #expect(fault(#"{"a":\#(deep),"b":\#(deep),"c":[[],[],{"d":[]},{}]}"#) == nil)
  }

  // MARK: Numbers

  @Test(arguments: ["0", "-0", "10", "-7", "1.5", "-1.50", "0.25", "1e5", "1E+2", "12e-20", "-0.5e+7", "987654321"])
  func aNumberKeepsItsText(number: String) throws {
    for text in [#"{"a":\#(number)}"#, #"{"a":\#(number) }"#, #"{"a":[\#(number)]}"#] {
      var item = try parse(Array(text.utf8)).get().all.first?.value
      if case .list(let items) = item { item = items.first }
      guard case .number(let found) = item else {
        Issue.record("no number in \(text)")
        continue
      }
      #expect(found == number)
    }
  }

  @Test(arguments: [
    ("01", 7), ("-", 7), ("+1", 6), (".5", 6), ("1.", 8), ("-.5", 7), ("1e", 8), ("1e+", 9), ("1e+-2", 9), ("1.e1", 8),
    ("0x1", 7), ("1.5.2", 9),
  ])
  func aMalformedNumberIsNamedWhereItGoesWrong(number: String, column: Int) {
    #expect(fault(#"{"a":\#(number)}"#) == "not JSON from column \(column) on")
  }

  // MARK: Strings

  @Test(arguments: [
    (#"\"\\\/"#, "\"\\/"), (#"\b\f\n\r\t"#, "\u{8}\u{C}\n\r\t"), (#"\u0041\u00e9\u00E9"#, "Aéé"),
    (#"\u0000\ud7ff\ue000\uffff"#, "\u{0}\u{D7FF}\u{E000}\u{FFFF}"),
    (#"\ud83d\ude00"#, "😀"), (#"\ud800\udc00"#, "\u{10000}"), (#"\udbff\udfff"#, "\u{10FFFF}"),
    (#"é\n漢"#, "é\n漢"), (" ~\u{7F}", " ~\u{7F}"), (#"\n~ !"#, "\n~ !"), ("", ""),
  ])
  func anEscapeStandsForItsCharacter(written: String, read: String) throws {
    #expect(try text(written) == read)
  }

  @Test(arguments: [
    (#"\x"#, 8), (#"\u12g4"#, 11), (#"\u12é4"#, 11), (#"\u123"#, 12), (#"\udc00"#, 13), (#"\ud83dx"#, 13),
    (#"\ud83d\n"#, 14), (#"\ud83d\u0041"#, 19), (#"\ud83d\ud83d"#, 19), (#"\ud83d\ue000"#, 19), ("x\u{1F}", 8),
    ("\\n\u{1F}", 9), ("\u{0}", 7),
  ])
  func aMalformedStringIsNamedWhereItGoesWrong(text: String, column: Int) {
    #expect(fault(#"{"a":"\#(text)"}"#) == "not JSON from column \(column) on")
  }

  @Test func bytesThatAreNoTextAreRefusedAfterAnEscapeToo() {
    for (bytes, column) in [([0x5C, 0x6E, 0xFF], 7), ([0xFF, 0x5C, 0x6E], 7), ([0xC3], 5)] as [([UInt8], Int)] {
      let result = parse([0x7B, 0x22] + bytes + [0x22, 0x3A, 0x31, 0x7D])
      guard case .failure(let fault) = result else {
        Issue.record("\(bytes) are text")
        continue
      }
      #expect(fault.message == "not UTF-8 before column \(column)")
    }
  }

  // MARK: The rest

  @Test(arguments: [
    (#"{"a":trux}"#, 9), (#"{"a":nul}"#, 9), (#"{"a":falsy}"#, 10), (#"{"a":True}"#, 6), ("{} x", 4), ("{}{}", 3),
    (#"{"a":1,}"#, 8), ("{,}", 2), ("{a:1}", 2), (#"{"a" 1}"#, 6), (#"{"a":[1,]}"#, 9), (#"{"a":[1 2]}"#, 9),
    (#"{"a":[,]}"#, 7), (#"{"a":1 "b":2}"#, 8), (#"{"a"::1}"#, 6),
  ])
  func aMalformedTextIsNamedWhereItGoesWrong(text: String, column: Int) {
    #expect(fault(text) == "not JSON from column \(column) on")
  }

  @Test(arguments: ["{", #"{"a"#, #"{"a""#, #"{"a":"#, #"{"a":1"#, #"{"a":1,"#, #"{"a":tru"#, #"{"a":"\n"#, #"{"a":["#])
  func aTextThatEndsTooEarlySaysSo(text: String) {
    #expect(fault(text) == "the JSON object ends before its closing brace")
  }

  @Test(arguments: ["1", "\"a\"", "[1]", "true", "null"]) func anotherValueIsNoObject(text: String) {
    #expect(fault(text) == "this is no JSON object")
  }
}
