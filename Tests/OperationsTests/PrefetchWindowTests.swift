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

  @Test func aWidthBeyondAnyNumberOfOperationsIsNoLimit() {
    #expect(PrefetchWindow().fill(width: .max) == (.max, .max))
    #expect(PrefetchWindow().fill(width: .max / 4 * 3) == (.max, .max))
  }

  @Test func theWindowDoublesWithEachFillInARush() {
    var window = PrefetchWindow()
    var windows: [[Int]] = []
    for fill in 0..<8 {
      window.filled(at: UInt64(fill) * 499_999)
      let (low, high) = window.fill(width: 2)
      windows.append([low, high])
    }
    #expect(windows == [[4, 4], [5, 6], [7, 10], [11, 18], [19, 34], [35, 66], [35, 66], [35, 66]])
  }

  @Test(arguments: [(499_999, 10), (500_000, 6), (10_000_000, 6), (10_000_001, 4)])
  func theTimeSinceTheLastFillDecides(time: UInt64, high: Int) {
    var window = PrefetchWindow()
    for fill in [1000, 1001, 1001 + time] { window.filled(at: fill) }
    #expect(window.fill(width: 2).high == high)
  }

  @Test func aTimeThatDoesNotGoOnIsNoRush() {
    var window = PrefetchWindow()
    for fill: UInt64 in [1000, 1000, 999] { window.filled(at: fill) }
    #expect(window.fill(width: 2).high == 4)
  }

  @Test func aQueueOfNoWidthIsNotOneWithoutALimit() { #expect(PrefetchWindow().fill(width: 0) == (2, 2)) }
}
