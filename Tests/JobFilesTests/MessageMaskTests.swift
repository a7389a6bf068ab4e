import Testing

@testable import JobFiles

/// Secret values in messages.
struct MessageMaskTests {
  @Test(arguments: [
    ("x abcdefgh y", "x *** y"), ("abcdefgh", "***"),
    // A message cuts what it quotes: at least four characters of the value stand before the mark.
    ("x abcdefg…", "x ***…"), ("x abcd…", "x ***…"), ("x abc…", "x abc…"), ("x bcdefgh…", "x bcdefgh…"),
    // The beginning counts there only.
    ("x abcd", "x abcd"), ("abcd x…", "abcd x…"), ("x… abcd", "x… abcd"), ("abcd… abcde… y", "***… ***… y"),
    ("…abcd", "…abcd"),
  ])
  func aValueAndItsCutBeginningAreMasked(text: String, masked: String) throws {
    let mask = try #require(MessageMask(["abcdefgh"]))
    #expect(mask.masked(text) == masked)
  }

  @Test func theLongestOfSeveralValuesCounts() throws {
    let mask = try #require(MessageMask(["abcdef", "xyabcdefgh"]))
    #expect(mask.masked("1 xyabcde…") == "1 ***…")
    #expect(mask.masked("1 abcde…") == "1 ***…")
  }

  @Test func aValueIsMaskedAsAMessageQuotesIt() throws {
    let mask = try #require(MessageMask(["ab\u{1B}cd"]))
    #expect(mask.masked("'ab\\u{1B}cd'") == "'***'")
    #expect(mask.masked("ab\u{1B}cd") == "***")
  }

  @Test func withoutValuesThereIsNothingToMask() {
    #expect(MessageMask([]) == nil)
    #expect(MessageMask([""]) == nil)
  }
}
