import JobModel
import Testing

/// Usual times from recorded ends, what they say about an attempt in progress, and their words.
@Suite struct UsualTimeTests {
  private func end(
    _ run: Int, _ seconds: Double, _ outcome: RecordedEnd.Outcome = .succeeded, attempts: Int = 1, work: String? = nil
  ) -> RecordedEnd {
    RecordedEnd(run: "r\(run)", outcome: outcome, took: .seconds(seconds), attempts: attempts, work: work)
  }

  // MARK: From recorded ends

  @Test func theMedianIsOfHalfAndTheNinetiethOfNineTenthsOfSuccesses() {
    let ten = UsualTime((1...10).map { end($0, Double($0)) })
    #expect(ten == UsualTime(median: .seconds(5), ninetieth: .seconds(9), count: 10))
    #expect(UsualTime([end(1, 4)]) == UsualTime(median: .seconds(4), ninetieth: .seconds(4), count: 1))
    #expect(UsualTime([end(1, 4), end(2, 6)]) == UsualTime(median: .seconds(4), ninetieth: .seconds(6), count: 2))
  }

  @Test func onlyTheLastTwentySuccessesCount() {
    let ends = (1...20).map { end($0, 3) } + (21...90).map { end($0, 9) }
    #expect(UsualTime(ends) == UsualTime(median: .seconds(3), ninetieth: .seconds(3), count: 20))
  }

  @Test func onlySuccessesThatWereExecutedHaveATime() {
    let others = [end(1, 0, .notExecuted), end(2, 70, .failed), end(3, 1, .cancelled)]
    #expect(UsualTime(others) == nil)
    #expect(UsualTime([RecordedEnd]()) == nil)
    #expect(UsualTime(others + [end(4, 8)]) == UsualTime(median: .seconds(8), ninetieth: .seconds(8), count: 1))
  }

  @Test func aNewestSuccessThatIsOffByTenTimesDropsTheHistory() {
    let usual = (2...9).map { end($0, 20) }
    #expect(UsualTime([end(1, 201)] + usual) == nil)
    #expect(UsualTime([end(1, 1.9)] + usual) == nil)
    #expect(UsualTime([end(1, 199)] + usual) != nil)
    #expect(UsualTime([end(1, 2.1)] + usual) != nil)
    // An older one does not, and the tenths of a second of a short job tell nothing.
    #expect(UsualTime(usual + [end(10, 900)]) != nil)
    #expect(UsualTime([end(1, 0.9), end(2, 0.05), end(3, 0.05)]) != nil)
  }

  @Test func theFailuresBeforeASuccessOfTheSameRunMakeAJobFlaky() {
    let usual = UsualTime([end(1, 5, attempts: 3), end(2, 5), end(3, 5, attempts: 2)])
    #expect(usual?.isFlaky == true && usual?.failures == 3 && usual?.attempts == 6)
  }

  @Test func aFailureThatAChangeMayHaveMendedDoesNot() {
    let usual = UsualTime([end(1, 5), end(2, 5, .failed, attempts: 2), end(3, 5)])
    #expect(usual?.isFlaky == false && usual?.failures == 0 && usual?.attempts == 2)
  }

  @Test func aFailureOfTheSameWorkDoesInAnotherRunToo() {
    let ends = [end(1, 5, work: "a"), end(2, 5, .failed, work: "a"), end(3, 5, .failed, work: "b")]
    #expect(UsualTime(ends).map { [$0.failures, $0.attempts] } == [1, 2])
  }

  @Test func theAttemptsOfARunCountOnce() {
    // A job that was retried by hand ended twice in its run; the newest end has both attempts.
    let usual = UsualTime([end(1, 5, attempts: 2), end(1, 5, .failed), end(2, 5)])
    #expect(usual.map { [$0.count, $0.failures, $0.attempts] } == [2, 1, 3])
  }

  @Test func aCancelledAttemptNeitherFailedNorSucceeded() {
    let usual = UsualTime([end(1, 2, .cancelled, attempts: 3, work: "a"), end(2, 5, work: "a")])
    #expect(usual.map { [$0.failures, $0.attempts] } == [2, 3])
  }

