import JobModel
import Screen
import Testing

@testable import Dashboard

struct StatusTextTests {
  @Test(arguments: [
    ("lint", "failed: exit 1 (2 of 2)", "r retry"),
    ("sign", "timed out", "r retry"),
    ("fetch", "running", "1.0G/2.0G"),
    ("upload-symbols", "running", "12M/?"),
    ("warm-cache", "paused", "p resume"),
    ("archive", "held before its start", "p resume"),
    ("notify", "retry 2 of 3 in 0:08", "HTTP 503"),
    ("build[mac]", "ready: pool heavy 2/2", ""),
    ("index", "ready: slot 6/6", ""),
    ("build[linux]", "needs 2 of 3", "fetch, assets"),
    ("announce", "needs 4 of 4", "unit-tests, migrate, fetch +1"),
    ("cleanup", "needs 1 of 2", "unit-tests to end"),
    ("mirror", "needs 1 of 1", "unit-tests to fail"),
    ("docs", "cancelled", "by you"),
    ("publish", "skipped", "because lint failed"),
    ("flaky-bench", "failed: exit 2", "allowed to fail"),
    ("checkout", "ok", ""),
    ("release-notes", "up to date", ""),
  ])
  func everyStateSaysWhatItIsAndWhy(_ job: String, _ status: String, _ reason: String) throws {
    let run = RichRun.builder().run
    let id = try #require(run.id(named: job))
    let words = StatusText(id, run, JobIndex(run), now: .milliseconds(221_300))
    #expect(words.status == status)
    #expect(words.reason == reason)
  }

  @Test func aReadyJobSaysThatTheRunIsDrainedOrStopped() throws {
    var builder = RichRun.builder()
    let id = try #require(builder.run.id(named: "index"))
    builder.state(.drainChanged(true))
    #expect(StatusText(id, builder.run, JobIndex(builder.run), now: .zero).status == "ready: draining")
    builder.state(.stopRequested(.terminate, by: .signal))
    #expect(StatusText(id, builder.run, JobIndex(builder.run), now: .zero).whole == "ready, but the run is stopping")
  }

  @Test func theRichRunShowsEveryStateAndEachHasItsOwnLetter() {
    let index = JobIndex(RichRun.builder().run)
    #expect(Set(index.classes) == Set(StateClass.allCases))
    for isASCII in [true, false] {
      let theme = Theme(ScreenTraits(isASCII: isASCII, palette: .none))
      #expect(Set(StateClass.allCases.map { theme.letter($0) }).count == StateClass.allCases.count)
    }
  }

  @Test func noShareOfABarThatIsThereIsInvisible() {
    #expect(Header.cells([1, 0, 1, 9997], of: 10_000, width: 50) == [1, 0, 1, 47])
    #expect(Header.cells([5, 5], of: 10, width: 10) == [5, 5])
    #expect(Header.cells([0, 0], of: 10, width: 10) == [0, 0])
    for width in 1...40 { #expect(Header.cells([3, 1, 1, 1, 4], of: 10, width: width).reduce(0, +) <= width) }
  }

  @Test func barsHaveTheirWidthAtEveryShare() {
    for isASCII in [true, false] {
      let bar = Bar(theme: Theme(ScreenTraits(isASCII: isASCII, palette: .none)))
      for width in 6...30 {
        for share in stride(from: 0.0, through: 1.0, by: 0.01) {
          #expect(bar.determinate(share, width: width, style: .plain).width == width)
        }
        for step in 0..<100 { #expect(bar.indeterminate(step: step, width: width, style: .plain).width == width) }
      }
    }
  }

  @Test func eighthsOfACellAreDrawnWhereTheyCanBe() {
    let bar = Bar(theme: Theme(ScreenTraits(isASCII: false, palette: .none)))
    #expect(bar.determinate(0.5625, width: 2, style: .plain).map(\.text).joined() == "█▏")
    #expect(bar.determinate(0.375, width: 1, style: .plain).map(\.text).joined() == "▍")
  }

  // MARK: The run's estimate

  @Test func noEstimateIsMadeOfNothing() {
    var builder = RunBuilder([.shell("a"), .shell("b")], slots: 1)
    builder.move("a", .executing)
    #expect(Estimate(builder.run, JobIndex(builder.run), now: .zero) == nil)
  }

  @Test func waitingJobsAreEstimatedByTheMeanOfTheirKind() {
    var builder = RunBuilder((0..<6).map { .shell("job-\($0)") }, slots: 2)
    var index = JobIndex(builder.run)
    for number in 0..<2 {
      builder.at(Double(number * 10))
      builder.move("job-\(number)", .executing)
      index.move(JobID(number), builder.run)
      builder.at(Double(number * 10 + 10))
      builder.move("job-\(number)", .succeeded(upToDate: false))
      index.move(JobID(number), builder.run)
    }
    builder.move("job-2", .executing)
    index.move(JobID(2), builder.run)
    let estimate = Estimate(builder.run, index, now: .seconds(24))
    // 6 s of the one that executes and three of 10 s, two at a time.
    #expect(estimate?.remaining == .seconds(18))
    #expect(estimate?.isRough == true)
  }

  @Test func aMeasuredJobIsEstimatedByItsRate() {
    var builder = RunBuilder([.shell("a")], slots: 2)
    builder.move("a", .executing)
    builder.progress("a", 0, of: 100, .steps)
    builder.at(10)
    builder.progress("a", 10, of: 100, .steps)
    let estimate = Estimate(builder.run, JobIndex(builder.run), now: .seconds(10))
    #expect(estimate?.isRough == false)
    #expect(estimate.map { abs($0.remaining / .seconds(1) - 90) < 1 } == true)
  }
}
