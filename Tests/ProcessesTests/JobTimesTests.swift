import Testing

@testable import Processes

struct JobTimesTests {
  @Test func anEndWithoutABeginningIsNone() {
    var times = JobTimes()
    times.end(at: 5)
    #expect(!times.contain(5))
  }

  @Test func aSpanIncludesItsFirstAndLastTick() {
    var times = JobTimes()
    times.begin(at: 3)
    times.end(at: 5)
    #expect((2...6).map(times.contain) == [false, true, true, true, false])
    times.begin(at: 6)
    // A clock does not go back; a span is never empty.
    times.end(at: 4)
    #expect((5...7).map(times.contain) == [true, true, false])
  }

  @Test func theOldestGapsAreLostFirst() {
    var times = JobTimes()
    for start in stride(from: UInt64(0), to: 3000, by: 10) {
      times.begin(at: start)
      times.end(at: start + 5)
    }
    #expect(times.contain(7) && times.contain(437))
    #expect(!times.contain(447) && !times.contain(2987) && times.contain(2995))
  }
}
