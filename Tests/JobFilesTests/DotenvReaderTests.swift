import Testing

@testable import JobFiles

/// What a text of `NAME=VALUE` lines gives, and the places of its faults.
struct DotenvReaderTests {
  private struct Reading: Equatable {
    var found: [String: String] = [:]
    var faults: [String] = []
  }

  private func read(_ text: String, known: [String: String] = [:]) throws -> Reading {
    let source = try SourceText(Array(text.utf8), file: ".env")
    let faults = FaultLog(file: ".env", source: source)
    var reader = DotenvReader(source, file: 0, faults: faults, known: known)
    let found = reader.read()
    return Reading(found: found, faults: faults.list.map { "\($0.line):\($0.column): \($0.message)" })
  }

  @Test func eachEscapeInDoubleQuotesIsItsCharacter() throws {
    #expect(try read(#"A="a\rb\nc\td\"e\\f\$g""#) == Reading(found: ["A": "a\rb\nc\td\"e\\f$g"]))
  }

  @Test func tabsAreBlanksWhereverBlanksMayStand() throws {
    #expect(try read("\tA\t=\t1\t# c\nexport\tB=2\t\nC='x'\t#d") == Reading(found: ["A": "1", "B": "2", "C": "x"]))
  }

  @Test(arguments: [
    ("${NONE:-d}${EMPTY:-e}${SET:-f}", "des"), ("${NONE-d}${EMPTY-e}${SET-f}", "ds"),
    ("${NONE:+d}${EMPTY:+e}${SET:+f}", "f"), ("${NONE+d}${EMPTY+e}${SET+f}", "ef"),
    ("${SET:?d}${EMPTY?e}${SET?f}", "ss"),
    ("${NONE:-${SET}/bin}", "s/bin"), ("${NONE:-${NONE-${NONE:+x}$SET}}", "s"), ("${SET:+${SET}$SET}", "ss"),
    ("${SET:-${NONE}}${NONE:+$NONE}${SET:-${NONE:?e}}", "ss"), ("${NONE:-a #b {c}d", "a #b {cd"),
    ("$SET$SET.$SET-$EMPTY$", "ss.s-$"), ("$1 $$SET $${SET} \\$SET \\${SET} $.", "$1 $SET ${SET} $SET ${SET} $."),
  ])
  func aReferenceHasItsValue(written: String, value: String) throws {
    let known = ["SET": "s", "EMPTY": ""]
    #expect(try read("A=\(written)\n", known: known) == Reading(found: ["A": value]))
    #expect(try read("A=\"\(written)\"\n", known: known) == Reading(found: ["A": value]))
    #expect(try read("A='\(written)'\n", known: known) == Reading(found: ["A": written]))
  }

  @Test func aDefaultInDoubleQuotesMayHaveEscapesAndLines() throws {
    #expect(try read(##"A="${NONE:-a\"b\tc"## + "\nd}\"\nB=2") == Reading(found: ["A": "a\"b\tc\nd", "B": "2"]))
    let fault = "1:4: '${' in the value of A has no closing '}': add it, or use single quotes for a plain '${'"
    #expect(try read("A=\"${NONE:-a\"b}\"") == Reading(faults: [fault]))
  }

