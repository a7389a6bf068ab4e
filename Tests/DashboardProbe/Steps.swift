import Dashboard
import Foundation
import JobModel
import NcursesTerminal
import Screen

/// A clock that stands where the script has put it; its alarms never ring by themselves.
@MainActor
final class ScriptClock: DashboardClock {
  var now: Duration = .zero
  private var fire: (@MainActor () -> Void)?

  func setAlarm(at time: Duration?, _ fire: @escaping @MainActor () -> Void) { self.fire = time == nil ? nil : fire }

  func ring() {
    let fire = fire
    self.fire = nil
    fire?()
  }
}

/// Forty jobs, eight of them at work; one bar advances by a cell a second, and a mark is written behind each frame.
///
/// The mark is a title that says which frame it was, so that who reads can tell the bytes of one frame from the next: frames
/// with odd numbers show that a second has gone by, those with even ones the bar.
@MainActor
final class Steps {
  private let feed = Feed()
  private let clock = ScriptClock()
  private let dashboard: Dashboard
  private let size: Size
  private var frames = 0

  init(isASCII: Bool) {
    let traits = ScreenTraits(isASCII: isASCII, palette: .many)
    let terminal = NcursesTerminal(traits: traits, environment: ProcessInfo.processInfo.environment)
    size = terminal.size
    dashboard = Dashboard(feed: feed, terminal: terminal, traits: traits, clock: clock)
    let jobs = (0..<40).map { Job(name: "job-\($0)", work: .simulate(SimulatedWork(duration: .seconds(600)))) }
    feed.begin(jobs, slots: 8, at: .zero)
  }

  func run() throws {
    clock.now = .seconds(60)
    feed.post((0..<8).map { .jobState(JobID($0), .executing, attempt: 1, pid: nil) }, at: clock.now)
    for second in 61...70 {
      let now = Self.report(second)
      feed.post((0..<8).filter { $0 != 1 }.map { .jobProgress(JobID($0), progress((second - 60) * (5 + $0))) }, at: now)
      if second > 68 { feed.post([.jobProgress(JobID(1), progress(100 * (second - 69)))], at: now) }
    }
    clock.now = Self.report(70)
    try dashboard.run { _ in }
    step(1)
  }

  /// The job's progress, in 1400 steps: a hundred of them are a cell of the bar at 80 columns.
  private func progress(_ done: Int) -> JobProgress { JobProgress(done: Int64(done), total: 1400, unit: .steps) }

  /// Reports come some time after the second.
  private static func report(_ second: Int) -> Duration { .seconds(second) + .milliseconds(300) }

  /// One second more: the frame that shows how late it is, and then the one of the report of the job below the cursor's.
  private func step(_ number: Int) {
    guard number <= 12 else {
      dashboard.close()
      exit(0)
    }
    clock.now = .seconds(70 + number)
    clock.ring()
    mark()
    clock.now = Self.report(70 + number)
    feed.post([.jobProgress(JobID(1), progress(100 * (number + 1)))], at: clock.now)
    // Behind the facts, which are on their way on the same queue.
    DispatchQueue.main.async {
      MainActor.assumeIsolated {
        self.clock.now += .milliseconds(10)
        self.clock.ring()
        self.mark()
        self.step(number + 1)
      }
    }
  }

  private func mark() {
    frames += 1
    FileHandle.standardOutput.write(Data("\u{1B}]2;frame \(frames)\u{1B}\\".utf8))
  }
}
