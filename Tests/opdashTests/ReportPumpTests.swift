import Dispatch
import JobModel
import Operations
import Reports
import Support
import Testing

@testable import opdash

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

  private func pump(_ finish: ReportPump.Finish = .whenComplete) -> ReportPump {
    let report = PlainReport(paint: Paint(isColoured: false)) { [text] bytes in
      text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
    }
    return ReportPump(feed, reports: [report], finish: finish, clock: clock.clock)
  }

  private func state(_ id: Int, _ state: JobState) { feed.post(.jobState(JobID(id), state, attempt: 1, pid: nil)) }

  @Test func theRunIsAskedOnceToFinishWhenAllJobsHaveEnded() {
    let pump = pump()
    let over = Lock(0)
    feed.onCommand { feed, command in if command == .finish { feed.post(.runFinished(RunSummary())) } }
    pump.start { _ in over.withLock { $0 += 1 } }
    feed.begin(2)
    state(0, .succeeded(upToDate: false))
    #expect(feed.commands.isEmpty)
    state(1, .succeeded(upToDate: false))
    #expect(eventually { over.withLock { $0 } == 1 })
    #expect(feed.commands == [.finish])
    #expect(text.withLock { $0 }.hasSuffix("\ntest: 2 ok in 0.0s\n"))
    #expect(eventually { feed.readers == 0 })
  }

  @Test func aStoppedRunIsFinishedWhenNothingExecutes() {
    let pump = pump()
    pump.start { _ in }
    feed.begin(2)
    state(0, .executing)
    feed.post(.stopRequested(.terminate, by: .signal))
    state(0, .cancelled(by: .signal))
    #expect(eventually { feed.commands == [.finish] })
  }

  @Test func withADashboardOnlyASignalFinishesTheRun() {
    let pump = pump(.whenStopped)
    pump.start { _ in }
    feed.begin(1)
    state(0, .succeeded(upToDate: false))
    #expect(eventually { text.withLock { $0 }.contains("+ job0") })
    #expect(feed.commands.isEmpty)
    feed.post(.stopRequested(.terminate, by: .signal))
    #expect(eventually { feed.commands == [.finish] })
  }

  @Test func silenceWakesTheReportOnTheRunsClock() {
    let pump = pump()
    pump.start { _ in }
    feed.begin(1)
    feed.post(.jobState(JobID(0), .executing, attempt: 1, pid: nil), at: .seconds(3))
    // The first facts came at 0, the last at 3: the clock that stands still shows that the run began 3 s ago.
    #expect(eventually { clock.wakes.count == 1 })
    clock.advance(by: .seconds(10))
    #expect(eventually { text.withLock { $0 }.contains("00:13.0   1 running: job0 10.0s; 0 of 1 done") })
    #expect(eventually { clock.wakes.count == 1 })
    withExtendedLifetime(pump) {}
  }

  @Test func neverMoreThanOneWakeIsOnItsWay() {
    let pump = pump()
    pump.start { _ in }
    feed.begin(50)
    for id in 0..<50 { state(id, .executing) }
    #expect(eventually { text.withLock { $0 }.contains("job49") })
    #expect(eventually { clock.wakes.count == 1 })
    withExtendedLifetime(pump) {}
  }
}
