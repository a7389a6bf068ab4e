import JobModel
import Screen
import Testing

@testable import Dashboard

struct StatusTextTests {
  @Test(arguments: [
    ("lint", "exit 1", ", after 2 tries"),
    ("sign", "timed out after 0:30", ""),
    ("fetch", "running", ", 1.1 of 2.1 GB, 8.5 MB/s"),
    ("upload-symbols", "running", ", 13 MB, 2.1 MB/s"),
    ("stubborn", "stopping, killed in 0:17", ""),
    ("warm-cache", "paused", ""),
    ("archive", "paused before its start", ""),
    ("notify", "retry 2 of 3 in 0:08", ", after HTTP 503"),
    ("build[mac]", "waits for pool heavy", ""),
    ("index", "waits for a slot", ""),
    ("build[linux]", "waits for fetch, assets", ""),
    ("announce", "waits for unit-tests, migrate, fetch, assets", ""),
    ("cleanup", "waits for unit-tests to finish", ""),
    ("mirror", "waits for unit-tests to fail", ""),
    ("digest", "waiting", ""),
    ("docs", "cancelled", " by you"),
    ("publish", "skipped", ", lint failed"),
    ("flaky-bench", "exit 2", ", allowed to fail"),
    ("checkout", "ok", ""),
    ("release-notes", "up to date", ""),
  ])
  func everyStateSaysWhatItIsAndWhy(_ job: String, _ status: String, _ detail: String) throws {
    let run = RichRun.builder().run
    let id = try #require(run.id(named: job))
    let words = StatusText(id, run, now: .milliseconds(221_300))
    #expect(words.status == status)
    #expect(words.detail == detail)
  }

  @Test(arguments: [
    (100, "waits for unit-tests, migrate, fetch, assets"), (43, "waits for unit-tests, migrate and 2 more"),
    (30, "waits for unit-tests and 3 more"), (5, "waits for unit-tests and 3 more"),
  ])
  func aWaitingJobNamesAsManyNeedsAsFitAndCountsTheRest(_ room: Int, _ text: String) throws {
    let run = RichRun.builder().run
    let id = try #require(run.id(named: "announce"))
    #expect(StatusText(id, run, now: .zero, room: room).whole == text)
  }

  @Test func aReadyJobSaysThatTheRunIsDrainedOrStopped() throws {
    var builder = RichRun.builder()
    let id = try #require(builder.run.id(named: "index"))
    builder.state(.drainChanged(true))
    #expect(StatusText(id, builder.run, now: .zero).status == "waits: nothing new starts")
    builder.state(.stopRequested(.terminate, by: .signal))
    #expect(StatusText(id, builder.run, now: .zero).status == "waits: the run is stopping")
  }

  @Test func aFinalJobWaitsAfterAStopForWhatItWaitedForBefore() {
    var clean = Job.shell("clean")
    (clean.finally, clean.approval) = (.always, "Clean up?")
    var builder = RunBuilder([clean])
    builder.state(.stopRequested(.terminate, by: .signal))
    for (room, text) in [(JobState.Room.slot, "a slot"), (.person, "approval: Clean up?")] {
      builder.move("clean", .ready(for: room))
      #expect(StatusText(JobID(0), builder.run, now: .zero).whole == "waits for \(text)")
    }
  }

