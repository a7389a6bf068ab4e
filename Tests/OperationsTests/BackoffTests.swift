import Testing

@testable import Operations

struct BackoffTests {
  @Test(arguments: [
    Backoff.constant(.seconds(-1)), .incrementing(.seconds(3), by: .seconds(-1)), .exponential(.seconds(-1)),
    .fibonacci(.seconds(-1)), .exponential(.zero), .constant(.seconds(5)).capped(at: .seconds(-1)),
  ])
  func noWaitIsNegative(backoff: Backoff) { #expect(backoff.delay(beforeRetry: 5) == .zero) }

  @Test func aBillionSecondsAreTheLongestWait() {
    #expect(Backoff.constant(.seconds(2_000_000_000)).delay(beforeRetry: 1) == .seconds(1_000_000_000))
    let capped = Backoff.constant(.seconds(3_000_000_000)).capped(at: .seconds(2_000_000_000))
    #expect(capped.delay(beforeRetry: 1) == .seconds(1_000_000_000))
    #expect(Backoff.fibonacci(.seconds(1)).delay(beforeRetry: .max) == .seconds(1_000_000_000))
  }

  @Test func aShareBeyondItsRangeCountsAsTheNearest() {
    func waits(_ share: Double) -> [Duration] {
      var backoff = Backoff.constant(.seconds(10))
      backoff.jitter = Backoff.Jitter(share: share, seed: 7)
      return (1...50).map { backoff.delay(beforeRetry: $0) }
    }
    #expect(waits(-3) == waits(0) && waits(0).allSatisfy { $0 == .seconds(10) })
    #expect(waits(5) == waits(1) && waits(1).allSatisfy { $0 > .zero && $0 <= .seconds(10) })
    #expect(Set(waits(1)).count == 50)
  }

  @Test func aWaitThatIsNoNumberIsNone() {
    for growth in [Double.nan, -.infinity].map({ Backoff.Growth.exponential(first: .seconds(1), factor: $0) }) {
      var backoff = Backoff(growth)
      backoff.jitter = Backoff.Jitter(share: .nan, seed: 1)
      #expect([2, 4].map { backoff.delay(beforeRetry: $0) } == [.zero, .zero])
    }
  }

  @Test func aFactorIsANumberAndNotNegative() async {
    for factor in [0, 0.5, .infinity] { _ = Backoff.exponential(.seconds(1), factor: factor) }
    await #expect(processExitsWith: .failure) { _ = Backoff.exponential(.seconds(1), factor: .nan) }
    await #expect(processExitsWith: .failure) { _ = Backoff.exponential(.seconds(1), factor: -1) }
  }

  @Test func jitterNeedsAShareBetweenNoneAndAll() async {
    for share in [0.0, 1] { _ = Backoff.constant(.zero).jittered(share, seed: 1) }
    await #expect(processExitsWith: .failure) { _ = Backoff.constant(.zero).jittered(1.1, seed: 1) }
    await #expect(processExitsWith: .failure) { _ = Backoff.constant(.zero).delay(beforeRetry: 0) }
  }
}