  @Test func singleQuotesKeepAllButAnEscapedQuote() throws {
    #expect(
      try read(#"A='Let\'s $A ${A} \n \\'"# + "\nB='one # no\n two='\nC=3 # 'c")
        == Reading(found: ["A": #"Let's $A ${A} \n \\"#, "B": "one # no\n two=", "C": "3"]))
  }

  @Test func blanksOfAValueAreKeptAndThoseAfterItAreNot() throws {
    #expect(
      try read("A=a  \\b \t c\t # d\nB=$X \nC=a# b\nD=\\", known: ["X": " x "])
        == Reading(found: ["A": "a  \\b \t c", "B": " x ", "C": "a# b", "D": "\\"]))
  }

  @Test func aMissingValueIsAFaultWithTheTextOfTheFile() throws {
    let known = ["EMPTY": "", "SET": "s3cret"]
    func fault(_ written: String) throws -> [String] { try read("A=\(written)", known: known).faults }
    #expect(try fault("${NONE:?copy .env.example to .env}") == ["1:3: NONE has no value: copy .env.example to .env"])
    #expect(try fault("${NONE?${SET} is not it}") == ["1:3: NONE has no value: ${SET} is not it"])
    #expect(try fault("${EMPTY:?}") == ["1:3: EMPTY has no value: set it before this line"])
    #expect(try fault("${NONE:-${EMPTY:?e}}") == ["1:11: EMPTY has no value: e"])
  }

  @Test func aFaultInAQuotedValueDoesNotEndIt() throws {
    #expect(
      try read("A=\"${X}\nno line\n${Y%} \"\nB=2")
        == Reading(
          found: ["B": "2"],
          faults: [
            "1:4: X has no value before this line: set it, or write ${X:-default}",
            "3:1: a '${…}' in the value of A is not understood: write ${NAME} or ${NAME:-default}, or use single quotes "
              + "for a plain '${'",
          ]))
  }

  @Test func referencesInEachOtherHaveABound() throws {
    func nested(_ depth: Int) -> String {
      "A=" + String(repeating: "${X:-", count: depth) + "x" + String(repeating: "}", count: depth)
    }
    #expect(try read(nested(32)).found == ["A": "x"])
    #expect(
      try read(nested(33)).faults == ["1:163: more than 32 '${' stand in each other in the value of A: use fewer"])
    #expect(try read(nested(100_000)).faults.count == 1)
  }

  @Test func theValuesOfAFileHaveABoundTogether() throws {
    let known = ["LONG": String(repeating: "x", count: 1 << 20)]
    let reading = try read(String(repeating: "A=${LONG}\n", count: 256) + "B=${LONG}\n", known: known)
    #expect(reading.faults == ["257:3: up to here, variables made 256 MiB of text: shorten their values"])
    #expect(Set(reading.found.keys) == ["A"])
  }

  @Test func emptyBracesAreNotUnderstood() throws {
    let fault =
      "1:3: a '${…}' in the value of A is not understood: write ${NAME} or ${NAME:-default}, or use single quotes "
      + "for a plain '${'"
    #expect(try read("A=${}") == Reading(faults: [fault]))
  }

  @Test func bracesAreClosedOnTheirOwnLine() throws {
    let fault =
      "1:3: '${' in the value of A has no closing '}': add it, or use single quotes for a plain '${'"
    #expect(try read("A=${B\nC=}") == Reading(found: ["C": "}"], faults: [fault]))
  }

  @Test func aDefaultIsForAnUnsetOrEmptyVariableOnly() throws {
    let known = ["SET": "s", "EMPTY": ""]
    #expect(try read("A=${SET:-d}${EMPTY:-e}${NONE:-f}", known: known).found == ["A": "sef"])
  }

  @Test func linesAreCountedThroughAValueOnSeveralLines() throws {
    #expect(
      try read("A=\"one\n ${X}\"").faults == ["2:2: X has no value before this line: set it, or write ${X:-default}"])
    #expect(
      try read("A=\"one\ntwo\"\n B").faults == [
        "3:2: this line is no NAME=VALUE: write NAME=VALUE, or '#' before a comment"
      ])
  }

  @Test func aValueMayBeAsLongAsTheLimitAndNoLonger() throws {
    let known = ["LONG": String(repeating: "x", count: 1 << 20)]
    let longest = try read("A=${LONG}", known: known)
    #expect(longest.found["A"]?.utf8.count == 1 << 20)
    #expect(longest.faults.isEmpty)
    #expect(
      try read("A=x${LONG}", known: known)
        == Reading(faults: ["1:4: the value of A is longer than 1 MiB: shorten it"]))
  }
}
