import Testing

@testable import JobFiles

/// Where a mistake is, and what to do, for text that is no YAML.
struct SyntaxAdviceTests {
  private func advice(_ text: String) -> SyntaxAdvice { SyntaxAdvice(SourceText(checked: Array(text.utf8))) }

  private func place(_ line: Int, _ column: Int) -> Place { Place(line: line, column: column) }

  private func shown(_ finding: SyntaxAdvice.Finding?) -> String? {
    finding.map { "\($0.place.line):\($0.place.column): \($0.message)" }
  }

  // MARK: A colon too many, or one too few

  @Test(arguments: [
    ("run ls", "a ':' is missing after 'run'", "'run: ls'"), ("run:ls", "a blank is missing after 'run:'", "'run: ls'"),
    ("run = ls", "'=' stands where YAML has ':'", "'run: ls'"),
    ("run=ls", "'=' stands where YAML has ':'", "'run: ls'"),
    ("jobs", "a ':' is missing after 'jobs'", "'jobs:'"),
    ("a_1-b.c x y", "a ':' is missing after 'a_1-b.c'", "'a_1-b.c: x y'"),
    ("été x", "a ':' is missing after 'été'", "'été: x'"),

    ("/x y", "a ':' is missing in this line", "'key: value'"), ("", "a ':' is missing in this line", "'key: value'"),
  ])
  func aLineWithoutAColonIsToldWhatItLacks(text: String, message: String, advice: String) {
    let found = SyntaxAdvice.missingColon(in: text)
    #expect(found.message == message)
    #expect(found.advice == advice)
  }

