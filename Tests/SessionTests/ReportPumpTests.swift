import Basics
import JobModel
import Reports
import Support
import Testing

@testable import Session

@Suite struct ReportPumpTests {
  private let clock: ManualOperationClock
  private let feed: FakeFeed
  private let text = Lock("")
  private let endings = Lock(0)

  init() {
    clock = ManualOperationClock()
    feed = FakeFeed(clock: clock)
  }

  private func pump(_ end: ReportPump.EndCondition = .complete) -> ReportPump {
    let report = PlainReport(paint: Paint(isColoured: false)) { [text] lines in
      text.withLock { $0 += lines.text }
    }
    return ReportPump(feed, reports: [report], end: end, clock: clock)
  }

  private func start(_ pump: ReportPump) {
    pump.start(whenEnding: { [endings] in endings.withLock { $0 += 1 } }, whenFinished: { _ in })
  }

  private func state(_ id: Int, _ state: JobState) { feed.post(.jobState(JobID(id), state, attempt: 1, pid: nil)) }

  @Test func theRunEndsOnceWhenAllJobsHaveEnded() {
    let pump = pump()
    let over = Lock(0)
    pump.start(
      whenEnding: { [endings, feed] in
        endings.withLock { $0 += 1 }
        feed.post(.runFinished(RunSummary()))
      }, whenFinished: { _ in over.withLock { $0 += 1 } })
    feed.begin(2)
    state(0, .succeeded(upToDate: false))
    #expect(endings.withLock { $0 } == 0)
    state(1, .succeeded(upToDate: false))
    #expect(eventually { over.withLock { $0 } == 1 })
    #expect(endings.withLock { $0 } == 1)
    #expect(text.withLock { $0 }.hasSuffix("\ntest: 2 ok in 0.0s\n"))
    #expect(eventually { feed.readers == 0 })
  }

  @Test func aStoppedRunEndsWhenNothingExecutes() {
    let pump = pump()
    start(pump)
    feed.begin(2)
    state(0, .executing)
    feed.post(.stopRequested(.terminate, by: .signal))
    state(0, .cancelled(by: .signal))
    #expect(eventually { endings.withLock { $0 } == 1 })
    withExtendedLifetime(pump) {}
  }

  @Test func withADashboardOnlyASignalEndsTheRun() {
    let pump = pump(.stopped)
    start(pump)
    feed.begin(1)
    state(0, .succeeded(upToDate: false))
    #expect(eventually { text.withLock { $0 }.contains("+ job0") })
    #expect(endings.withLock { $0 } == 0)
    feed.post(.stopRequested(.terminate, by: .signal))
    #expect(eventually { endings.withLock { $0 } == 1 })
    withExtendedLifetime(pump) {}
  }

  @Test func withADashboardAStopByThePersonLeavesTheEndToThem() {
    let pump = pump(.stopped)
    start(pump)
    feed.begin(2)
    feed.post(.stopRequested(.terminate, by: .person))
    state(0, .cancelled(by: .person))
    state(1, .cancelled(by: .person))
    #expect(eventually { text.withLock { $0 }.contains(/job1 +\[\d+\/\d+\] cancelled/) })
    // After that line the pump has checked the end.
    let isIdle = Lock(false)
    pump.whenIdle { isIdle.withLock { $0 = true } }
    #expect(eventually { isIdle.withLock { $0 } })
    #expect(endings.withLock { $0 } == 0)
  }

  @Test func silenceWakesTheReportOnTheRunsClock() {
    let pump = pump()
    start(pump)
    feed.begin(1)
    clock.advance(by: .seconds(3))
    feed.post(.jobState(JobID(0), .executing, attempt: 1, pid: nil), at: .seconds(3))
    #expect(eventually { text.withLock { $0 }.contains("job0") })
    #expect(eventually { clock.due.count == 1 })
    clock.advance(by: .seconds(10))
    #expect(text.withLock { $0 }.contains("00:13.0   1 running: job0 10.0s; 0 of 1 done"))
    #expect(clock.due.count == 1)
    withExtendedLifetime(pump) {}
  }

