import JobModel
import Screen
import Testing

@testable import Dashboard

/// What usual times add to the screens.
struct HistoryTests {
  // MARK: Goldens

  private static func usual(_ median: Double, _ ninetieth: Double, _ count: Int = 12, failures: Int = 0) -> UsualTime {
    UsualTime(
      median: .seconds(median), ninetieth: .seconds(ninetieth), count: count, failures: failures,
      attempts: failures == 0 ? nil : 10)
  }

  /// A run in which most jobs have a history.
  private static func builder() -> RunBuilder {
    func job(_ name: String, _ usual: UsualTime?, needs: Int...) -> Job {
      var job = Job.shell(name, "make \(name)", needs: needs.map { JobNeed(JobID($0)) })
      job.usual = usual
      return job
    }
    var run = RunBuilder([
      job("checkout", usual(2, 4)),
      job("unit-tests", usual(141, 182, failures: 3), needs: 0),
      job("build[linux,x64]", usual(60, 75), needs: 0),
      job("migrate", usual(50, 60), needs: 0),
      job("package-the-symbols-for-upload", usual(40, 70, 1), needs: 0),
      job("new-job", nil, needs: 0),
      job("index", usual(3, 4), needs: 0),
      job("publish", usual(30, 60), needs: 1, 2),
      job("announce", nil, needs: 7),
    ])
    run.move("checkout", .executing)
    run.at(5)
    run.move("checkout", .succeeded(upToDate: false))
    for name in ["unit-tests", "build[linux,x64]", "migrate", "index"] { run.move(name, .executing) }
    run.progress("build[linux,x64]", 0, of: 240, .steps)
    run.at(46)
    run.move("package-the-symbols-for-upload", .executing)
    run.move("new-job", .executing)
    run.at(47)
    run.progress("build[linux,x64]", 120, of: 240, .steps)
    run.at(49)
    return run
  }

  /// Seconds into the run: with all within their usual time, with some beyond it.
  static let scenes: [GoldenTests.Scene] = [
    GoldenTests.Scene(name: "80x24-history", width: 80, height: 24),
    GoldenTests.Scene(name: "120x40-history", width: 120, height: 40),
    GoldenTests.Scene(name: "40x12-history", width: 40, height: 12),
    GoldenTests.Scene(name: "80x24-history-zoom", width: 80, height: 24, keys: [.enter]),
  ]

  @Test(arguments: scenes)
  func aFrameWithUsualTimesIsAsRecorded(_ scene: GoldenTests.Scene) throws {
    for (traits, name) in [(GoldenTests.utf8, "utf8"), (GoldenTests.ascii, "ascii")] {
      for seconds in [49, 75] {
        let frame = GoldenTests.frame(scene, traits, builder: Self.builder(), now: .seconds(seconds))
        try GoldenTests.compare(frame, "\(scene.name)-\(seconds)s.\(name).txt")
      }
    }
  }

  // MARK: Bars

  @Test func aBarOfTheUsualTimeIsDrawnUnlikeAMeasuredOneWithoutColoursToo() {
    for (isASCII, width, text) in [(true, 12, "[###~~~~~~~]"), (false, 10, "╍╍╍╌╌╌╌╌╌╌")] {
      let bar = Bar(theme: Theme(ScreenTraits(isASCII: isASCII, palette: .none)))
      #expect(bar.estimated(0.31, width: width).map(\.text).joined() == text)
      #expect(bar.determinate(0.31, width: width, style: .plain).map(\.text).joined() != text)
      for width in 0...3 { #expect(bar.estimated(0.99, width: width).map(\.text).joined().count <= width) }
    }
  }

  @Test func aBarOfTheUsualTimeMovesOnceASecond() {
    var job = Job.shell("a")
    job.usual = Self.usual(100, 120)
    var run = RunBuilder([job])
    run.move("a", .executing)
    var model = Model(run: run.run, size: Size(width: 80, height: 24))
    FramePreparation.prepare(&model, now: .zero)
    #expect(!FrameSchedule.isAnimated(model, at: .seconds(119)))
    #expect(FrameSchedule.isAnimated(model, at: .seconds(121)))
  }

  @Test func aWaitingJobShowsNothingOfItsHistory() {
    let frame = GoldenTests.frame(Self.scenes[0], GoldenTests.ascii, builder: Self.builder(), now: .seconds(49)).text
    let row = frame.split(separator: "\n").first { $0.contains(" publish ") }
    #expect(row?.contains("waits for unit-tests, build[linux,x64]") == true && row?.contains("usually") == false)
  }

  // MARK: The run's estimate

  private func left(_ run: RunBuilder, at seconds: Double) -> TimeEstimate? {
    Estimate(run.run, JobIndex(run.run), now: .seconds(seconds))?.left
  }

  /// a and b before c, on some slots.
  private func chain(_ usual: [UsualTime?], slots: Int = 2) -> RunBuilder {
    var jobs: [Job] = [.shell("a"), .shell("b"), .shell("c", needs: [JobNeed(JobID(0)), JobNeed(JobID(1))])]
    for (place, usual) in usual.enumerated() { jobs[place].usual = usual }
    var run = RunBuilder(jobs, slots: slots)
    run.move("a", .executing)
    return run
  }

  @Test func aRunWithHistoryHasARangeFromTheFirstSecond() {
    let usual = [Self.usual(10, 15), Self.usual(20, 22), Self.usual(5, 9)]
    #expect(left(chain(usual), at: 0) == TimeEstimate(soonest: .seconds(25), latest: .seconds(31)))
    #expect(left(chain(usual, slots: 1), at: 4) == TimeEstimate(soonest: .seconds(31), latest: .seconds(42)))
  }

  @Test func aJobWithoutHistoryIsEstimatedByItsKindThenWithALimit() {
    let usual = [nil, Self.usual(20, 22), Self.usual(10, 12)]
    #expect(left(chain(usual, slots: 1), at: 5) == TimeEstimate(soonest: .seconds(40), latest: .seconds(44)))
    #expect(left(chain(usual, slots: 1), at: 16) == TimeEstimate(soonest: .seconds(30), latest: .seconds(50)))
    #expect(left(chain([]), at: 16) == nil)
  }

  @Test func anAttemptBeyondItsUsualTimeMayTakeAsLongAgain() {
    let usual = [Self.usual(10, 12), Self.usual(1, 1), Self.usual(5, 5)]
    #expect(left(chain(usual), at: 30) == TimeEstimate(soonest: .seconds(6), latest: .seconds(25)))
  }

  @Test func historyThatIsOffByTenTimesIsNotUsed() {
    let usual = [Self.usual(10, 12), Self.usual(1, 1), Self.usual(5, 5)]
    #expect(left(chain(usual), at: 119) == TimeEstimate(soonest: .seconds(6), latest: .seconds(114)))
    #expect(left(chain(usual), at: 121) == TimeEstimate(soonest: .seconds(6), latest: .seconds(126)))
  }

  @Test func theForecastOfALargeRunSharesTheWorkAmongTheSlots() {
    var jobs = (0...Estimate.simulationLimit).map { Job.shell("\($0)") }
    for place in jobs.indices { jobs[place].usual = Self.usual(10, 12) }
    var run = RunBuilder(jobs, slots: 10)
    for place in 0..<10 { run.move("\(place)", .executing) }
    // Ten of them have executed for 4 s each.
    func end(_ each: Int) -> Duration { .seconds(jobs.count * each - 40) / 10 }
    #expect(left(run, at: 4) == TimeEstimate(soonest: end(10), latest: end(12)))
  }
}
