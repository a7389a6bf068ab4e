import Dashboard
import Foundation
import JobModel
import NcursesTerminal
import Operations
import Screen

/// A terminal that counts its frames.
@MainActor
final class CountingTerminal: Terminal {
  private let terminal: any Terminal
  private(set) var frames = 0

  init(_ terminal: any Terminal) { self.terminal = terminal }

  var size: Size { terminal.size }
  func open(_ receive: @escaping @MainActor (TerminalInput) -> Void) throws { try terminal.open(receive) }
  func present(_ frame: Frame) {
    frames += 1
    terminal.present(frame)
  }
  func invalidate() { terminal.invalidate() }
  func setTitle(_ title: TerminalText) { terminal.setTitle(title) }
  func setProgress(_ percent: Int?, failed: Bool) { terminal.setProgress(percent, failed: failed) }
  func copy(_ text: TerminalText) { terminal.copy(text) }
  func setMouse(_ enabled: Bool) { terminal.setMouse(enabled) }
  func notify(_ notice: EndNotice, _ text: TerminalText) { terminal.notify(notice, text) }
  func suspend() { terminal.suspend() }
  func close() { terminal.close() }
}

/// A number of jobs with a number of changes a second, which are stated by a thread of their own: the rest of the process's
/// CPU time is the dashboard's.
@MainActor
final class Load {
  private struct Produced {
    var facts = 0
    var cpu = 0.0
    var isOver = false
  }

  private let feed = Feed()
  private let terminal: CountingTerminal
  private let dashboard: TerminalDashboard
  private let jobs: Int
  private let rate: Int
  private let seconds: Double
  private let report: String
  private let produced = Lock(Produced())

  init(jobs: Int, rate: Int, seconds: Double, report: String) {
    (self.jobs, self.rate, self.seconds, self.report) = (jobs, rate, seconds, report)
    let traits = ScreenTraits(isASCII: false, palette: .many)
    terminal = CountingTerminal(NcursesTerminal(traits: traits, environment: ProcessInfo.processInfo.environment))
    dashboard = TerminalDashboard(feed: feed, terminal: terminal, traits: traits)
    feed.begin(
      (0..<jobs).map { Job(name: "job-\($0)", work: .simulate(SimulatedWork(duration: .milliseconds(500)))) },
      slots: 1000, at: .zero)
  }

  func run() throws {
    try dashboard.run { _ in exit(1) }
    let (feed, rate, produced, life) = (feed, rate, produced, Life(jobs: jobs))
    let end = seconds + Self.warmUp
    Thread {
      // Safe: this thread alone has it.
      nonisolated(unsafe) var life = life
      let began = feed.elapsed
      var stated = 0
      while case let time = feed.elapsed - began, time < .seconds(end) {
        let due = Int(time / .seconds(1) * Double(rate))
        feed.post((stated..<max(stated, due)).compactMap { _ in life.next() }, at: feed.elapsed)
        stated = max(stated, due)
        let cpu = Self.seconds(CLOCK_THREAD_CPUTIME_ID)
        let facts = stated
        produced.withLock { ($0.facts, $0.cpu) = (facts, cpu) }
        usleep(5000)
      }
      produced.withLock { $0.isOver = true }
    }.start()
    DispatchQueue.main.asyncAfter(deadline: .now() + Self.warmUp) { MainActor.assumeIsolated { self.measure() } }
  }

  /// Seconds until the first jobs have ended; before, there is less to draw.
  private nonisolated static let warmUp = 2.0

  private func measure() {
    let before = (reading: read(), frames: terminal.frames, time: feed.elapsed)
    DispatchQueue.main.asyncAfter(deadline: .now() + seconds - 0.5) {
      MainActor.assumeIsolated {
        let (after, frames) = (self.read(), self.terminal.frames)
        let time = (self.feed.elapsed - before.time) / .seconds(1)
        let lines = [
          "changes a second\t\(Double(after.facts - before.reading.facts) / time)",
          "cores\t\((after.cpu - before.reading.cpu) / time)",
          "frames a second\t\(Double(frames - before.frames) / time)",
        ]
        try? lines.joined(separator: "\n").write(toFile: self.report, atomically: true, encoding: .utf8)
        self.dashboard.close()
        exit(0)
      }
    }
  }

  /// The number of events stated, and the CPU time of all threads but the one that states them.
  private func read() -> (facts: Int, cpu: Double) {
    let produced = produced.withLock { $0 }
    return (produced.facts, Self.seconds(CLOCK_PROCESS_CPUTIME_ID) - produced.cpu)
  }

  private nonisolated static func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// The events of jobs, a thousand jobs at a time: ready, executing, two progress reports, an end.
///
/// One job in a hundred fails, and the one after it is skipped.
struct Life {
  private let jobs: Int
  private var open: [(job: Int, step: Int)] = []
  private var begun = 0
  private var turn = 0

  init(jobs: Int) { self.jobs = jobs }

  /// Nil once all jobs have ended.
  mutating func next() -> JobFact? {
    if open.count < 1000, begun < jobs {
      open.append((begun, 0))
      begun += 1
    }
    guard !open.isEmpty else { return nil }
    turn = (turn + 1) % open.count
    let (job, step) = open[turn]
    let id = JobID(job)
    open[turn].step += 1
    if job % 100 == 51, step == 0 {
      open.remove(at: turn)
      return .jobState(id, .skipped(because: .job(JobID(job - 1))), attempt: 0, pid: nil)
    }
    switch step {
    case 0: return .jobState(id, .ready(for: .slot), attempt: 0, pid: nil)
    case 1: return .jobState(id, .executing, attempt: 1, pid: nil)
    case 2, 3: return .jobProgress(id, JobProgress(done: Int64(step - 1), total: 3, unit: .steps))
    default:
      open.remove(at: turn)
      let failure = JobFailure(.exit(1), "exit 1")
      return .jobState(
        id, job % 100 == 50 ? .failed(failure, allowed: false) : .succeeded(upToDate: false), attempt: 1, pid: nil)
    }
  }
}