  @Test func aJobThatFailedOnceWithoutRetriesHasNoTries() {
    var builder = RunBuilder([.shell("a", retry: RetryPolicy(max: 2))])
    builder.move("a", .executing)
    builder.move("a", .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    #expect(StatusText(JobID(0), builder.run, now: .zero).whole == "exit 1")
  }

  @Test func aJobThatThePolicyEndsNamesTheFailureAndItsOwn() {
    var builder = RunBuilder([.shell("lint"), .shell("flaky", retry: RetryPolicy(max: 2)), .shell("late")])
    builder.move("lint", .executing)
    builder.move("flaky", .executing)
    builder.move("flaky", .backingOff(until: .seconds(9), number: 1, limit: 2, after: JobFailure(.exit(3), "exit 3")))
    builder.move("lint", .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    builder.move("flaky", .cancelled(by: .policy))
    builder.move("late", .cancelled(by: .policy))
    #expect(StatusText(JobID(1), builder.run, now: .zero).whole == "cancelled, lint failed, after exit 3")
    #expect(StatusText(JobID(2), builder.run, now: .zero).whole == "cancelled, lint failed")
  }

  @Test func aSecondRequestSaysThatTheJobWasKilled() {
    var builder = RunBuilder([.shell("a"), Job(name: "b", work: .simulate(SimulatedWork(duration: .seconds(9))))])
    builder.move("a", .executing)
    builder.move("b", .executing)
    builder.cancel("a")
    builder.cancel("b")
    #expect(StatusText(JobID(0), builder.run, now: .zero).whole == "stopping, killed in 0:05")
    #expect(StatusText(JobID(1), builder.run, now: .zero).whole == "stopping")
    builder.cancel("a", kill: true)
    #expect(StatusText(JobID(0), builder.run, now: .zero).whole == "stopping, SIGKILL was sent")
  }

  @Test func theRichRunAndAServiceShowEveryStateAndEachHasItsOwnLetter() {
    var builder = RichRun.builder()
    builder.state(.jobAdded(JobID(builder.run.jobs.count), .shell("api", "./api")))
    builder.move("api", .executing)
    builder.move("api", .serving)
    let index = JobIndex(builder.run)
    #expect(Set(index.classes) == Set(StateClass.allCases))
    for isASCII in [true, false] {
      let theme = Theme(ScreenTraits(isASCII: isASCII, palette: .none))
      #expect(Set(StateClass.allCases.map { theme.letter($0) }).count == StateClass.allCases.count)
    }
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

  @Test func halvesOfACellAreDrawnWhereTheyCanBe() {
    let bar = Bar(theme: Theme(ScreenTraits(isASCII: false, palette: .none)))
    #expect(bar.determinate(0.76, width: 2, style: .plain).map(\.text).joined() == "━╾")
    #expect(bar.determinate(0.5, width: 4, style: .plain).map(\.text).joined() == "━━──")
  }

  @Test func thePartsOfABarDifferWithoutColoursToo() {
    let parts = [
      Bar.Part(share: 0.25, sign: "#", style: .plain), Bar.Part(share: 0.25, sign: "!", line: "╳", style: .plain),
      Bar.Part(share: 0.25, sign: "=", line: "╍", style: .plain),
    ]
    for (isASCII, text) in [(true, "[##!!==>.]"), (false, "━━╳╳╍╍──")] {
      let bar = Bar(theme: Theme(ScreenTraits(isASCII: isASCII, palette: .none)))
      #expect(bar.stacked(parts, width: isASCII ? 10 : 8).map(\.text).joined() == text)
    }
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
    // 6 s of the one that executes, then 10 s; beside them two of 10 s.
    #expect(estimate?.left == TimeEstimate(soonest: .seconds(20), latest: .seconds(20)))
  }

  // MARK: The bytes of all transfers

  @Test func theBytesAndRatesOfAllTransfersAreSummed() {
    var builder = RunBuilder([.shell("a"), .shell("b"), .shell("c")], slots: 3)
    var index = JobIndex(builder.run)
    func report() { for id in builder.run.ids { index.move(id, builder.run) } }
    for name in ["a", "b", "c"] { builder.move(name, .executing) }
    for name in ["a", "b"] { builder.progress(name, 0, of: 10_000, .bytes) }
    builder.progress("c", 1, of: 5, .steps)
    builder.at(1)
    builder.progress("a", 1000, of: 10_000, .bytes)
    builder.progress("b", 500, of: 10_000, .bytes)
    builder.progress("c", 3, of: 5, .steps)
    report()
    func rate(_ index: JobIndex) -> Double { index.rate(builder.run, at: .seconds(1)) }
    #expect(index.bytes == 1500 && rate(index) == 1500)
    #expect(index.rate(builder.run, at: .seconds(5)) == 750)
    // What has ended or is paused transfers nothing, and its bytes stay.
    builder.move("a", .succeeded(upToDate: false))
    report()
    #expect(index.bytes == 1500 && rate(index) == 500)
    builder.move("b", .paused(started: true))
    report()
    #expect(index.bytes == 1500 && rate(index) == 0)
    // Another attempt begins with none.
    builder.move("a", .executing, attempt: 2)
    report()
    #expect(index.bytes == 500 && rate(index) == 0)
    #expect(JobIndex(builder.run).bytes == 500)
  }

  @Test func aMeasuredJobIsEstimatedByItsRate() {
    var builder = RunBuilder([.shell("a")], slots: 2)
    builder.move("a", .executing)
    builder.progress("a", 0, of: 100, .steps)
    builder.at(10)
    builder.progress("a", 10, of: 100, .steps)
    let estimate = Estimate(builder.run, JobIndex(builder.run), now: .seconds(10))
    #expect(estimate.map { abs($0.left.middle / .seconds(1) - 90) < 1 } == true)
  }
}
