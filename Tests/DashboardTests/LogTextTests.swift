import Screen
import Testing

@testable import Dashboard

@Suite struct LogTextTests {
  @Test(
    arguments: [
      ("ab cd", 0, 0..<2), ("ab cd", 1, 0..<2), ("ab cd", 2, nil), ("ab cd", 3, 3..<5), ("ab cd", 4, 3..<5),
      ("ab cd", 5, nil), ("ab cd", -1, nil), ("a, b", 1, nil), ("(ab)", 2, 1..<3), ("ab...", 1, 0..<2),
      ("...", 1, 0..<1), ("a:1:", 0, 0..<3), ("", 0, nil), ("x='y'", 3, 3..<4),
      ("/a/b-c_d.e", 5, 0..<10),
    ] as [(String, Int, Range<Int>?)])
  func aWordEndsAtBlanksQuotesAndBrackets(_ line: String, _ cell: Int, _ word: Range<Int>?) {
    #expect(LogText.word(at: cell, in: LogText.cells(line)) == word)
  }

  @Test(
    arguments: [
      ("aa", "aaaaa", [0..<2, 2..<4]), ("", "abc", []), ("abcd", "abc", []), ("abc", "abc", [0..<3]),
      ("AB", "xabAb", [1..<3, 3..<5]), ("bc", "abc", [1..<3]), ("ab", "aab", [1..<3]), ("x", "abc", []),
      ("字", "漢字字", [1..<2, 2..<3]),
    ] as [(String, String, [Range<Int>])])
  func matchesDoNotOverlap(_ query: String, _ line: String, _ found: [Range<Int>]) {
    #expect(LogText.matches(of: query, in: LogText.cells(line)) == found)
  }

  @Test(arguments: [
    ("", 4, [""]), ("abcd", 4, ["abcd"]), ("abcde", 4, ["abcd", "e"]), ("abcdefgh", 4, ["abcd", "efgh"]),
    ("abc", 0, ["abc"]), ("abc", 1, ["a", "b", "c"]), ("a漢b", 2, ["a", "漢", "b"]), ("a漢b", 3, ["a漢", "b"]),
    ("a漢b", 1, ["a", "漢", "b"]),
  ])
  func aRowEndsWhereTheNextCellDoesNotFit(_ line: String, _ width: Int, _ rows: [String]) {
    #expect(LogText.wrap(LogText.cells(line), width: width).map { $0.map(\.text).joined() } == rows)
  }

  @Test func aCellIsAGraphemeInTheJobsStyle() {
    let cells = LogText.cells("a\u{1B}[31m漢e\u{301}")
    #expect(cells == [Cell("a"), Cell("漢", Style(.indexed(1))), Cell("e\u{301}", Style(.indexed(1)))])
  }
}
