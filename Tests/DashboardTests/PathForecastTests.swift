import JobModel
import Testing

@testable import Dashboard

@Suite struct PathForecastTests {
  private static func work(_ seconds: Int) -> JobWork { .simulate(SimulatedWork(duration: .seconds(seconds))) }

  /// Updates at these milliseconds of the run, and says when the run would end.
  private func end(
    _ path: inout PathForecast, _ builder: RunBuilder, at milliseconds: Int,
    _ extent: PathForecast.Extent = .chain
  ) -> Duration? {
    path.update(builder.run, JobIndex(builder.run), now: .milliseconds(milliseconds), extent)
    return path.forecast?.end
  }

  /// `0` executes for longer than any estimate, so that the run ends now at every instant.
  private func overdue(_ count: Int = 1) -> RunBuilder {
    var builder = RunBuilder((0..<count).map { .shell("\($0)") })
    builder.move("0", .executing)
    return builder
  }

  // MARK: Its age

  @Test func aForecastIsKeptForNineTenthsOfASecond() {
    var (path, builder) = (PathForecast(), overdue())
    #expect(end(&path, builder, at: 10_000) == .seconds(10))
    #expect(end(&path, builder, at: 10_899) == .seconds(10))
    builder.state(.slotsChanged(2))
    #expect(end(&path, builder, at: 10_899) == .seconds(10))
    #expect(end(&path, builder, at: 11_000) == .seconds(11))
    #expect(end(&path, builder, at: 11_900) != .seconds(11))
  }

  @Test func theForecastOfManyJobsIsKeptForLonger() {
    var (path, builder) = (PathForecast(), overdue(2000))
    #expect(end(&path, builder, at: 10_000) == .seconds(11))
    #expect(end(&path, builder, at: 10_999) == .seconds(11))
    #expect(end(&path, builder, at: 11_000) == .seconds(12))
    builder.state(.jobAdded(JobID(2000), .shell("late")))
    #expect(end(&path, builder, at: 11_500) == .seconds(12.5))
  }

  @Test func anEarlierInstantOrAnInvalidatedForecastIsMadeAnew() {
    var (path, builder) = (PathForecast(), overdue())
    #expect(end(&path, builder, at: 10_000) == .seconds(10))
    #expect(end(&path, builder, at: 9500) == .seconds(9.5))
    path.invalidate()
    #expect(end(&path, builder, at: 9750) == .seconds(9.75))
    builder.at(9.875)
    builder.move("0", .succeeded(upToDate: false))
    #expect(end(&path, builder, at: 9875) == .seconds(9.875))
  }

  @Test func whileNothingMovesAForecastStays() {
    var (path, builder) = (PathForecast(), RunBuilder([.shell("a"), .shell("b")]))
    #expect(end(&path, builder, at: 10_000) == .seconds(11))
    #expect(end(&path, builder, at: 90_000) == .seconds(11))
    builder.state(.slotsChanged(2))
    #expect(end(&path, builder, at: 90_000) == .seconds(91))
    builder.move("a", .backingOff(until: .zero, number: 1, limit: 1, after: JobFailure(.exit(1), "exit 1")))
    #expect(end(&path, builder, at: 95_000) == .seconds(96))
    #expect(end(&path, builder, at: 99_000) == .seconds(100))
  }

  // MARK: Its extent

  @Test func onlyWhatIsWantedIsComputed() {
    var path = PathForecast()
    let builder = RunBuilder([Job(name: "a", work: Self.work(4)), Job(name: "b", work: Self.work(6))], slots: 1)
    _ = end(&path, builder, at: 0)
    #expect(path.forecast != nil && path.schedule == nil && path.rows.isEmpty && !path.isPartial)
    _ = end(&path, builder, at: 0, .schedule)
    #expect(path.schedule?.end == .seconds(10) && path.rows.isEmpty && path.slotSaving == .zero)
    _ = end(&path, builder, at: 0, .rows)
    #expect(path.slotSaving == .seconds(4))
    #expect(path.rows.map(\.job) == [JobID(1), JobID(0)])
    #expect(path.rows.map(\.slack) == [.zero, .seconds(2)])
    // Halved, `b` takes 3 s, but `a` takes 4.
    #expect(path.rows.map(\.saving) == [.seconds(2), nil])
    #expect(path.rows.map { $0.link != nil } == [true, false])
  }

