import Foundation
import Operations

/// Submits, observes and cancels the cluster jobs of one run.
///
/// One query covers all jobs, at an interval of at least a second and at least five times the last query's duration.
/// Submissions are paced, similar jobs become an array, and one call cancels many jobs. The observer waits for a
/// controller that is down. Any thread may call the methods; no thread waits for Slurm.
package final class SlurmObserver: @unchecked Sendable {
  // Safe: every variable is used on `queue` only.

  /// The pace of the calls to Slurm.
  package struct Settings: Sendable {
    /// The maximum number of jobs in Slurm at once.
    package var inFlight = 1000
    /// The maximum number of jobs in an array; halved when the cluster allows fewer.
    package var arraySize = 1000
    /// The minimum time between the beginnings of two submissions.
    package var submissionInterval = Duration.milliseconds(50)
    /// How long the first submission waits for similar jobs.
    package var gatherTime = Duration.milliseconds(20)
    /// The minimum time between two queries.
    package var queryInterval = Duration.seconds(1)
    /// The minimum time between two queries for `endingTime` after jobs were cancelled.
    package var endingInterval = Duration.milliseconds(200)
    package var endingTime = Duration.seconds(2)
    /// The time between two queries while the controller is down.
    package var downInterval = Duration.seconds(2)
    /// The delay before the next submission when Slurm accepts no more jobs for now.
    package var fullInterval = Duration.seconds(10)
    /// How long after an outage the controller may end jobs that it mistakes for others.
    package var outageTime = Duration.seconds(60)
    /// How long to wait for the exit file of a job that Slurm has abandoned.
    package var orphanTime = Duration.seconds(30)
    /// The total number of submissions of a job that the controller loses before it begins.
    package var submissions = 3

    package init() {}
  }

  /// The run's name, as encoded in comments.
  package let run: String
  package let files: SlurmFiles
  let runner: any SlurmRunner
  let clock: any OperationClock
  let queue = DispatchQueue(label: "opdash.slurm", qos: .userInitiated)

  var settings: Settings
  /// Jobs that have not ended.
  var known: [SlurmIdentity: FollowedJob] = [:]
  /// How many jobs were followed so far.
  private var count = 0
  /// Jobs waiting for their submission, in order.
  var waiting: [FollowedJob] = []
  /// Jobs that Slurm has, or may have.
  var active: [SlurmIdentity: FollowedJob] = [:]
  /// The jobs of arrays, by the array's name and the index.
  var batches: [String: [SlurmIdentity]] = [:]
  /// Arrays whose lists could not be read since the last query.
  var unreadableBatches: Set<String> = []
  /// The arrays that this observer has submitted; it follows all of their jobs.
  var ownArrays: Set<Int> = []
  /// The size of the next array; halved when the cluster is full, doubled after a success.
  var arrayLimit = Int.max
  /// The nodes that have begun to execute attempts, if read since the last query.
  var claimants: Set<String>?
  /// Whether any attempt has left a file, if read since the last query.
  var hasFiles: Bool?
  /// Redundant jobs of followed attempts, which have not begun.
  var surplus: Set<SlurmJobID> = []

  var controller = SlurmController.answers
  /// When the controller answered again after an outage.
  var outageEnd: Duration?
  var listeners: [@Sendable (SlurmController) -> Void] = []

  /// Slurm's sentence while it accepts no more jobs.
  var shortage: String?
  var isSubmitting = false
  var submissionTimer: (any OperationTimer)?
  var nextSubmission = Duration.zero

  var isQuerying = false
  var queryTimer: (timer: any OperationTimer, due: Duration)?
  var nextQuery = Duration.zero
  /// Like `nextQuery`, after jobs were cancelled.
  var nextQueryOfEnds = Duration.zero
  /// When Slurm last accepted a cancellation.
  var cancelTime: Duration?

  var isResolving = false
  var hasAccounting = true

  var isControlling = false
  /// When the last call of that kind was answered.
  var controlTime = Duration.zero
  var controlTimer: (any OperationTimer)?

  /// Creates the observer of a run whose name appears in the comments of its jobs.
  ///
  /// `folder` is an absolute path on the file system that the nodes share, used by this run alone.
  package init(
    run: String, folder: String, settings: Settings = Settings(), runner: any SlurmRunner = SystemSlurmRunner(),
    clock: any OperationClock = .system
  ) {
    self.run = SlurmIdentity.encoded(run)
    files = SlurmFiles(folder: folder)
    self.settings = settings
    self.runner = runner
    self.clock = clock
  }

  /// The identity of an attempt of the run.
  package func identity(job: String, attempt: Int) -> SlurmIdentity {
    SlurmIdentity(encodedRun: run, job: SlurmIdentity.encoded(job), attempt: attempt)
  }

  // MARK: From any thread

  /// Submits and observes a job; `report` is called on the observer's queue, last with `ended`, and `note` with lines for
  /// the log.
  ///
  /// A job that `mayExist` may have been submitted by another process: it is searched for, and submitted if it is not
  /// found.
  func follow(
    _ job: SlurmJob, mayExist: Bool, isPaused: Bool, report: @escaping @Sendable (SlurmStatus) -> Void,
    note: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    queue.async { [self] in
      let followed = FollowedJob(job, isPaused: isPaused, report: report, note: note)
      guard known[job.identity] == nil else {
        return finish(followed, SlurmOutcome(.refused("this attempt was submitted before in this run")))
      }
      guard let problem = job.problem else { return begin(followed, mayExist: mayExist) }
      finish(followed, SlurmOutcome(.refused(problem)))
    }
  }

  private func begin(_ followed: FollowedJob, mayExist: Bool) {
    known[followed.identity] = followed
    count += 1
    followed.order = count
    followed.mayExist = mayExist
    if mayExist {
      followed.halt = files.halt(of: followed.identity)
      search(for: followed)
    } else {
      waiting.append(followed)
      if let shortage { followed.tell(.full(shortage)) }
      requestSubmission(after: settings.gatherTime)
    }
  }

  /// Cancels a job; it ends when Slurm reports the end, or at once if it was not submitted.
  ///
  /// A running job receives its stop signal, and SIGKILL after its grace.
  func cancel(_ identity: SlurmIdentity) {
    change(identity) {
      $0.isCancelWanted = true
      if $0.job.stop.signal == SIGKILL { $0.isKillWanted = true }
    }
  }

  /// Cancels a job with SIGKILL at once.
  func kill(_ identity: SlurmIdentity) {
    change(identity) {
      $0.isCancelWanted = true
      $0.isKillWanted = true
    }
  }

  /// Stops a job with SIGSTOP, or prevents its start, until it is resumed.
  func setPaused(_ isPaused: Bool, _ identity: SlurmIdentity) { change(identity) { $0.isPauseWanted = isPaused } }

  private func change(_ identity: SlurmIdentity, _ body: @escaping @Sendable (FollowedJob) -> Void) {
    queue.async { [self] in
      guard let followed = known[identity] else { return }
      body(followed)
      if active[identity] != nil {
        requestControl()
      } else if followed.isCancelWanted {
        waiting.removeAll { $0 === followed }
        endCancelled(followed)
      } else {
        requestSubmission(after: .zero)
      }
    }
  }

  /// Adds a handler that is called on the observer's queue with the state of the controller: now, and at each change.
  package func whenControllerChanges(_ body: @escaping @Sendable (SlurmController) -> Void) {
    queue.async { [self] in
      listeners.append(body)
      body(controller)
    }
  }

  // MARK: On the queue

  /// Ends a job that is not waiting for its submission.
  func finish(_ followed: FollowedJob, _ outcome: SlurmOutcome) {
    if known[followed.identity] === followed {
      known[followed.identity] = nil
      active[followed.identity] = nil
    }
    followed.phase = .ended
    // An earlier submission, which Slurm had lost, may still be back.
    if outcome.end == .cancelled, followed.mostJobs > 1 { _ = files.withdraw(followed.identity) }
    var outcome = outcome
    if !outcome.nodes.isEmpty { outcome.took = files.exit(of: followed.identity)?.took }
    if followed.mayExist, !followed.status.isOnNodes, let id = outcome.id, let took = outcome.took {
      followed.tell(.found(id, after: took))
    }
    followed.tell(.ended(outcome))
    if !waiting.isEmpty { requestSubmission(after: .zero) }
  }

  /// Ends a cancelled job that waits for its submission.
  ///
  /// Slurm may have lost an earlier submission and find it again: it executes nothing, or is cancelled if it has begun.
  func endCancelled(_ followed: FollowedJob) {
    guard followed.mostJobs == 0 || files.withdraw(followed.identity) else { return search(for: followed) }
    finish(followed, SlurmOutcome(.cancelled))
  }

  /// Queries the controller for every job of the run, including ended ones; `done` is called on the observer's queue.
  ///
  /// For a run that is resumed: jobs whose attempts are followed with `mayExist` are found without this call.
  package func find(_ done: @escaping @Sendable (Result<[FoundSlurmJob], SlurmFault>) -> Void) {
    runner.run(SlurmRecord.query) { [self] answer in
      queue.async {
        if answer.isWithoutController { self.controllerIsDown(since: self.clock.now, answer) }
        guard answer.isSuccess else { return done(.failure(SlurmFault(answer.fault))) }
        let records = answer.output.lines.compactMap { SlurmRecord(queueLine: $0) }
        done(
          .success(
            records.compactMap { record in
              self.identity(of: record).map { FoundSlurmJob(identity: $0, id: record.id, state: record.state) }
            }))
      }
    }
  }

  /// Notes that the controller has not answered a call that began at `time`.
  func controllerIsDown(since time: Duration, _ answer: SlurmAnswer) {
    guard case .answers = controller else { return }
    set(.down(since: time, fault: answer.fault))
    requestQuery(after: settings.downInterval)
  }

  func controllerAnswers() {
    guard case .down = controller else { return }
    // Jobs that a killed controller has forgotten may have left their numbers to others: cancellations and kills are
    // sent again, after a query.
    for followed in active.values {
      followed.isCancelSent = false
      followed.isKillSent = false
    }
    surplus = []
    ownArrays = []
    outageEnd = clock.now
    set(.answers)
    requestSubmission(after: .zero)
  }

  private func set(_ controller: SlurmController) {
    self.controller = controller
    for listener in listeners { listener(controller) }
  }

  /// Whether an outage of the controller ended a short time ago.
  var isAfterOutage: Bool { outageEnd.map { clock.now - $0 < settings.outageTime } ?? false }

  var isControllerDown: Bool { if case .down = controller { true } else { false } }
}
