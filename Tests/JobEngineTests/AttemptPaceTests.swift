import Testing

@testable import JobEngine

@Suite struct AttemptPaceTests {
  @Test func attemptsOfOneInstantAreCountedAfterTheFirstUpToTheMost() {
    var pace = AttemptPace(most: 4)
    #expect(pace.recent == 0)
    let counts = (0..<6).map { _ -> Int in
      pace.ended(at: .seconds(10))
      return pace.recent
    }
    #expect(counts == [0, 1, 2, 3, 3, 3])
  }

  @Test(
    arguments: [
      (.zero, 3), (.milliseconds(49), 2), (.milliseconds(50), 2), (.milliseconds(100), 1), (.milliseconds(150), 0),
      (.seconds(60), 0),
    ] as [(Duration, Int)])
  func eachFiftyMillisecondsAreOneAttemptLess(pause: Duration, recent: Int) {
    var pace = AttemptPace(most: 17)
    for _ in 0..<3 { pace.ended(at: .seconds(10)) }
    #expect(pace.recent == 2)
    pace.ended(at: .seconds(10) + pause)
    #expect(pace.recent == recent)
  }

  @Test func attemptsThatEndInTheirTimeAreNotCounted() {
    var pace = AttemptPace(most: 17)
    for number in 0..<20 {
      pace.ended(at: .milliseconds(50 * number))
      #expect(pace.recent == 0)
    }
  }
}
