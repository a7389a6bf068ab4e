import Testing

@testable import Operations

@Suite struct LeadTests {
  static let millisecond: UInt64 = 1_000_000

  @Test func aFewMoreThanTheWidthAreInTheQueueAndEachThatLeavesIsReplaced() {
    var lead = Lead()
    #expect(lead.fill(width: 2) == (4, 4))
    #expect(lead.fill(width: 10) == (15, 15))
    for fill in 0..<100 { lead.filled(at: UInt64(fill) * 5 * Self.millisecond) }
    #expect(lead.fill(width: 2) == (4, 4))
  }

  @Test func inARushManyEnterAtATimeUpToABound() {
    var lead = Lead()
    for fill in 0..<100 { lead.filled(at: UInt64(fill) * Self.millisecond / 10) }
    let (low, high) = lead.fill(width: 2)
    #expect(high == 2 + Lead.largest)
    #expect(low < high - 16 && low > 2)
  }

  @Test func theRushEndsWithTheFirstThatTakesItsTime() {
    var lead = Lead()
    for fill in 0..<100 { lead.filled(at: UInt64(fill) * Self.millisecond / 10) }
    lead.filled(at: 50 * Self.millisecond)
    #expect(lead.fill(width: 2) == (4, 4))
  }

  @Test func withoutALimitEverythingEnters() {
    #expect(Lead().fill(width: -1) == (.max, .max))
  }
}