  @Test func theLeastTimeIsTakenThatTheTenthsDoNotExceed() {
    func times(_ count: Int) -> [Duration]? {
      UsualTime((1...count).map { end($0, Double($0)) }).map { [$0.median, $0.ninetieth] }
    }
    #expect(times(3) == [.seconds(2), .seconds(3)])
    #expect(times(9) == [.seconds(5), .seconds(9)])
    #expect(times(11) == [.seconds(6), .seconds(10)])
    #expect(times(20) == [.seconds(10), .seconds(18)])
  }

  @Test func twentyAttemptsAreEnough() {
    // The run in which the twentieth is counts whole, and none after it.
    let usual = UsualTime((1...30).map { end($0, 5, attempts: 3) })
    #expect(usual.map { [$0.count, $0.failures, $0.attempts] } == [20, 14, 21])
    let exact = UsualTime((1...30).map { end($0, 5, attempts: 4) })
    #expect(exact.map { [$0.failures, $0.attempts] } == [15, 20])
  }

  @Test func withoutARecordOfThemTheAttemptsAreSuccessesAndFailures() {
    #expect(UsualTime(median: .zero, ninetieth: .zero, count: 3, failures: 2).attempts == 5)
    #expect(UsualTime(median: .zero, ninetieth: .zero, count: 3, failures: 2, attempts: 9).attempts == 9)
    #expect(!UsualTime(median: .zero, ninetieth: .zero, count: 3).isFlaky)
  }

  @Test func tenTimesAndASecondAreNotOff() {
    func isOff(_ newest: Double, _ others: Double) -> Bool {
      UsualTime([end(1, newest)] + (2...9).map { end($0, others) }) == nil
    }
    #expect(!isOff(200, 20) && isOff(200.1, 20) && !isOff(2, 20) && isOff(1.99, 20))
    #expect(!isOff(1.0625, 0.0625) && isOff(1.125, 0.0625))
  }

  // MARK: An attempt in progress

  /// A job that usually takes 100 s, 9 of 10 times 120 s, after its first seconds.
  private func record(after seconds: Double, ended: JobState? = nil) -> (JobRecord, now: Duration) {
    var job = Job(name: "a", work: .shell(ShellWork(.script("true"))))
    job.usual = UsualTime(median: .seconds(100), ninetieth: .seconds(120), count: 5)
    var recorder = Recorder([job])
    recorder.move(0, to: .executing)
    if let ended { recorder.move(0, to: ended, after: .seconds(seconds)) }
    return (recorder[0], .seconds(seconds))
  }

  @Test func theTimeLeftIsTheUsualTimeWithoutTheElapsed() {
    let (record, now) = record(after: 40)
    #expect(record.usualShare(at: now) == 0.4)
    #expect(record.timeLeft(at: now) == TimeEstimate(soonest: .seconds(60), latest: .seconds(80)))
    #expect(record.excess(at: now) == nil)
  }

  @Test func betweenTheMedianAndTheNinetiethTheJobMayEndNow() {
    let (record, now) = record(after: 110)
    #expect(record.usualShare(at: now) == 0.99)
    #expect(record.timeLeft(at: now) == TimeEstimate(soonest: .zero, latest: .seconds(10)))
    #expect(record.excess(at: now) == nil)
  }

  @Test func beyondTheNinetiethTheJobIsSlowerThanUsualAndHasNoTimeLeft() {
    let (record, now) = record(after: 141)
    #expect(record.usualShare(at: now) == nil && record.timeLeft(at: now) == nil)
    #expect(record.excess(at: now).flatMap { UsualText.slower($0) } == "slower than usual +41 %")
  }

  @Test func anAttemptThatTakesTenTimesAsLongHasNoUsualTime() {
    for ended in [nil, JobState.succeeded(upToDate: false)] {
      let (record, now) = record(after: 1201, ended: ended)
      #expect(record.usual(at: now) == nil && record.excess(at: now) == nil)
    }
    let (record, now) = record(after: 1199)
    #expect(record.usual(at: now) != nil)
  }

