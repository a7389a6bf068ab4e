import Foundation
import Operations
import Support

@testable import Slurm

/// An observer with a Slurm of the test's own, a manual clock and what was told of each job.
final class Bench: Sendable {
  let slurm: FakeSlurm
  let clock: ManualOperationClock
  let folder: TemporaryFolder
  let observer: SlurmObserver
  private let told = Lock<[String: [SlurmStatus]]>([:])
  private let noted = Lock<[String: [String]]>([:])
  let controller = Lock<[SlurmController]>([])

  init(_ settings: SlurmObserver.Settings = .init()) throws {
    slurm = FakeSlurm()
    clock = ManualOperationClock()
    folder = try TemporaryFolder()
    let path = folder.file("jobs").path()
    observer = SlurmObserver(run: "run 1", folder: path, settings: settings, runner: slurm, clock: clock)
    observer.whenControllerChanges { [controller] state in controller.withLock { $0.append(state) } }
  }

  /// Another observer of the same run, folder and Slurm, as after a crash.
  init(after other: Bench) {
    slurm = other.slurm
    clock = other.clock
    folder = other.folder
    observer = SlurmObserver(run: "run 1", folder: folder.file("jobs").path(), runner: slurm, clock: clock)
  }

  func job(
    _ name: String, attempt: Int = 1, _ resources: SlurmResources = SlurmResources(), stop: SlurmJob.Stop = .init()
  ) -> SlurmJob {
    SlurmJob(
      observer.identity(job: name, attempt: attempt), name: name, arguments: ["true"], directory: "/",
      resources: resources, stop: stop)
  }

  func follow(
    _ name: String, _ resources: SlurmResources = SlurmResources(), mayExist: Bool = false, isPaused: Bool = false,
    stop: SlurmJob.Stop = .init()
  ) {
    let (told, noted) = (told, noted)
    observer.follow(
      job(name, resources, stop: stop), mayExist: mayExist, isPaused: isPaused,
      report: { status in told.withLock { $0[name, default: []].append(status) } },
      note: { text in noted.withLock { $0[name, default: []].append(text) } })
    settle()
  }

  func identity(_ name: String) -> SlurmIdentity { observer.identity(job: name, attempt: 1) }
  func notes(_ name: String) -> [String] { noted.withLock { $0[name] ?? [] } }
  func statuses(_ name: String) -> [SlurmStatus] { told.withLock { $0[name] ?? [] } }

  func end(_ name: String) -> SlurmEnd? {
    guard case .ended(let outcome)? = statuses(name).last else { return nil }
    return outcome.end
  }

  /// Does all that is due now.
  func settle() {
    for _ in 0..<8 { observer.queue.sync {} }
  }

  func advance(_ duration: Duration) {
    // In steps: what is asked at an instant is answered at that instant.
    let step = Duration.milliseconds(10)
    var left = duration
    while left > .zero {
      clock.advance(by: min(step, left))
      settle()
      left -= step
    }
  }

  /// As `advance`, and what is asked at an instant is answered at that instant, whenever it is.
  func advance(exactly duration: Duration) {
    settle()
    let end = clock.now + duration
    while let due = clock.due.first, due <= end {
      clock.advance(by: max(.zero, due - clock.now))
      settle()
    }
    clock.advance(by: end - clock.now)
    settle()
  }

  /// The instants of the queries for all jobs in the time that comes, in milliseconds; all of them are multiples of 5.
  func queryTimes(for duration: Duration) -> [Int] {
    var times: [Int] = []
    let end = clock.now + duration
    while clock.now < end {
      let before = slurm.queries
      advance(exactly: .milliseconds(5))
      times += Array(repeating: Int((clock.now / .milliseconds(1)).rounded()), count: slurm.queries - before)
    }
    return times
  }

  /// Makes the clock and Slurm forget the observer, as if its process had died.
  func abandon() {
    observer.queue.sync {
      for timer in [observer.submissionTimer, observer.controlTimer, observer.queryTimer?.timer] { timer?.cancel() }
      observer.known = [:]
      observer.active = [:]
      observer.waiting = []
    }
  }

  /// The attempt that a job is of.
  func identity(ofComment job: FakeSlurm.Job) -> SlurmIdentity? {
    switch SlurmIdentity.Comment(job.comment) {
    case .job(let identity): return identity
    case .batch(let run, let name):
      guard let index = job.id.index, let batch = observer.files.batch(named: name, run: run) else { return nil }
      return batch[index]
    case nil: return nil
    }
  }

  func write(_ text: String, to identity: SlurmIdentity, _ ending: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: observer.files.path(of: identity) + ending))
  }

  /// Writes a file of an attempt as its script does.
  func write(_ text: String, to name: String, _ ending: String) throws {
    _ = observer.files.makeFolder()
    try Data(text.utf8).write(to: URL(fileURLWithPath: observer.files.path(of: identity(name)) + ending))
  }
}
