import Operations
import Testing

@testable import Processes

@Suite struct ProgressPatternTests {
  private func finding(_ pattern: String, _ lines: String...) throws -> ProgressPattern.Finding {
    try #require(ProgressPattern(pattern)).newest(in: .init(lines: lines.map { OperationLogLine(text: $0) }))
  }

  @Test func oneGroupIsPerCentAndTwoAreDoneAndTotal() throws {
    #expect(try finding(#"(\d+)%"#, "1%", "42% of it", "no more") == .progress(.init(completed: 42, total: 100)))
    #expect(try finding(#"\[(\d+)/(\d+)\]"#, "[3/8] [4/8] cc") == .progress(.init(completed: 4, total: 8)))
    #expect(try finding(#"(\d+)%"#, "nothing") == .nothing)
    #expect(try finding(#"(\d+)/(\d+)"#, "0/0") == .nothing)
    #expect(ProgressPattern("no group") == nil)
  }

  @Test func aSearchThatGrowsWithoutBoundIsGivenUp() throws {
    #expect(try finding("(?:(a+)+)+%", String(repeating: "a", count: 40)) == .budgetExceeded)
  }

  @Test func onlyTheBeginningOfALineIsSearched() throws {
    let far = String(repeating: "x", count: ProgressPattern.width) + "42%"
    #expect(try finding(#"(\d+)%"#, far) == .nothing)
    // A search of the rest would be given up.
    let endless = String(repeating: "x", count: ProgressPattern.width) + String(repeating: "a", count: 40)
    #expect(try finding("x(?:(a+)+)+%", endless) == .nothing)
  }

  @Test func everyRedrawIsSearchedAndTheNewestCounts() throws {
    var splitter = LineSplitter(.standardOutput)
    let pattern = try #require(ProgressPattern(#"(\d+)%"#))
    #expect(
      pattern.newest(in: splitter.feed(Array("a\r10%\r20%\rdone   \rbye".utf8)))
        == .progress(.init(completed: 20, total: 100)))
    #expect(
      pattern.newest(in: splitter.feed(Array("\n1%\n5%\r6%\r\u{1B}[K\nlast\n".utf8)))
        == .progress(.init(completed: 6, total: 100)))
  }

  @Test func colorsAreNoPartOfWhatIsSearched() throws {
    #expect(
      try finding(#"^(\d+)/(\d+) done"#, "\u{1B}[1m3\u{1B}[0m/\u{1B}[32m8\u{1B}[0m done")
        == .progress(.init(completed: 3, total: 8)))
  }

  @Test func aPatternHasOneOrTwoGroups() {
    #expect(ProgressPattern("(a)(b)") != nil)
    #expect(ProgressPattern("(a)(b)(c)") == nil)
    #expect(ProgressPattern("(") == nil)
  }

  @Test func aMatchThatEndsWithTheSearchedTextCounts() throws {
    let found = ProgressPattern.Finding.progress(.init(completed: 42, total: 100))
    let width = ProgressPattern.width
    #expect(try finding(#"(\d+)%"#, String(repeating: "x", count: width - 3) + "42%") == found)
    #expect(try finding(#"(\d+)%"#, String(repeating: "x", count: width - 2) + "42%") == .nothing)
  }

  @Test(
    arguments: [
      (#"(\d+)%"#, "0%", 0, 100), (#"(-?\d+)%"#, "-1%", nil, 0),
      (#"(\d+)%"#, "999999999999999%", 999_999_999_999_999, 100), (#"(\d+)%"#, "1000000000000000%", nil, 0),
      (#"(\d+)/(\d+)"#, "1/999999999999999", 1, 999_999_999_999_999), (#"(\d+)/(\d+)"#, "1/1000000000000000", nil, 0),
      (#"([\d.]+)/([\d.]+)"#, "1.2/5.6", 21, 100), (#"([\d.]+)/([\d.]+)"#, "2.9/10", 29, 100),
      (#"(\d+)(?:/(\d+))?"#, "5", nil, 0), (#"(\w+)%"#, "abc%", nil, 0),
    ] as [(String, String, Int64?, Int64)])
  func onlyNumbersWithinBoundsAreProgress(pattern: String, text: String, done: Int64?, total: Int64) throws {
    let expected = done.map { ProgressPattern.Finding.progress(.init(completed: $0, total: total)) } ?? .nothing
    #expect(try finding(pattern, text) == expected)
  }
}
