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
