import Dashboard
import Dispatch
import Foundation
import JobEngine
import JobModel
import Operations
import Screen

/// A dashboard that draws a run into values: 500 jobs of which eight execute, with a report of each of these in every second.
@MainActor
final class ShownRun {
  /// What is drawn, in order.
  var frames: [Frame] { terminal.frames }

  private let feed = ToldFeed()
  private let clock = ManualOperationClock()
  private let terminal = FrameList()
  private let dashboard: TerminalDashboard
  private var second = 0

  init(jobs: Int) {
    dashboard = TerminalDashboard(
      feed: feed, terminal: terminal, traits: ScreenTraits(isASCII: false, palette: .many), clock: clock)
    let start = RunStart(id: "1", name: "jobs", slots: 8, at: Date(timeIntervalSince1970: 0), jobs: jobs)
    let all = (0..<jobs).map { Job(name: "job-\($0)", work: .simulate(SimulatedWork(duration: .seconds(600)))) }
    feed.tell([.runStarted(start)] + all.enumerated().map { .jobAdded(JobID($0), $1) }, at: .zero)
    feed.tell((0..<8).map { .jobState(JobID($0), .executing, attempt: 1, pid: nil) }, at: .zero)
    do { try dashboard.run { _ in } } catch { fatalError("\(error)") }
  }

  /// Shows so many seconds of the run.
  func advance(by seconds: Int) {
    for _ in 0..<seconds {
      second += 1
      let done = Int64(second)
      feed.tell(
        (0..<8).map { .jobProgress(JobID($0), JobProgress(done: done * Int64($0 + 1), total: 5000, unit: .steps)) },
        at: .seconds(second))
      let count = frames.count
      clock.advance(by: .seconds(1))
      precondition(frames.count > count, "a second without a frame")
    }
  }
}

/// A feed that calls its subscriber at once, without a queue.
private final class ToldFeed: JobFeed {
  private let journal = Lock(RunJournal())
  private let receiver = Lock<(@Sendable ([JobEvent]) -> Void)?>(nil)
  private let time = Lock(Duration.zero)

  var elapsed: Duration { time.withLock(\.self) }

  func subscribe(on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void) -> JobSubscription {
    receiver.withLock { $0 = receive }
    return JobSubscription(snapshot: journal.withLock { $0.run }) {}
  }

  /// Ignored: nobody presses a key.
  func send(_ command: JobCommand) {}

  func tell(_ facts: [JobFact], at now: Duration) {
    time.withLock { $0 = now }
    let events = journal.withLock { journal in
      journal.advance(to: now)
      for fact in facts { journal.state(fact) }
      return journal.takeEvents()
    }
    receiver.withLock(\.self)?(events)
  }
}

/// A terminal that keeps its frames.
@MainActor
private final class FrameList: Terminal {
  private(set) var frames: [Frame] = []

  var size: Size { Size(width: 120, height: 40) }
  func open(_ receive: @escaping @MainActor (TerminalInput) -> Void) throws {}
  func present(_ frame: Frame) { frames.append(frame) }
  func invalidate() {}
  func setTitle(_ title: TerminalText) {}
  func setProgress(_ percent: Int?, failed: Bool) {}
  func copy(_ text: TerminalText) {}
  func setMouse(_ enabled: Bool) {}
  func notify(_ notice: EndNotice, _ text: TerminalText) {}
  func suspend() {}
  func close() {}
}
