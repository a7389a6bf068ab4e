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
    feed.post((0..<8).map { .jobState(JobID($0), .executing, attempt: 1, pid: nil) }, at: .seconds(45))
    // The others report so seldom that their rates don't fall while they are silent.
    for (second, count) in [(46, 0), (66, 10)] {
      let others = (0..<8).filter { $0 != 1 }
      feed.post(others.map { .jobProgress(JobID($0), progress(count * (5 + $0))) }, at: Self.report(second))
    }
    for second in 69...70 {
      feed.post([.jobProgress(JobID(1), progress(100 * (second - 69)))], at: Self.report(second))
    }
    advance(to: Self.report(70))
    try dashboard.run { _ in }
    step(1)
  }

  /// Progress in 1400 steps: a hundred of them are a cell of the bar at 80 columns.
  private func progress(_ done: Int) -> JobProgress { JobProgress(done: Int64(done), total: 1400, unit: .steps) }

  /// The time of the progress reports of a second.
  private static func report(_ second: Int) -> Duration { .seconds(second) + .milliseconds(300) }

  /// Advances by a second: a frame shows the time, and another the progress of the job below the cursor's.
  private func step(_ number: Int) {
    guard number <= 12 else {
      dashboard.close()
      exit(0)
    }
    advance(to: .seconds(70 + number))
    mark()
    advance(to: Self.report(70 + number))
    feed.post([.jobProgress(JobID(1), progress(100 * (number + 1)))], at: clock.now)
    // After the event, which is delivered on the same queue.
    DispatchQueue.main.async {
      MainActor.assumeIsolated {
        self.clock.advance(by: .milliseconds(10))
        self.mark()
        self.step(number + 1)
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
