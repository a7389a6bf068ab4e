import Foundation
import Operations
import Processes

/// Runs a program as a job of a Slurm cluster, and finishes when the job has ended.
///
/// The result is the outcome of a job that exited with the status 0. The operation fails with a `SlurmFailure` for any other
/// end, and with a `CancellationError` if it was cancelled, unless the job has succeeded before. The job's output is logged
/// as it is written, all of it before the end.
///
/// The job goes on when this process dies; an operation of the same identity that `mayExist` follows it.
package final class SlurmOperation: ResultOperation<SlurmOutcome>, ControllableOperation, @unchecked Sendable {
  // Safe: the state is behind the lock, and the log file is used by the follower only.

  private struct Standing {
    var isFollowed = false
    var isPaused = false
    var mustKill = false
    var status = SlurmStatus.waiting
    var whenStatusChanges: (@Sendable (SlurmStatus) -> Void)?
    var isUpToDate = false
  }

  private let job: SlurmJob
  private let observer: SlurmObserver
  private let mayExist: Bool
  private let check: OutputCheck?
  private let log: LogTerms
  private let standing = Lock(Standing())

  /// What is made of the output besides lines, as by a `ShellOperation`: the copy in the place of the file at `outputPath`,
  /// without secrets, the pattern of the progress, and searches in the lines.
  package struct LogTerms {
    var file: LogFile?
    var keepsShort: Bool
    var progress: String?
    var watches: [OutputWatch]

    package init(
      file: LogFile? = nil, keepsShort: Bool = true, progress: String? = nil, watches: [OutputWatch] = []
    ) {
      self.file = file
      self.keepsShort = keepsShort
      self.progress = progress
      self.watches = watches
    }
  }

  /// - Parameters:
  ///   - job: The program, with the identity of its attempt.
  ///   - observer: That of the run.
  ///   - mayExist: Whether the attempt was perhaps submitted by another process, so that it is searched for first.
  ///   - check: What is asked before the submission; with its word that there is nothing to do the operation succeeds.
  ///   - log: What is made of the output.
  package init(
    _ job: SlurmJob, on observer: SlurmObserver, mayExist: Bool = false, check: OutputCheck? = nil,
    log: LogTerms = LogTerms()
  ) {
    self.job = job
    self.observer = observer
    self.mayExist = mayExist
    self.check = check
    self.log = log
    super.init()
    name = job.name
  }

  /// Whether the check has found nothing to do.
  package var isUpToDate: Bool { standing.withLock(\.isUpToDate) }

  /// Where the job stands.
  package var status: SlurmStatus { standing.withLock(\.status) }

  /// The file of the job's output on the shared file system.
  package var outputPath: String { observer.files.outputPath(of: job.identity) }

  /// Has `body` called on the observer's queue at each change of the job's status, `ended` included, which comes before
  /// the last lines of the log and the end of the operation.
  package func whenStatusChanges(_ body: @escaping @Sendable (SlurmStatus) -> Void) {
    standing.withLock { $0.whenStatusChanges = body }
  }

  /// Has the job submitted; the queue calls it.
  package override func main() {
    guard let check else { return submit() }
    // Not a global queue: once dispatch's global pool has been used it wakes every second to count its threads.
    DispatchQueue(label: "opdash.check", qos: .userInitiated).async { [self] in
      let answer = check.begin { self.isCancelled }
      if isCancelled { return finish(.failure(CancellationError())) }
      if let note = answer.note { log([OperationLogLine(text: note, source: .note)]) }
      guard answer.isUpToDate else {
        submit()
        // The observer has not known the job before.
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
      progress: log.progress, watches: log.watches, clock: observer.clock)
    // Under the lock, so that no pause overtakes it.
    standing.withLock { standing in
      standing.isFollowed = true
      observer.follow(job, mayExist: mayExist, isPaused: standing.isPaused) { self.take($0, follower) }
    }
  }

  private func take(_ status: SlurmStatus, _ follower: OutputFollower) {
    let body = standing.withLock { standing in
      standing.status = status
      return standing.whenStatusChanges
    }
    body?(status)
    switch status {
    case .waiting, .pending: break
    case .submitted(let id):
      let chosen = SlurmEnvironment.words(for: job.resources)
      let with = chosen.isEmpty ? "" : ", with \(chosen.joined(separator: ", ")) of the environment"
      log([OperationLogLine(text: "submitted as job \(id)\(with)", source: .note)])
    case .running(let id, let nodes):
      log([OperationLogLine(text: "job \(id) runs on \(nodes)", source: .note)])
      follower.start(on: nodes)
    case .requeued(let id):
      log([OperationLogLine(text: "job \(id) was requeued in Slurm, and begins again", source: .note)])
    case .ended(let outcome):
      follower.finish(
        on: outcome.nodes, hasSucceeded: outcome.end == .exited(0), mayBeAbsent: !outcome.end.hasOutput
      ) { self.end(outcome, isKept: $0) }
    }
  }

  /// With `isKept` the shared file is not needed any more.
  private func end(_ outcome: SlurmOutcome, isKept: Bool) {
    if isKept { unlink(outputPath) }
    if outcome.end == .exited(0) {
      if let note = check?.end() { log([OperationLogLine(text: note, source: .note)]) }
      finish(.success(outcome))
    } else if isCancelled {
      finish(.failure(CancellationError()))
    } else {
      finish(.failure(SlurmFailure(outcome.end, id: outcome.id)))
    }
  }

  /// Has the job cancelled; the queue calls it.
  package override func didCancel() {
    if standing.withLock(\.mustKill) { observer.kill(job.identity) } else { observer.cancel(job.identity) }
  }

  /// Cancels, with SIGKILL to every process of the job at once.
  package func kill() {
    standing.withLock { $0.mustKill = true }
    cancel()
    if standing.withLock(\.isFollowed) { observer.kill(job.identity) }
  }

  /// Stops every process of the job until `resume()`; a job that has not started is held, or not submitted.
  ///
  /// The job's time limit goes on, and so does its use of the nodes.
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
  /// Whether the job has begun for sure, so that there is an output file.
  fileprivate var hasOutput: Bool {
    switch self {
    case .exited, .signalled, .outOfMemory, .timeLimit: true
    case .nodeFailure, .preempted, .cancelled, .refused, .notStarted, .lost: false
    }
  }
}
