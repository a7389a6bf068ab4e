import Operations
import Testing

@testable import Processes

@Suite struct ProgressPatternTests {
  private func finding(_ pattern: String, _ lines: String...) throws -> ProgressPattern.Finding {
    try #require(ProgressPattern(pattern)).last(in: lines.map { OperationLogLine(text: $0) })
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
    // Quadratic in the length of the line.
    #expect(try finding(#"(\d+)%"#, String(repeating: "1", count: 4000)) == .nothing)
  }
}
