import Dashboard
import Foundation
import JobModel
import NcursesTerminal
import Operations
import Screen

/// Forty jobs, eight of which execute; one bar advances by a cell a second, and a mark is written after each frame.
///
/// The mark is a title with the number of the frame, so that a reader can separate the bytes of the frames: frames with odd
/// numbers show that a second has passed, those with even ones the bar.
@MainActor
final class Steps {
  private let feed: Feed
  private let clock = ManualOperationClock()
  private let dashboard: TerminalDashboard
  private let size: Size
  private var frames = 0

  init(isASCII: Bool) {
    feed = Feed(clock: clock)
    let traits = ScreenTraits(isASCII: isASCII, palette: .many)
    let terminal = NcursesTerminal(traits: traits, environment: ProcessInfo.processInfo.environment)
    size = terminal.size
    dashboard = TerminalDashboard(feed: feed, terminal: terminal, traits: traits, clock: clock)
    let jobs = (0..<40).map { Job(name: "job-\($0)", work: .simulate(SimulatedWork(duration: .seconds(600)))) }
    feed.begin(jobs, slots: 8, at: .zero)
  }

  func run() throws {
    feed.post((0..<8).map { .jobState(JobID($0), .executing, attempt: 1, pid: nil) }, at: .seconds(60))
    for second in 61...70 {
      let now = Self.report(second)
      feed.post(others(second), at: now)
      if second > 68 { feed.post([.jobProgress(JobID(1), progress(100 * (second - 69)))], at: now) }
    }
    advance(to: Self.report(70))
    try dashboard.run { _ in }
    step(1)
  }

  /// Progress in 1400 steps: a hundred of them are a cell of the bar at 80 columns.
  private func progress(_ done: Int) -> JobProgress { JobProgress(done: Int64(done), total: 1400, unit: .steps) }

  /// The time of the progress reports of a second.
  private static func report(_ second: Int) -> Duration { .seconds(second) + .milliseconds(300) }

  /// The progress of all jobs but the one below the cursor's.
  private func others(_ second: Int) -> [JobFact] {
    (0..<8).filter { $0 != 1 }.map { .jobProgress(JobID($0), progress((second - 60) * (5 + $0))) }
  }

  /// Advances by a second: a frame shows the time and the progress of the others, another that of the job below the
  /// cursor's.
  private func step(_ number: Int) {
    guard number <= 12 else {
      dashboard.close()
      exit(0)
    }
    advance(to: .seconds(70 + number))
    show(others(70 + number)) {
      self.advance(to: Self.report(70 + number))
      self.show([.jobProgress(JobID(1), self.progress(100 * (number + 1)))]) { self.step(number + 1) }
    }
  }

  /// Draws a frame with the facts, then calls `body`.
  private func show(_ facts: [JobFact], _ body: @escaping @MainActor () -> Void) {
    feed.post(facts, at: clock.now)
    // After the events, which are delivered on the same queue.
    DispatchQueue.main.async {
      MainActor.assumeIsolated {
        self.clock.advance(by: .milliseconds(10))
        self.mark()
        body()
      }
    }
  }

  /// Fires the dashboard's alarms up to a time of the run.
  private func advance(to time: Duration) { clock.advance(by: time - clock.now) }

  private func mark() {
    frames += 1
    FileHandle.standardOutput.write(Data("\u{1B}]2;frame \(frames)\u{1B}\\".utf8))
  }
}