  @Test func aSuccessIsComparedAndAFailureIsNot() {
    let (slow, now) = record(after: 141, ended: .succeeded(upToDate: false))
    #expect(slow.excess(at: now) != nil)
    let (failed, _) = record(after: 141, ended: .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    #expect(failed.excess(at: now) == nil)
  }

  @Test func aFewTenthsOfASecondAreNotSlower() {
    var job = Job(name: "a", work: .shell(ShellWork(.script("true"))))
    job.usual = UsualTime(median: .milliseconds(100), ninetieth: .milliseconds(120), count: 5)
    var recorder = Recorder([job])
    recorder.move(0, to: .executing)
    recorder.move(0, to: .succeeded(upToDate: false), after: .milliseconds(900))
    #expect(recorder[0].excess(at: .milliseconds(900)) == nil)
  }

  @Test func aMeasuredRateHasPrecedenceOverTheUsualTime() {
    var recorder = Recorder([record(after: 0).0.job])
    recorder.move(0, to: .executing)
    for (seconds, done) in [(0, 0), (10, 10)] {
      recorder.state(
        .jobProgress(JobID(0), JobProgress(done: Int64(done), total: 40, unit: .steps)), after: .seconds(seconds))
    }
    #expect(recorder[0].timeLeft(at: .seconds(10)) == TimeEstimate(soonest: .seconds(30), latest: .seconds(30)))
  }

  @Test func theScheduleCountsAJobWithItsUsualTime() {
    var slow = job("slow")
    slow.usual = UsualTime(median: .seconds(60), ninetieth: .seconds(90), count: 3)
    let graph = JobGraph(name: "g", jobs: [job("a"), slow, job("b", 0)])
    #expect(CriticalPath.ranks(of: graph) == [.seconds(2), .seconds(60), .seconds(1)])
  }

  private func job(_ name: String, _ needs: Int...) -> Job {
    Job(name: name, work: .shell(ShellWork(.script("true"))), needs: needs.map { JobNeed(JobID($0)) })
  }

  // MARK: Words

  @Test func theWordsOfAUsualTime() {
    let usual = UsualTime(median: .seconds(141), ninetieth: .seconds(182), count: 12, failures: 3, attempts: 10)
    #expect(UsualText.short(usual) == "usually 2:21")
    #expect(UsualText.whole(usual) == "usually 2:21, 9 of 10 within 3:02 (12 runs)")
    #expect(UsualText.flaky(usual) == "failed 3 of its last 10 attempts")
    let once = UsualTime(median: .milliseconds(3240), ninetieth: .milliseconds(3240), count: 1)
    #expect(UsualText.whole(once) == "usually 3.2s (1 run)")
    #expect(UsualText.flaky(once) == nil)
    #expect(UsualText.slower(0.412, room: 23) == "slower than usual +41 %")
    #expect(UsualText.slower(0.412, room: 22) == "slower +41 %" && UsualText.slower(0.412, room: 11) == nil)
  }

  @Test(arguments: [
    (130, 220, "2:10 to 3:40 left", "2:10-3:40 left", "~2:10"), (130, 130, "about 2:10 left", "~2:10", "~2:10"),
    (130, 131, "about 2:10 left", "~2:10", "~2:10"), (1000, 1040, "about 17:00 left", "~17:00", "~16:40"),
    (0, 80, "up to 1:20 left", "<1:20 left", "<1:20"),
    (3700, 5400, "1:01:40 to 1:30:00 left", "1:01:40-1:30:00 left", "~1:01:40"),
  ])
  func aTimeLeftIsARangeUnlessBothEndsSayTheSame(
    _ soonest: Int, _ latest: Int, _ text: String, _ short: String, _ cell: String
  ) {
    let left = TimeEstimate(soonest: .seconds(soonest), latest: .seconds(latest))
    #expect(left.text == text && left.forms.last == short && left.cell == cell)
  }
}
