import Testing

@testable import JobFiles

/// A line as a person reads it.
struct UnparsedLineTests {
  /// The indentation, the text, the key with the column of its colon, and the value.
  @Test(arguments: [
    ("run: make", "0|run: make|run|4|make"), ("  run: make # x", "2|run: make # x|run|6|make # x"),
    ("- - a: b", "4|a: b|a|6|b"), ("  - a", "4|a|-|-|"), ("-x: y", "0|-x: y|-x|3|y"), ("- -x: y", "2|-x: y|-x|5|y"),
    ("-", "1||-|-|"), ("a:b: c", "0|a:b: c|a:b|4|c"), ("a:", "0|a:|a|2|"), ("a:\tb", "0|a:\tb|a|2|b"),
    ("a : b ", "0|a : b|a|3|b"), ("run make", "0|run make|-|-|"), ("  \t", "3||-|-|"), ("", "0||-|-|"),
    ("\trun: |  ", "1|run: ||run|5||"),
    // A quoted key may hold a colon.
    ("\"a: b\": c", "0|\"a: b\": c|\"a: b\"|7|c"), ("  'a: b': c", "2|'a: b': c|'a: b'|9|c"),
    ("'a: b", "0|'a: b|'a|3|b"),
    // After a comment there is no key.
    ("x # y: z", "0|x # y: z|-|-|"), ("x\t# y: z", "0|x\t# y: z|-|-|"), ("x#y: z", "0|x#y: z|x#y|4|z"),
    ("# a: b", "0|# a: b|-|-|"), ("  # a: b", "2|# a: b|-|-|"), ("a: # b", "0|a: # b|a|2|# b"),
  ])
  func aLineHasAKeyAndAValue(line: String, parts: String) {
    let parsed = UnparsedLine(7, line)
    let colon = parsed.colon.map(String.init) ?? "-"
    #expect("\(parsed.indent)|\(parsed.text)|\(parsed.key ?? "-")|\(colon)|\(parsed.value)" == parts)
    #expect(parsed.place == Place(line: 7, column: parsed.indent + 1))
  }

  @Test func aLineWithNothingButACommentIsEmpty() {
    #expect(["", "  ", "# a: b", "  #", "\t# x", "- # x"].allSatisfy { UnparsedLine(1, $0).isEmpty })
    #expect(["a", "a # b", "'#'", "-x"].allSatisfy { !UnparsedLine(1, $0).isEmpty })
  }

  @Test func aMarkAfterTheKeyBeginsATextOnSeveralLines() {
    #expect(["a: |", "a: >", "a: |-  ", "- a: >2", "a: | # b"].allSatisfy { UnparsedLine(1, $0).beginsBlock })
    #expect(["a: b |", "a |", "|", "a:", "a: '|'"].allSatisfy { !UnparsedLine(1, $0).beginsBlock })
  }
}
