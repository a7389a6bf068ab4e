import Dispatch
import JobModel
import Operations
import Reports
import Support
import Testing

@testable import Session

@Suite struct ReportPumpTests {
  /// A clock that stands still until the test moves it.
  private final class ManualClock: Sendable {
    private struct State {
      var now: Duration = .seconds(1000)
      var wakes: [(at: Duration, queue: DispatchQueue, body: @Sendable () -> Void)] = []
    }

    private let state = Lock(State())

    var wakes: [Duration] { state.withLock { $0.wakes.map(\.at) } }

    var clock: WakeClock {
      WakeClock(
        now: { self.state.withLock { $0.now } },
        wake: { wait, queue, body in self.state.withLock { $0.wakes.append(($0.now + wait, queue, body)) } })
    }

    func advance(by time: Duration) {
      let due = state.withLock { state in
        state.now += time
        let due = state.wakes.filter { $0.at <= state.now }
        state.wakes.removeAll { $0.at <= state.now }
        return due
      }
      for wake in due { wake.queue.async(execute: wake.body) }
    }
  }

  private let feed = FakeFeed()
  private let text = Lock("")
  private let clock = ManualClock()
  private let settled = Lock(0)

  private func pump(_ settling: ReportPump.Settling = .whenComplete) -> ReportPump {
    let report = PlainReport(paint: Paint(isColoured: false)) { [text] bytes in
      text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
    }
    return ReportPump(feed, reports: [report], settling: settling, clock: clock.clock)
  }

  private func start(_ pump: ReportPump) {
    pump.start(whenSettled: { [settled] in settled.withLock { $0 += 1 } }, whenOver: { _ in })
  }

  private func state(_ id: Int, _ state: JobState) { feed.post(.jobState(JobID(id), state, attempt: 1, pid: nil)) }

  @Test func theRunIsSettledOnceWhenAllJobsHaveEnded() {
    let pump = pump()
    let over = Lock(0)
    pump.start(
      whenSettled: { [settled, feed] in
        settled.withLock { $0 += 1 }
        feed.post(.runFinished(RunSummary()))
      }, whenOver: { _ in over.withLock { $0 += 1 } })
    feed.begin(2)
    state(0, .succeeded(upToDate: false))
    #expect(settled.withLock { $0 } == 0)
    state(1, .succeeded(upToDate: false))
    #expect(eventually { over.withLock { $0 } == 1 })
    #expect(settled.withLock { $0 } == 1)
    #expect(text.withLock { $0 }.hasSuffix("\ntest: 2 ok in 0.0s\n"))
    #expect(eventually { feed.readers == 0 })
  }

  @Test func aStoppedRunIsSettledWhenNothingExecutes() {
    let pump = pump()
    start(pump)
    feed.begin(2)
    state(0, .executing)
    feed.post(.stopRequested(.terminate, by: .signal))
    state(0, .cancelled(by: .signal))
    #expect(eventually { settled.withLock { $0 } == 1 })
    withExtendedLifetime(pump) {}
  }

  @Test func withADashboardOnlyASignalSettlesTheRun() {
    let pump = pump(.whenStopped)
    start(pump)
    feed.begin(1)
    state(0, .succeeded(upToDate: false))
    #expect(eventually { text.withLock { $0 }.contains("+ job0") })
    #expect(settled.withLock { $0 } == 0)
    feed.post(.stopRequested(.terminate, by: .signal))
    #expect(eventually { settled.withLock { $0 } == 1 })
    withExtendedLifetime(pump) {}
  }

  @Test func silenceWakesTheReportOnTheRunsClock() {
    let pump = pump()
    start(pump)
    feed.begin(1)
    feed.post(.jobState(JobID(0), .executing, attempt: 1, pid: nil), at: .seconds(3))
    // The first facts came at 0, the last at 3: the clock that stands still shows that the run began 3 s ago.
    #expect(eventually { text.withLock { $0 }.contains("job0") })
    #expect(eventually { clock.wakes.count == 1 })
    clock.advance(by: .seconds(10))
    #expect(eventually { text.withLock { $0 }.contains("00:13.0   1 running: job0 10.0s; 0 of 1 done") })
    #expect(eventually { clock.wakes.count == 1 })
    withExtendedLifetime(pump) {}
  }

  @Test func neverMoreThanOneWakeIsOnItsWay() {
    let pump = pump()
    start(pump)
    feed.begin(50)
    for id in 0..<50 { state(id, .executing) }
    #expect(eventually { text.withLock { $0 }.contains("job49") })
    #expect(eventually { clock.wakes.count == 1 })
    withExtendedLifetime(pump) {}
  }
}
