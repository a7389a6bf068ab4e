import Testing

@testable import JobFiles

/// Text of a file in a message.
struct QuotedTests {
  @Test func atMostSixtyCharactersAreQuoted() {
    let sixty = String(repeating: "é", count: 60)
    #expect(Quoted.bare(sixty) == sixty)
    #expect(Quoted.bare(sixty + "x") == sixty + "…")
    #expect(Quoted.bare(sixty + "xyz") == sixty + "…")
    #expect(Quoted.text("a") == "'a'")
  }

  @Test func whatIsNotShownIsAnEscapeWhoseCharactersCount() {
    #expect(Quoted.bare("a\u{1B}\u{200B}\u{2028}b\n") == "a\\u{1B}\\u{200B}\\u{2028}b\\n")
    // Thirty line breaks are sixty characters.
    #expect(Quoted.bare(String(repeating: "\n", count: 30)) == String(repeating: "\\n", count: 30))
    #expect(Quoted.bare(String(repeating: "\n", count: 31)) == String(repeating: "\\n", count: 30) + "…")
  }

  @Test func theMiddleOfACycleIsLeftOutFromThirteenNamesOn() {
    let names = (0..<13).map { "n\($0)" }
    #expect(Quoted.cycle(Array(names.prefix(12))) == names.prefix(12).joined(separator: " -> "))
    #expect(Quoted.cycle(names) == "n0 -> n1 -> n2 -> n3 -> … 6 more … -> n10 -> n11 -> n12")
    #expect(Quoted.cycle(["a", "b\n", "a"]) == "a -> b\\n -> a")
  }
}
