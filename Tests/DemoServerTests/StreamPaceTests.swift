import Testing

@testable import DemoServer

struct StreamPaceTests {
  @Test func aStreamPassesInPortionsOf40Milliseconds() {
    var pace = Pace(rate: 1000)
    #expect(pace.step(wanted: 100, at: .zero) == .wait(.seconds(0.04)))
    #expect(pace.step(wanted: 100, at: .milliseconds(40)) == .pass(40))
    #expect(pace.step(wanted: 60, at: .milliseconds(40)) == .wait(.seconds(0.04)))
    #expect(pace.step(wanted: 60, at: .milliseconds(60)) == .wait(.seconds(0.02)))
  }

  @Test func aRestIsNotWaitedForLongerThanItTakes() {
    var pace = Pace(rate: 1000)
    #expect(pace.step(wanted: 10, at: .zero) == .wait(.seconds(0.01)))
    #expect(pace.step(wanted: 10, at: .milliseconds(40)) == .pass(10))
    // What was left stays.
    #expect(pace.step(wanted: 30, at: .milliseconds(40)) == .pass(30))
  }

  @Test func afterALongPauseFourPortionsPass() {
    var pace = Pace(rate: 1000)
    _ = pace.step(wanted: 1, at: .zero)
    #expect(pace.step(wanted: 1000, at: .seconds(60)) == .pass(160))
    #expect(pace.step(wanted: 1000, at: .seconds(60)) == .wait(.seconds(0.04)))
  }

  @Test func aPortionIsAtLeastAByteAndAWaitAMillisecond() {
    var slow = Pace(rate: 1)
    #expect(slow.step(wanted: 5, at: .zero) == .wait(.seconds(1)))
    #expect(slow.step(wanted: 5, at: .seconds(1)) == .pass(1))
    #expect(slow.step(wanted: 9, at: .seconds(100)) == .pass(4))
    var fast = Pace(rate: 1_000_000)
    #expect(fast.step(wanted: 10, at: .zero) == .wait(.milliseconds(1)))
  }
}
