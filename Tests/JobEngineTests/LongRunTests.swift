import Dispatch
import JobModel
import Operations
import Reports
import Screen
import Support
import Testing

@testable import Dashboard
@testable import JobEngine

/// A day of a run by the manual clock: what is kept of it grows no more after the first hours.
struct LongRunTests {
  private static let step = Duration.seconds(60)
  private static let hour = Int(Duration.seconds(3600) / step)

  private static let graph: JobGraph = {
    func job(_ name: String, _ duration: Duration, steps: Int = 1, needs: [Int] = []) -> Job {
      let work = SimulatedWork(duration: duration, steps: steps, failRate: 0, seed: 1)
      return Job(name: name, work: .simulate(work), needs: needs.map { JobNeed(JobID($0)) }, timeout: .seconds(360_000))
    }
    var again = job("again", .seconds(5))
    again.work = .simulate(SimulatedWork(duration: .seconds(5), steps: 1, failRate: 1, seed: 1))
    again.retry = RetryPolicy(max: 1_000_000)
    // A day is not enough for any of them.
    return JobGraph(
      name: "long",
      jobs: [
        job("steady", .seconds(90_000), steps: 9000), again, job("held", .seconds(90_000), steps: 9000),
        job("last", .seconds(1), needs: [0]),
      ])
  }()

  /// A dashboard without a terminal, and every report.
  private struct Readers {
    var model = Model(run: Run(), size: Size(width: 160, height: 50))
    var reports = ReportSet([
      PlainReport(paint: Paint(isColoured: true)) { _ in }, JSONReport { _ in }, TraceReport { _ in },
      QuietReport(paint: Paint(isColoured: true)) { _ in },
    ])

    mutating func take(_ events: [JobEvent], now: Duration) {
      _ = Update.apply(.facts(events), to: &model, now: now)
      reports.receive(events)
      reports.wake(at: now)
      FramePreparation.prepare(&model, now: now)
    }

    /// Draws every panel, each of which keeps something of its own.
    mutating func draw(now: Duration) {
      for panel in Panel.allCases {
        model.setPanel(panel)
        _ = Update.apply(.tick, to: &model, now: now)
        FramePreparation.prepare(&model, now: now)
        _ = View.frame(model, ScreenTraits(isASCII: true, palette: .none), now: now)
      }
    }
  }

  @Test func aDayKeepsNoMoreThanItsFirstHalf() throws {
    let clock = ManualOperationClock()
    let queue = try JobQueue(Self.graph, options: .init(slots: 4, seed: 1), clock: clock)
    let arrived = Lock<[JobEvent]>([])
    let newest = Lock(0)
    let subscription = queue.subscribe(on: DispatchQueue(label: "test")) { batch in
      arrived.withLock { $0 += batch }
      newest.withLock { $0 = batch.last?.seq ?? $0 }
    }
    defer { subscription.cancel() }
    var readers = Readers()
    readers.model.showLog(of: .merged)
    readers.model.log.query = "line"
    queue.start()
    #expect(eventually { queue.run.counts.executing == 3 && clock.due.count >= 3 })
    // By hour of the day.
    var kept: [[String: Int]] = []
    for round in 1...24 * Self.hour {
      clock.advance(by: Self.step)
      queue.stream.queue.sync {
        queue.stream.dateByClock()
        for number in 1...12 { queue.stream.state(.jobLog(JobID(0), attempt: 1, LogLine(.stdout, "line \(number)"))) }
      }
      queue.send(round.isMultiple(of: 2) ? .resume([JobID(2)]) : .pause([JobID(2)]))
      // However busy the machine is, the job that fails has its next timer, so that each step of the clock brings it on.
      try #require(eventually { Self.mayAdvance(queue, clock) })
      readers.take(take(arrived), now: queue.elapsed)
      guard round.isMultiple(of: Self.hour) else { continue }
      #expect(eventually { newest.withLock { $0 } == queue.run.nextSeq - 1 })
      readers.take(take(arrived), now: queue.elapsed)
      readers.draw(now: queue.elapsed)
      var counts = queue.stream.queue.sync { KeptElements(of: queue).counts }
      counts.merge(KeptElements(of: readers.model).counts.map { ("dashboard.\($0)", $1) }) { $1 }
      counts.merge(KeptElements(of: readers.reports).counts.map { ("reports.\($0)", $1) }) { $1 }
      counts["timers"] = clock.due.count
      kept.append(counts)
    }
    let run = queue.run
    #expect(run.counts.active >= 2 && run.time >= .seconds(86_000))
    #expect(try #require(run.jobs[1].attempt?.number) > 600, "the job has been retried all day")
    #expect(run.jobs[0].log.total == 24 * 720)
    // What is looked at must be found.
    let logs = "stream.journal.run.jobs.details.box.value.log.storage"
    for path in [logs, "scheduler.alarms.elements", "dashboard.events.kept"] {
      #expect(kept.last?[path] != nil, "\(kept.last?.keys.sorted() ?? [])")
    }
    for path in Set(kept.flatMap(\.keys)).sorted() {
      // Elements are dropped in bulk: the most of several hours is compared.
      let counts = kept.map { $0[path] ?? 0 }
      let (before, after) = (counts[6..<15].max() ?? 0, counts[15...].max() ?? 0)
      let limit =
        if path.hasPrefix("dashboard.events.") {
          // The newest events are as many as are in a day.
          EventList.capacity * 2
        } else if path.hasSuffix(".rates.samples") {
          // Of all jobs: now and then a second one has some at the instant of the count.
          RateHistory.capacity * run.jobs.count
        } else {
          before + before / 4 + 16
        }
      #expect(after <= limit, "\(path): \(counts)")
    }
  }

  /// Whether the job that fails waits for the clock: it backs off, or its attempt of five seconds has its timer.
  private static func mayAdvance(_ queue: JobQueue, _ clock: ManualOperationClock) -> Bool {
    if case .backingOff = queue.settled().jobs[1].state { return true }
    return clock.due.contains { $0 <= clock.now + .seconds(5) }
  }

  private func take(_ arrived: borrowing Lock<[JobEvent]>) -> [JobEvent] {
    arrived.withLock { events in
      defer { events = [] }
      return events
    }
  }
}