  @Test func aColonInTextOnSeveralLinesBelongsToItsKey() {
    #expect(
      shown(advice("run: echo\n  one\n  two: x\n").unexpectedColon(at: place(3, 6)))
        == "3:6: the text of 'run' holds ': ', which begins a value in YAML: quote the whole text, or use 'run: |'")
  }

  @Test func theFirstLineOfTheSameIndentationLacksItsColon() {
    func finding(_ text: String) -> String? { shown(advice(text).unexpectedColon(at: place(4, 6))) }
    let end = ", or indent this line if it continues the one above"
    #expect(
      finding("build:\n  run make\n  run ls\n  dir: x\n")
        == "2:3: a ':' is missing after 'run': write 'run: make'" + end)
    #expect(
      finding("build:\n    run make\n  run ls\n  dir: x\n") == "3:3: a ':' is missing after 'run': write 'run: ls'"
        + end)
    // Comments don't count.
    #expect(
      finding("build:\n  run make\n  # ls\n  dir: x\n") == "2:3: a ':' is missing after 'run': write 'run: make'" + end)
  }

  @Test func aLineThatContinuesAValueIsToldItsKey() {
    #expect(
      shown(advice("# x\na: b\n\n  c: d\n").unexpectedColon(at: place(4, 4)))
        == "4:3: this line continues the value of 'a' above, because it is indented further: indent both lines alike")
  }

  @Test func textBelowAMarkIsIndentedFurther() {
    let rest = "must be indented further than 'run': put more blanks before each of its lines"
    #expect(
      shown(advice("  run: |\n  make\n").missingColon(at: place(2, 3))) == "2:3: text below '|' \(rest)")
    #expect(shown(advice("  run: >-\n make\n").missingColon(at: place(2, 2))) == "2:2: text below '>' \(rest)")
    #expect(
      shown(advice("run: |\n  make\n").missingColon(at: place(2, 3)))
        == "2:3: a ':' is missing after 'make': write 'make:', or indent this line if it continues the one above")
  }

  // MARK: A line or text out of place

  @Test(arguments: [
    // The text below `key: |`.
    (
      "run: |\n    a\n  b\n", 3, 3, false,
      "this line is indented less than the first line of the text below 'run: |': indent all its lines at least as far "
        + "as the first"
    ),
    // Lists.
    (
      "a:\n  - b\n  c\n", 3, 3, true,
      "'- ' is expected here, as before the other items of the list: write it, or correct the indentation"
    ),
    (
      "a:\n  b: c\n  -\n", 3, 3, false,
      "a list item stands among keys here: delete its '- ', or correct the indentation"
    ),
    (
      "a:\n  b: c\n  - d\n", 3, 3, false,
      "a list item stands among keys here: delete its '- ', or correct the indentation"
    ),
    (
      "a:\n   - b\n  - c\n", 3, 3, false,
      "this line is indented unlike the lines above it: indent it by 0 or 3 blanks, as they are, not by 2"
    ),
    (
      "a:\n   - b\n  -\n", 3, 3, true,
      "this line is indented unlike the lines above it: indent it by 0 or 3 blanks, as they are, not by 2"
    ),
    // Maps: the next smaller indentation, and the smallest of the larger ones above.
    (
      "a: b\n      c: d\n    e: f\n  g: h\n", 4, 3, false,
      "this line is indented unlike the lines above it: indent it by 0 or 4 blanks, as they are, not by 2"
    ),
    (
      "a: b\n    e: f\n      c: d\n# x\n  g: h\n", 5, 3, false,
      "this line is indented unlike the lines above it: indent it by 0 or 4 blanks, as they are, not by 2"
    ),
    (
      "  a: b\n    c: d\n  e: f\n", 3, 3, false,
      "this line is indented unlike the lines above it: indent it by 4 blanks, as they are, not by 2"
    ),
    (" a: b\n", 1, 2, false, "this line is indented unlike the lines above it: indent it as they are"),
    // Behind a value.
    (
      "needs: [a] b\n", 1, 12, false,
      "nothing may follow the closing bracket of a value: quote the whole text, or use 'needs: |'"
    ),
    (
      "env: {} b\n", 1, 9, false,
      "nothing may follow the closing bracket of a value: quote the whole text, or use 'env: |'"
    ),
    ("- 'a' b\n", 1, 7, true, "nothing may follow the closing quote of a value: quote the whole text"),
    ("a: b ]\n", 1, 6, false, "']' closes a bracket that is not open: delete it"),
    ("a: b }\n", 1, 6, false, "'}' closes a bracket that is not open: delete it"),
  ])
  func textOutOfPlaceIsToldWhereItBelongs(text: String, line: Int, column: Int, isList: Bool, message: String) {
    #expect(
      shown(advice(text).unexpectedText(at: place(line, column), isList: isList, longQuote: nil))
        == "\(line):\(column): \(message)")
  }

  @Test func aQuoteThatReachesIntoTheLineIsTheMistake() {
    let advice = advice("a: 'b\nc: 'd\n")
    func finding(end: Place) -> String? {
      shown(advice.unexpectedText(at: place(2, 5), isList: false, longQuote: (place(1, 4), end)))
    }
    #expect(
      finding(end: place(2, 5))
        == "1:4: this quote is closed only at line 2, column 5: add the closing quote where the text ends")
    #expect(finding(end: place(2, 6))?.hasPrefix("2:5: ") == true)
    #expect(finding(end: place(1, 5))?.hasPrefix("2:5: ") == true)
  }

  @Test func aMarkBehindAValueIsNoMark() {
    #expect(
      shown(advice("a: &\n").mark("&", at: place(1, 4)))
        == "1:4: '&' names a value in YAML: put text that begins with '&' in quotes")
    #expect(
      shown(advice("a: *\n").mark("*", at: place(1, 4)))
        == "1:4: '*' stands for a named value in YAML: put text that begins with '*' in quotes")
    #expect(
      shown(advice("a: [b] *c\n").mark("*", at: place(1, 8)))
        == "1:8: nothing may follow the closing bracket of a value: quote the whole text, or use 'a: |'")
    #expect(
      shown(advice("a: \"b\" &&\n").mark("&", at: place(1, 8)))
        == "1:8: nothing may follow the closing quote of a value: quote the whole text, or use 'a: |'")
  }

  // MARK: Brackets

  @Test(arguments: [
    ("a: [b #c]", 7), ("a: {b #c}", 7), ("a: [[b] #c]", 9), ("a: [b] [c #]", 11), ("a: [b#c]", nil),
    ("a: [b] #c]", nil),
    ("a: b #c]", nil), ("a: [b # c", nil), ("a: b] [c #]", nil),
  ])
  func aCommentHidesTheEndOfBrackets(text: String, column: Int?) {
    let message = "'#' begins a comment in YAML, which hides the rest of the line: quote the text that holds it"
    #expect(shown(advice(text + "\n").comment(from: 1, to: 1)) == column.map { "1:\($0): \(message)" })
  }

  @Test func aHiddenEndIsLookedForInTheLastFiftyLines() {
    let advice = advice("a: [b #c]\n" + String(repeating: "x\n", count: 60))
    #expect(advice.comment(from: 1, to: 51)?.place == place(1, 7))
    #expect(advice.comment(from: 1, to: 52) == nil)
    #expect(advice.comment(from: 2, to: 3) == nil)
    #expect(advice.comment(from: 1, to: 1)?.place == place(1, 7))
  }

  @Test(arguments: [
    (
      "x: [a b]\n", 1, 7,
      "1:7: a ',' or ']' is missing before this, in the brackets that begin at line 1, column 4: add it"
    ),
    (
      "x: {a: b c: d}\n", 1, 10,
      "1:10: a ',' or '}' is missing before this, in the brackets that begin at line 1, column 4: add it"
    ),
    (
      "x: [a\n b]\n", 2, 2,
      "2:2: a ',' or ']' is missing before this, in the brackets that begin at line 1, column 4: add it"
    ),
    ("x: [a b: c]\n", 1, 8, "1:8: text in brackets holds ': ', which begins a value in YAML: quote the whole text"),
    (
      "x: {\"\(String(repeating: "\\u65e5", count: 180))\": 1}\n", 1, 1087,
      "1:5: this key has more than 1024 characters as it is written: shorten it, or write them without escapes"
    ),
    ("x: [a [b]]\n", 1, 7, "1:7: text in brackets holds '[', which begins brackets of its own: quote the whole text"),
    ("x: [a {b}]\n", 1, 7, "1:7: text in brackets holds '{', which begins brackets of its own: quote the whole text"),
    ("x: [a }\n", 1, 7, "1:7: '}' does not close the '[' of line 1, column 4: write ']' before it"),
    ("x: {a ]\n", 1, 7, "1:7: ']' does not close the '{' of line 1, column 4: write '}' before it"),
    ("x: [[a] b\n", 1, 9, "1:4: this '[' is never closed: add ']', or put text that begins with '[' in quotes"),
    ("x: {a b\n", 1, 7, "1:4: this '{' is never closed: add '}', or put text that begins with '{' in quotes"),
    // A bracket in quotes closes nothing; an apostrophe in a word begins none.
    ("x: [\"]\", a b\n", 1, 12, "1:4: this '[' is never closed: add ']', or put text that begins with '[' in quotes"),
    (
      "x: ['[', a b]\n", 1, 12,
      "1:12: a ',' or ']' is missing before this, in the brackets that begin at line 1, column 4: add it"
    ),
    (
      "x: [it's b]\n", 1, 10,
      "1:10: a ',' or ']' is missing before this, in the brackets that begin at line 1, column 4: add it"
    ),
    (
      "x: [a b # ]\n", 1, 7,
      "1:9: '#' begins a comment in YAML, which hides the rest of the line: quote the text that holds it"
    ),
  ])
  func aMistakeInBracketsIsToldWhereItIs(text: String, line: Int, column: Int, message: String) {
    #expect(shown(advice(text).brackets(from: place(1, 4), at: place(line, column))) == message)
  }
}
