import JobModel
import Testing

@testable import Dashboard

@Suite struct ExpectedTimesTests {
  private func job(_ name: String, _ median: Int, _ ninetieth: Int) -> Job {
    var job = Job.shell(name)
    job.usual = UsualTime(median: .seconds(median), ninetieth: .seconds(ninetieth), count: 12)
    return job
  }

  private func expected(_ name: String, _ builder: RunBuilder, at seconds: Double) -> TimeEstimate? {
    guard let id = builder.run.id(named: name) else { return nil }
    return ExpectedTimes(JobIndex(builder.run))
      .of(id, in: builder.run, at: .milliseconds(Int64(seconds * 1000)))
  }

  private func estimate(_ soonest: Double, _ latest: Double) -> TimeEstimate {
    TimeEstimate(
      soonest: .milliseconds(Int64(soonest * 1000)), latest: .milliseconds(Int64(latest * 1000)))
  }

  @Test func anAttemptIsExpectedToTakeItsUsualTimeUntilItTakesLonger() {
    var run = RunBuilder([job("a", 10, 12)])
    #expect(expected("a", run, at: 99) == estimate(10, 12))
    run.move("a", .executing)
    #expect(expected("a", run, at: 0) == estimate(10, 12))
    #expect(expected("a", run, at: 12) == estimate(10, 12))
    #expect(expected("a", run, at: 12.5) == estimate(12.5, 15))
    #expect(expected("a", run, at: 20) == estimate(20, 30))
  }

  @Test func theNextAttemptIsExpectedToTakeItsWholeTime() {
    var run = RunBuilder([job("a", 10, 12)])
    run.move("a", .executing)
    run.at(30)
    run.move("a", .backingOff(until: .seconds(40), number: 1, limit: 1, after: JobFailure(.exit(1), "exit 1")))
    #expect(expected("a", run, at: 31) == estimate(10, 12))
  }

  @Test func aJobWithoutHistoryHasTheMeanOfItsKindThenTwiceItsTime() {
    var run = RunBuilder([job("a", 20, 22), .shell("b")])
    run.move("b", .executing)
    #expect(expected("b", run, at: 19.999) == estimate(20, 20))
    #expect(expected("b", run, at: 20) == estimate(20, 40))
    #expect(expected("b", run, at: 30) == estimate(30, 60))
  }

  @Test func withoutAnyHistoryNothingIsKnownBeyondTheMean() {
    var run = RunBuilder([.shell("a"), .shell("b")])
    run.move("a", .executing)
    #expect(expected("b", run, at: 0) == nil)
    run.at(10)
    run.move("a", .succeeded(upToDate: false))
    run.move("b", .executing)
    #expect(expected("b", run, at: 19.999) == estimate(10, 10))
    #expect(expected("b", run, at: 20) == nil)
  }

  @Test func aDeclaredTimeIsItsOwnBound() {
    var run = RunBuilder([Job(name: "a", work: .simulate(SimulatedWork(duration: .seconds(5))))])
    run.move("a", .executing)
    #expect(expected("a", run, at: 5) == estimate(5, 5))
    #expect(expected("a", run, at: 6) == estimate(6, 7))
  }
}
