import JobModel
import Testing

@Suite struct TimeEstimateTests {
  private func estimate(_ soonest: Double, _ latest: Double) -> TimeEstimate {
    TimeEstimate(soonest: .seconds(soonest), latest: .seconds(latest))
  }

  @Test func anEstimateIsNeverNegativeAndItsEndsAreInOrder() {
    #expect(estimate(-5, -9) == estimate(0, 0))
    #expect(estimate(-5, 3) == estimate(0, 3) && estimate(-5, 3).latest == .seconds(3))
    #expect(estimate(7, 3) == estimate(7, 7) && estimate(7, 3).latest == .seconds(7))
    #expect(estimate(2, 8).middle == .seconds(5))
  }

  @Test func endsAreTheSameWithinASecondOrATwentieth() {
    #expect(estimate(5, 6).isNarrow && !estimate(5, 6.5).isNarrow)
    #expect(estimate(19, 20).isNarrow && !estimate(18.5, 20).isNarrow)
    #expect(estimate(190, 200).isNarrow && !estimate(189, 200).isNarrow)
  }

  @Test func simulatedWorkTakesItsTimeAndOtherWorkTheUsualTime() {
    let usual = UsualTime(median: .seconds(3), ninetieth: .seconds(5), count: 1)
    let simulated = Job(name: "a", work: .simulate(SimulatedWork(duration: .seconds(8))), usual: usual)
    #expect(simulated.expectedTime == estimate(8, 8))
    #expect(Job(name: "a", work: .shell(ShellWork(.script("x"))), usual: usual).expectedTime == estimate(3, 5))
    #expect(Job(name: "a", work: .shell(ShellWork(.script("x")))).expectedTime == nil)
  }

  @Test func theWordsOfALateStart() {
    #expect(estimate(0.5, 3).forms == ["up to 0:03 left", "<0:03 left"])
    #expect(estimate(1, 3).forms == ["0:01 to 0:03 left", "0:01-0:03 left"])
    #expect(estimate(2, 2.5).forms == ["about 0:02 left", "~0:02 left", "~0:02"])
    #expect(estimate(0, 2.5).cell == "<0:03" && estimate(0.1, 2.5).cell == "~0:01")
  }

  // MARK: An attempt in progress

  /// A job that usually takes `median` seconds, 9 of 10 times `ninetieth`, and has taken `seconds`.
  private func record(_ median: Double, _ ninetieth: Double, after seconds: Double, _ state: JobState = .executing)
    -> (record: JobRecord, now: Duration)
  {
    var job = Job(name: "a", work: .shell(ShellWork(.script("x"))))
    job.usual = UsualTime(median: .seconds(median), ninetieth: .seconds(ninetieth), count: 5)
    var recorder = Recorder([job])
    recorder.move(0, to: .executing)
    if state != .executing { recorder.move(0, to: state, after: .seconds(seconds)) }
    return (recorder[0], .seconds(seconds))
  }

  @Test func atTheNinetiethTheUsualTimeStillHolds() {
    let (at, now) = record(100, 120, after: 120)
    #expect(at.usualShare(at: now) == 0.99 && at.usual(at: now) != nil)
    #expect(at.timeLeft(at: now) == nil && at.excess(at: now) == nil)
    let before = now - .milliseconds(1)
    #expect(at.timeLeft(at: before) == TimeEstimate(soonest: .zero, latest: .milliseconds(1)))
    #expect(at.usualShare(at: now + .milliseconds(1)) == nil)
    #expect(at.excess(at: now + .milliseconds(1)) != nil)
  }

  @Test func anExcessIsASecondAndATenthOfTheMedian() {
    let (long, _) = record(100, 100, after: 0)
    #expect(long.excess(at: .seconds(109)) == nil)
    #expect(long.excess(at: .seconds(150)) == 0.5)
    #expect(long.excess(at: .seconds(110)) != nil)
    let (short, _) = record(2, 2, after: 0)
    #expect(short.excess(at: .milliseconds(2999)) == nil)
    #expect(short.excess(at: .seconds(3)) == 0.5)
  }

  @Test func aMedianOfNothingHasNoShareAndNoExcess() {
    let (record, _) = record(0, 0, after: 0)
    #expect(record.usualShare(at: .zero) == nil && record.excess(at: .seconds(1)) == nil)
  }

  @Test func anAttemptThatIsPausedHasAShareAndNoTimeLeft() {
    let (record, now) = record(100, 120, after: 25, .paused(started: true))
    #expect(record.usualShare(at: now) == 0.25)
    #expect(record.timeLeft(at: now) == nil)
  }

  @Test func onlyAnAttemptInProgressHasAShare() {
    let (record, now) = record(100, 120, after: 25, .succeeded(upToDate: false))
    #expect(record.usualShare(at: now) == nil && record.timeLeft(at: now) == nil)
    #expect(Recorder([record.job])[0].usualShare(at: now) == nil)
  }

  @Test func whatIsNotTimedKeepsItsUsualTime() {
    for state in [JobState.failed(JobFailure(.exit(1), "exit 1"), allowed: false), .succeeded(upToDate: true)] {
      let (record, now) = record(100, 120, after: 5000, state)
      #expect(record.usual(at: now) != nil && record.excess(at: now) == nil)
    }
  }
}