  @Test func neverMoreThanOneWakeIsOnItsWay() {
    let pump = pump()
    start(pump)
    feed.begin(50)
    for id in 0..<50 { state(id, .executing) }
    #expect(eventually { text.withLock { $0 }.contains("job49") })
    #expect(eventually { clock.due.count == 1 })
    withExtendedLifetime(pump) {}
  }

  @Test func withoutReportsTheEndIsSeenInTheFeed() {
    let pump = ReportPump(feed, reports: [], end: .stopped, clock: clock)
    let final = Lock<Run?>(nil)
    pump.start(
      whenEnding: { [endings] in endings.withLock { $0 += 1 } },
      whenFinished: { run in final.withLock { $0 = run } })
    feed.begin(2)
    state(0, .executing)
    feed.post(.stopRequested(.terminate, by: .signal))
    state(0, .cancelled(by: .signal))
    #expect(eventually { endings.withLock { $0 } == 1 })
    feed.post(.runFinished(RunSummary()))
    #expect(eventually { final.withLock { $0?.summary != nil } })
    #expect(final.withLock { $0 } == feed.run)
    #expect(clock.due.isEmpty)
  }

  @Test func theEndOfARecordingIsItsOwn() {
    let pump = ReportPump(feed, reports: [], end: .never, clock: clock)
    let final = Lock<Run?>(nil)
    pump.start(
      whenEnding: { [endings] in endings.withLock { $0 += 1 } },
      whenFinished: { run in final.withLock { $0 = run } })
    feed.begin(1)
    feed.post(.stopRequested(.terminate, by: .signal))
    state(0, .cancelled(by: .signal))
    feed.post(.runFinished(RunSummary()))
    #expect(eventually { final.withLock { $0?.summary != nil } })
    #expect(endings.withLock { $0 } == 0)
  }

  @Test func anEarlierWakeReplacesALaterOne() {
    let wish = Lock<Duration?>(.seconds(10))
    let wakes = Lock<[Duration]>([])
    let pump = ReportPump(feed, reports: [WakingReport(wish: wish, wakes: wakes)], clock: clock)
    start(pump)
    feed.begin(1)
    #expect(eventually { clock.due == [.seconds(10)] })
    wish.withLock { $0 = .seconds(4) }
    pump.poke()
    #expect(eventually { clock.due == [.seconds(4)] })
    // A later one is set when the alarm turns out to be too early.
    wish.withLock { $0 = .seconds(7) }
    pump.poke()
    clock.advance(by: .seconds(4))
    #expect(clock.due == [.seconds(7)])
    #expect(wakes.withLock { $0.isEmpty })
    clock.advance(by: .seconds(10))
    #expect(wakes.withLock { $0 } == [.seconds(7)])
    #expect(clock.due.isEmpty)
    withExtendedLifetime(pump) {}
  }

  // MARK: The condition

  private func isMet() -> [Bool] {
    [ReportPump.EndCondition.complete, .stopped, .never].map { $0.isMet(by: feed.run) }
  }

  @Test func aCompleteRunNeedsNoPerson() {
    #expect(isMet() == [false, false, false])
    feed.begin(2)
    state(0, .succeeded(upToDate: false))
    #expect(isMet() == [false, false, false])
    state(1, .succeeded(upToDate: false))
    #expect(isMet() == [true, false, false])
    feed.post(.runFinished(RunSummary()))
    #expect(isMet() == [false, false, false])
  }

  @Test(arguments: [(JobState.Canceller.signal, true), (.person, false)])
  func aStoppedRunEndsWhenItsLastExecutingJobHas(actor: JobState.Canceller, endsView: Bool) {
    feed.begin(2)
    state(0, .executing)
    feed.post(.stopRequested(.terminate, by: actor))
    #expect(isMet() == [false, false, false])
    state(0, .cancelled(by: actor))
    #expect(isMet() == [true, endsView, false])
  }
}

/// A report that wants to be woken once, when the test says.
private struct WakingReport: Report {
  let wish: Lock<Duration?>
  let wakes: Lock<[Duration]>

  func receive(_ event: JobEvent, before: JobState?, in run: Run) {}
  func flush() {}
  func wakeTime(in run: Run) -> Duration? { wish.withLock { $0 } }

  func wake(at now: Duration, in run: Run) {
    wish.withLock { $0 = nil }
    wakes.withLock { $0.append(now) }
  }
}
