import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct EstimateTests {
  private static func job(_ name: String, _ median: Int = 20, _ ninetieth: Int = 24) -> Job {
    var job = Job.shell(name)
    job.usual = UsualTime(median: .seconds(median), ninetieth: .seconds(ninetieth), count: 12)
    return job
  }

  private func left(
    _ builder: RunBuilder, at seconds: Int, upTo limit: Int = Estimate.simulationLimit
  ) -> TimeEstimate? {
    Estimate(builder.run, JobIndex(builder.run), now: .seconds(seconds), simulatingUpTo: limit)?.left
  }

  private func estimate(_ soonest: Int, _ latest: Int) -> TimeEstimate {
    TimeEstimate(soonest: .seconds(soonest), latest: .seconds(latest))
  }

  /// `a` executes since 0, the others wait.
  private func run(_ others: Job..., slots: Int) -> RunBuilder {
    var run = RunBuilder([Self.job("a")] + others, slots: slots)
    run.move("a", .executing)
    return run
  }

  // MARK: Without an estimate

  @Test(
    arguments: [
      .jobState(JobID(0), .paused(started: false), attempt: 1, pid: nil), .drainChanged(true), .slotsChanged(0),
      .stopRequested(.terminate, by: .person),
    ] as [JobFact])
  func aRunThatDoesNotGoOnHasNone(_ fact: JobFact) {
    var run = run(Self.job("b"), slots: 1)
    #expect(left(run, at: 0) == estimate(40, 48))
    run.state(fact)
    #expect(left(run, at: 0) == nil)
  }

  @Test func aJobOfAKindOfWhichNothingIsKnownLeavesNone() {
    let download = Job(name: "b", work: .download(DownloadWork(url: "http://x", file: "/x")))
    #expect(left(run(download, slots: 1), at: 0) == nil)
    #expect(left(run(download, slots: 1), at: 0, upTo: 0) == nil)
  }

  @Test func servicesThatAreLeftAloneHaveNone() {
    var service = Self.job("service", 100, 100)
    service.work = .shell(ShellWork(.script("serve"), service: Service()))
    var run = RunBuilder([Self.job("a"), service], slots: 2)
    run.move("a", .executing)
    run.move("service", .serving)
    #expect(left(run, at: 0) != nil)
    run.move("a", .succeeded(upToDate: false))
    #expect(left(run, at: 0) == nil)
  }

  @Test func aRunWhoseLastJobIsAboutToEndHasNone() {
    var run = run(slots: 1)
    run.progress("a", 0, of: 100, .steps)
    run.at(1)
    run.progress("a", 50, of: 100, .steps)
    #expect(left(run, at: 1) == estimate(1, 1))
    run.at(2)
    run.progress("a", 100, of: 100, .steps)
    #expect(left(run, at: 2) == nil)
  }

  // MARK: A large run

  /// Simulated, `c` begins after `a`; divided, the slots share the work.
  @Test func upToItsLimitARunIsSimulated() {
    let run = run(Self.job("b"), Self.job("c"), slots: 2)
    #expect(left(run, at: 4, upTo: 3) == estimate(36, 44))
    #expect(left(run, at: 4, upTo: 2) == estimate(28, 34))
  }

  @Test func theWorkOfALargeRunIsDividedButNoJobIs() {
    let run = { slots in self.run(Self.job("b"), Self.job("c"), slots: slots) }
    #expect(left(run(1), at: 4, upTo: 0) == estimate(56, 68))
    #expect(left(run(2), at: 4, upTo: 0) == estimate(28, 34))
    #expect(left(run(4), at: 4, upTo: 0) == estimate(20, 20))
    // What is left of the executing job may be the longest.
    #expect(left(self.run(slots: 3), at: 4, upTo: 0) == estimate(16, 20))
  }

  @Test func aJobWithoutHistoryCountsAsTheMeanOfItsKind() {
    #expect(left(run(Self.job("b"), Self.job("c"), .shell("d"), slots: 2), at: 4, upTo: 0) == estimate(38, 44))
  }

  @Test func aMeasuredJobOfALargeRunIsEstimatedByItsRate() {
    var run = run(Self.job("b"), slots: 1)
    run.progress("a", 0, of: 100, .steps)
    run.at(4)
    run.progress("a", 40, of: 100, .steps)
    #expect(left(run, at: 4, upTo: 0) == estimate(26, 30))
  }

  // MARK: How often

  @Test(arguments: [(500, true), (501, false)])
  func theEstimateOfALargeRunIsMadeOnceASecond(_ count: Int, _ isFrequent: Bool) throws {
    var builder = RunBuilder((0..<count).map { Self.job("\($0)") }, slots: 1)
    builder.move("0", .executing)
    var model = Model(run: builder.run, size: Size(width: 80, height: 24))
    func soonest(at milliseconds: Int) throws -> Double {
      model.updateEstimate(now: .milliseconds(milliseconds))
      return try #require(model.estimate).left.soonest / .seconds(1)
    }
    let whole = Double(count * 20)
    #expect(try abs(soonest(at: 0) - whole) < 0.01)
    #expect(try (abs(soonest(at: 999) - whole) > 0.9) == isFrequent)
    #expect(try abs(soonest(at: 1000) - whole + 1) < 0.01)
    // An earlier instant, as of the past, is none of the same second.
    #expect(try abs(soonest(at: 500) - whole + 0.5) < 0.01)
  }
}