  @Test func ofACompleteRunOnlyTheChainIsLeft() {
    var path = PathForecast()
    var builder = RunBuilder([.shell("a"), .shell("b", needs: [JobNeed(JobID(0))]), .shell("c")])
    for (name, seconds) in [("a", 4.0), ("b", 9.0)] {
      builder.move(name, .executing)
      builder.at(seconds)
      builder.move(name, .succeeded(upToDate: false))
    }
    builder.move("c", .skipped(because: .condition))
    _ = end(&path, builder, at: 9000, .rows)
    #expect(path.rows.map(\.job) == [JobID(0), JobID(1)])
    #expect(path.rows.allSatisfy { $0.slack == nil && $0.saving == nil && $0.link != nil })
    #expect(path.schedule == nil && path.slotSaving == .zero)
  }

  @Test(arguments: [(PathForecast.frequentLimit, true), (PathForecast.frequentLimit + 1, false)])
  func theChainOfAVeryLargeRunIsNotComputedForAList(_ count: Int, _ isComputed: Bool) {
    var path = PathForecast()
    let builder = RunBuilder((0..<count).map { .shell("\($0)") })
    path.update(builder.run, JobIndex(), now: .zero, .chain)
    #expect((path.forecast != nil) == isComputed && !path.isPartial)
  }

  // MARK: Rows

  @Test func theSavingsAreOfTheTwelveLongestJobsOfTheChain() {
    // In no order of their times, each after the one before.
    let times = [5, 1, 9, 3, 14, 7, 2, 11, 13, 4, 8, 12, 6, 10]
    let jobs = times.enumerated().map { place, time in
      Job(name: "\(place)", work: Self.work(time), needs: place == 0 ? [] : [JobNeed(JobID(place - 1))])
    }
    var path = PathForecast()
    let builder = RunBuilder(jobs)
    #expect(end(&path, builder, at: 0, .rows) == .seconds(times.reduce(0, +)))
    #expect(path.rows.map(\.saving) == times.map { $0 > 2 ? .milliseconds($0 * 500) : nil })
    #expect(path.rows.map(\.slack) == times.map { _ in .zero })
  }

  @Test(arguments: [false, true])
  func theTwoHundredJobsWithTheLeastSlackFollowTheChain(_ isReversed: Bool) {
    let times = isReversed ? Array((1...501).reversed()) : Array(1...501)
    var path = PathForecast()
    let builder = RunBuilder(times.map { Job(name: "\($0)", work: Self.work($0)) })
    _ = end(&path, builder, at: 0, .rows)
    #expect(path.rows.count == 201)
    #expect(path.rows.map { times[$0.job.index] } == (301...501).reversed())
    #expect(path.rows.map(\.slack) == (0...200).map { .seconds($0) })
  }

  @Test func jobsWithTheSameSlackAreInTheirOrder() {
    let times = [9, 5, 5, 5, 7]
    var path = PathForecast()
    let builder = RunBuilder(times.map { Job(name: "a", work: Self.work($0)) })
    _ = end(&path, builder, at: 0, .rows)
    #expect(path.rows.map(\.job.index) == [0, 4, 1, 2, 3])
  }

  @Test func oneJobAloneIsNotCritical() {
    var path = PathForecast()
    _ = end(&path, RunBuilder([.shell("a"), .shell("b")]), at: 0)
    #expect(path.onChain.count == 1 && (0..<2).allSatisfy { !path.isCritical(JobID($0)) })
    let builder = RunBuilder([.shell("a"), .shell("b", needs: [JobNeed(JobID(0))]), .shell("c")])
    _ = end(&path, builder, at: 0)
    #expect((0..<3).map { path.isCritical(JobID($0)) } == [true, true, false])
  }

  @Test(arguments: [(5_000_000, "~0:05"), (4_999_600, "~0:05"), (4_999_400, "~0:04"), (0, "~0:00")])
  func aSlackIsRoundedToMilliseconds(_ microseconds: Int64, _ text: String) {
    #expect(PathForecast.text(slack: .microseconds(microseconds)) == text)
  }
}
