import Foundation
import Operations
import Processes

/// Runs a program as a job of a Slurm cluster and finishes when the job has ended.
///
/// The result is the outcome of a job that exited with status 0. The operation fails with a `SlurmFailure` for any
/// other end, and with a `CancellationError` if it was cancelled, unless the job had already succeeded. The job's
/// output is logged as it is written, all of it before the operation ends.
///
/// The job continues when this process dies; an operation with the same identity and `mayExist` follows it.
package final class SlurmOperation: ResultOperation<SlurmOutcome>, ControllableOperation, @unchecked Sendable {
  // Safe: the lock guards the state, and only the follower uses the log file.

  private struct Standing {
    var isFollowed = false
    var isPaused = false
    var mustKill = false
    var status = SlurmStatus.waiting
    var isUpToDate = false
  }

  private let job: SlurmJob
  private let observer: SlurmObserver
  private let mayExist: Bool
  private let check: OutputCheck?
  private let log: LogOptions
  private let standing = Lock(Standing())

  /// The uses of the output besides its lines, as in a `ShellOperation`.
  ///
  /// They are a copy without secrets that replaces the file at `outputPath`, the pattern of the progress, searches in
  /// the lines, and the longest time without output that the caller allows.
  package struct LogOptions {
    var file: LogFile?
    var keepsShort: Bool
    var progress: String?
    var watches: [OutputWatch]
    var silence: Duration?

    package init(
      file: LogFile? = nil, keepsShort: Bool = true, progress: String? = nil, watches: [OutputWatch] = [],
      silence: Duration? = nil
    ) {
      self.file = file
      self.keepsShort = keepsShort
      self.progress = progress
      self.watches = watches
      self.silence = silence
    }
  }

  /// - Parameters:
  ///   - job: The program, with the identity of its attempt.
  ///   - observer: The observer of the run.
  ///   - mayExist: Whether another process may have submitted the attempt, so that it is searched for first.
  ///   - check: A check before the submission; if it finds nothing to do, the operation succeeds.
  ///   - log: The uses of the output besides its lines.
  package init(
    _ job: SlurmJob, on observer: SlurmObserver, mayExist: Bool = false, check: OutputCheck? = nil,
    log: LogOptions = LogOptions()
  ) {
    self.job = job
    self.observer = observer
    self.mayExist = mayExist
    self.check = check
    self.log = log
    super.init()
    name = job.name
  }

  /// Whether the check found nothing to do.
  package var isUpToDate: Bool { standing.withLock(\.isUpToDate) }

  /// The status of the job.
  package var status: SlurmStatus { standing.withLock(\.status) }

  /// The file of the job's output on the shared file system.
  package var outputPath: String { observer.files.outputPath(of: job.identity) }

  /// Submits the job; the queue calls it.
  package override func main() {
    guard let check else { return submit() }
    // Not a global queue: once used, dispatch's global pool wakes every second to count its threads.
    DispatchQueue(label: "opdash.check", qos: .userInitiated).async { [self] in
      let answer = check.begin { self.isCancelled }
      if isCancelled { return finish(.failure(CancellationError())) }
      if let note = answer.note { self.note(note) }
      guard answer.isUpToDate else {
        submit()
        // A cancellation before this had no effect: the observer did not know the job.
        if isCancelled { didCancel() }
        return
      }
      standing.withLock { $0.isUpToDate = true }
      finish(.success(SlurmOutcome(.exited(0))))
    }
  }

  private func submit() {
    let follower = OutputFollower(
      path: outputPath, secrets: job.secrets, for: self, file: log.file, keepsShort: log.keepsShort,
      progress: log.progress, watches: log.watches, silence: log.silence, clock: observer.clock)
    // Under the lock so that no pause reaches the observer first.
    standing.withLock { standing in
      standing.isFollowed = true
      observer.follow(
        job, mayExist: mayExist, isPaused: standing.isPaused, report: { self.take($0, follower) },
        note: { [weak self] in self?.note($0) })
    }
  }

  private func take(_ status: SlurmStatus, _ follower: OutputFollower) {
    let before = standing.withLock { exchange(&$0.status, with: status) }
    // The end in Slurm too comes before the last lines of the log.
    post(.placed(status))
    switch status {
    case .waiting, .full, .pending, .found: break
    case .submitted(let id):
      let chosen = SlurmEnvironment.words(for: job.resources)
      let with = chosen.isEmpty ? "" : ", with \(chosen.joined(separator: ", ")) of the environment"
      note("submitted as job \(id)\(with)")
    case .running(let id, let nodes):
      if case .suspended = before { return note("job \(id) continues") }
      note("job \(id) runs on \(nodes)")
      follower.start(on: nodes)
    case .suspended(let id, _): note("job \(id) is suspended in Slurm: its time limits are suspended too")
    case .requeued(let id): note("job \(id) was requeued in Slurm, and begins again")
    case .ended(let outcome):
      follower.finish(
        on: outcome.nodes, hasSucceeded: outcome.end == .exited(0), mayBeAbsent: !outcome.end.hasOutput
      ) { self.end(outcome, isKept: $0) }
    }
  }

  private func note(_ text: String) { log([OperationLogLine(text: text, source: .note)]) }

  /// Ends the operation; with `isKept`, the shared file is no longer needed.
  private func end(_ outcome: SlurmOutcome, isKept: Bool) {
    if isKept { unlink(outputPath) }
    if outcome.end == .exited(0) {
      if let note = check?.end() { self.note(note) }
      finish(.success(outcome))
    } else if isCancelled {
      finish(.failure(CancellationError()))
    } else {
      finish(.failure(SlurmFailure(outcome.end, id: outcome.id)))
    }
  }

  /// Cancels the job; the queue calls it.
  package override func didCancel() {
    if standing.withLock(\.mustKill) { observer.kill(job.identity) } else { observer.cancel(job.identity) }
  }

  /// Cancels the job with SIGKILL to all of its processes at once.
  package func kill() {
    standing.withLock { $0.mustKill = true }
    cancel()
    if standing.withLock(\.isFollowed) { observer.kill(job.identity) }
  }

  /// Stops every process of the job until `resume()`; a job that has not started is held or not submitted.
  ///
  /// The job's time limit keeps running, and the job keeps its nodes.
  package func pause() { setPaused(true) }

  /// Ends a pause.
  package func resume() { setPaused(false) }

  private func setPaused(_ isPaused: Bool) {
    standing.withLock { standing in
      standing.isPaused = isPaused
      if standing.isFollowed { observer.setPaused(isPaused, job.identity) }
    }
  }
}

extension SlurmEnd {
  /// Whether the job has certainly begun, so that an output file exists.
  fileprivate var hasOutput: Bool {
    switch self {
    case .exited, .signalled, .outOfMemory, .timeLimit: true
    case .nodeFailure, .preempted, .cancelled, .refused, .notStarted, .lost: false
    }
  }
}
