import Testing

@testable import JobFiles

/// The two lines that show a place of a file.
struct SourceExcerptTests {
  private func lines(_ before: String, _ after: String, number: Int = 1, width: Int = 80) -> [String] {
    SourceExcerpt(number: number, before: before, after: after).lines(width: width)
  }

  private func blanks(_ count: Int) -> String { String(repeating: " ", count: count) }

  private func text(_ character: String, _ count: Int) -> String { String(repeating: character, count: count) }

  // MARK: The word at the place

  @Test(arguments: [
    // A word of a value goes on to a comment or to the colon after a key.
    ("", "a: b", 1), ("", "ab:", 2), ("run: ", "a:b c", 5), ("run: ", "abc # d", 3), ("run: ", "ab#c", 4),
    ("run: ", "ab cd  ", 5), ("run: ", "a", 1),
    // Commas and brackets end it in brackets only.
    ("run: ", "a, b]", 5), ("run: ", "a}", 2), ("x: [", "a,b, c]", 3), ("x: [", "ab]", 2), ("x: {", "ab}", 2),
    ("x: [a] ", "b]", 2), ("x: [[a] ", "b]", 1), ("x: [", "a ]", 1),
    // Quoted text with its quotes, and only the quote where it is never closed.
    ("x: ", "'ab'", 4), ("x: ", "'it''s' y", 7), ("x: ", "'' y", 2), ("x: ", #""a\"b" y"#, 6), ("x: ", #""a\\" y"#, 5),
    ("x: ", "\"abc", 1), ("x: ", "'abc", 1), ("x: ", #""abc\"#, 1), ("x: ", #"'a\' y"#, 4),
    // References.
    ("x: ", "${a} b", 4), ("x: ", "${open", 2), ("x: ", "$NODE_ENV/x", 9), ("x: ", "$", 1), ("x: ", "$-a", 1),
    // Marks of YAML.
    ("x: ", "[a, b]", 1), ("x: ", "{ a }", 1), ("x", ": b", 1), ("x: ", "| b", 1), ("x: ", "> b", 1), ("x:", " # b", 1),
    ("", "\t\ta", 16), ("x", "", 1),
  ])
  func theMarkIsAsWideAsTheWord(before: String, after: String, width: Int) {
    #expect(lines(before, after)[1].drop { $0 != "^" } == "^" + text("~", width - 1))
  }

  // MARK: Layout

  @Test(arguments: [(7, "    7 | "), (1234, " 1234 | "), (12345, "12345 | "), (123_456, "123456 | ")])
  func theNumberOfTheLineHasFiveCellsOrMore(number: Int, gutter: String) {
    let rest = blanks(gutter.count - 2)
    #expect(lines("a: ", "b", number: number) == ["\(gutter)a: b", "\(rest)|    ^"])
  }

  @Test func tabsAfterThePlaceReachTheStopsOfTheWholeLine() {
    #expect(lines("ab", "c\td") == ["    1 | abc     d", "      |   ^~~~~~~"])
    #expect(lines("12345678\t", "c") == ["    1 | 12345678        c", "      | " + blanks(16) + "^"])
  }

  @Test func theTextHasTwentyCellsHoweverNarrowTheScreenIs() {
    for width in [0, 10, 27, 28] {
      #expect(lines(text("x", 19), "", width: width) == ["    1 | " + text("x", 19), "      | " + blanks(19) + "^"])
      // The mark needs a cell.
      #expect(lines(text("x", 20), "", width: width) == ["    1 | …" + text("x", 18), "      | " + blanks(19) + "^"])
    }
    #expect(lines(text("x", 20), "", width: 29) == ["    1 | " + text("x", 20), "      | " + blanks(20) + "^"])
  }

  @Test func aLongEndIsCutWhereTheBeginningLeavesRoom() {
    #expect(
      lines("ab", text("y", 40), width: 28) == ["    1 | ab" + text("y", 17) + "…", "      |   ^" + text("~", 17)])
    #expect(lines("ab", text("y", 18), width: 28)[0] == "    1 | ab" + text("y", 18))
  }

  @Test func theEndOfALineThatIsLongOnBothSidesHasAThird() {
    #expect(
      lines(text("x", 30), text("y", 30), width: 28) == [
        "    1 | …" + text("x", 13) + text("y", 5) + "…", "      | " + blanks(14) + "^~~~~~",
      ])
    // An end that is shorter needs less.
    #expect(
      lines(text("x", 30), "yyy", width: 28) == [
        "    1 | …" + text("x", 16) + "yyy", "      | " + blanks(17) + "^~~",
      ])
  }

  // MARK: Secrets

  @Test func aPlaceInsideOfASecretMovesToItsBeginning() throws {
    let mask = try #require(MessageMask(["t0p-s3cret"]))
    func masked(_ before: String, _ after: String) -> [String] {
      let masked = SourceExcerpt(number: 1, before: before, after: after).masked(mask)
      return [masked.before, masked.after]
    }
    #expect(masked("a t0p-s", "3cret b") == ["a ", "*** b"])
    #expect(masked("t0p-s3cret x ", "y") == ["*** x ", "y"])
    #expect(masked("x ", "y t0p-s3cret") == ["x ", "y ***"])
    #expect(masked("x ", "y t0p") == ["x ", "y t0p"])
  }

  @Test func aPlaceInsideOfACredentialMovesToTheBeginningOfItsURL() {
    let excerpt = SourceExcerpt(number: 1, before: "get http://me:s3", after: "cret@h/x now")
    #expect([excerpt.before, excerpt.after] == ["get ", "http://***@h/x now"])
    let other = SourceExcerpt(number: 1, before: "'h?token=s3cret' ht", after: "tp://h/x")
    #expect([other.before, other.after] == ["'h?token=***' ht", "tp://h/x"])
  }
}
