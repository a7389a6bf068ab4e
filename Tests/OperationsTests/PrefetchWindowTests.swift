import Testing

@testable import Operations

@Suite struct PrefetchWindowTests {
  static let millisecond: UInt64 = 1_000_000

  @Test func aFewMoreThanTheWidthAreInTheQueueAndEachThatLeavesIsReplaced() {
    var window = PrefetchWindow()
    #expect(window.fill(width: 2) == (4, 4))
    #expect(window.fill(width: 10) == (15, 15))
    for fill in 0..<100 { window.filled(at: UInt64(fill) * 5 * Self.millisecond) }
    #expect(window.fill(width: 2) == (4, 4))
  }

  @Test func inARushManyEnterAtATimeUpToABound() {
    var window = PrefetchWindow()
    for fill in 0..<100 { window.filled(at: UInt64(fill) * Self.millisecond / 10) }
    let (low, high) = window.fill(width: 2)
    #expect(high == 2 + PrefetchWindow.largest)
    #expect(low < high - 16 && low > 2)
  }

  @Test func theRushEndsWithTheFirstThatTakesItsTime() {
    var window = PrefetchWindow()
    for fill in 0..<100 { window.filled(at: UInt64(fill) * Self.millisecond / 10) }
    window.filled(at: 50 * Self.millisecond)
    #expect(window.fill(width: 2) == (4, 4))
  }

  @Test func withoutALimitEverythingEnters() {
    #expect(PrefetchWindow().fill(width: -1) == (.max, .max))
  }
}
