/// A kind of call to Slurm for jobs that it has accepted, in the order of urgency.
enum SlurmRequest: CaseIterable {
  case surplus
  case kill
  case stop
  case cancel
  case suspend
  case proceed
  case hold
  case release
}

/// The observer's state of one job.
final class FollowedJob: @unchecked Sendable {
  // Safe: used on the observer's queue only.

  enum Phase: Equatable {
    case waiting
    /// sbatch has been called and has not answered.
    case submitting
    /// Slurm may have the job: it was submitted, or may have been.
    case submitted
    case ended
  }

  /// The way a job is kept from executing.
  enum Hold {
    case none
    case held
    case suspended
  }

  let job: SlurmJob
  /// The name of the array that the job may be in, which all of its jobs have in common.
  let arrayName: String
  let report: @Sendable (SlurmStatus) -> Void
  /// Takes a line for the log.
  let note: @Sendable (String) -> Void
  var phase = Phase.waiting
  var status = SlurmStatus.waiting
  /// Nil until sbatch has reported it, and while a job that may exist is searched for.
  ///
  /// An attempt may have several jobs: signals and requests that another one has received don't count for this one.
  var id: SlurmJobID? {
    didSet { if oldValue != nil, id != oldValue { forgetNumber() } }
  }
  /// The submission time in Slurm's notation; nil before the first answer of squeue.
  ///
  /// The time distinguishes the job from another one that gets its number.
  var submitTime: String?
  /// When the job was submitted, or when the search for it began.
  var since = Duration.zero
  /// The refusal to report if sbatch failed and the job is not found; nil if the job is then submitted again.
  var refusal: String?
  var submissions = 0
  /// Whether another process may have submitted it.
  var mayExist = false
  /// The number of consecutive answers without the job.
  var misses = 0
  /// The job that executes the attempt, once there have been several: the others don't count.
  var claimant: SlurmJobID?
  var last: SlurmRecord?
  /// When the wait for the exit file began: Slurm has abandoned the first start, which may still be executing.
  var orphanSince: Duration?
  /// The last check for an exit file while Slurm lists the job as executing: its time, and whether the file existed.
  var look: (time: Duration, hasEnded: Bool)?
  /// The position among the jobs of the observer; lost jobs are submitted again in this order.
  var order = 0
  var submittedName = ""

  var isPauseWanted: Bool
  var isCancelWanted = false
  var isKillWanted = false
  var hold = Hold.none
  /// The hold or stop of the job by this run, in this process or another; a hold by someone else is not released.
  var halt = SlurmFiles.Halt()
  /// The requests that Slurm has refused since the last query; they are made again after the next one.
  var refused: Set<SlurmRequest> = []
  /// The last refusal in the log.
  var notedFault: String?
  var isCancelSent = false
  /// Whether the stop signal was sent.
  var isStopSent = false
  /// Whether Slurm has delivered the stop signal; if the program then succeeds, it counts as cancelled.
  var isStopped = false
  var isKillSent = false

  init(
    _ job: SlurmJob, isPaused: Bool, report: @escaping @Sendable (SlurmStatus) -> Void,
    note: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.job = job
    arrayName = job.resources.name ?? Self.arrayName(of: job.name)
    self.note = note
    self.report = report
    isPauseWanted = isPaused
  }

  /// A name without its bracket or the number at its end, such as `build` for `build[linux]` and `part` for `part12`.
  static func arrayName(of name: String) -> String {
    var short = name.prefix { $0 != "[" }
    if short.count == name.count { while short.last?.isNumber == true { short.removeLast() } }
    return short.isEmpty ? name : String(short)
  }

  var identity: SlurmIdentity { job.identity }

  /// Whether someone else holds the job, which waits.
  var isHeldByOthers: Bool {
    guard hold == .none, let last, last.state == .pending, last.isHeld else { return false }
    // A pause may have held it, and may have released it after the last query.
    return !(halt.isStanding && last.reason == SlurmRecord.userHold)
  }

  /// How many jobs Slurm may have accepted for the attempt, also in an earlier process.
  var mostJobs: Int { submissions + (mayExist ? 1 : 0) }

  /// Forgets the job that Slurm had, before another one is submitted.
  func forgetSubmission() {
    id = nil
    forgetNumber()
    refusal = nil
    misses = 0
    claimant = nil
    last = nil
    orphanSince = nil
    look = nil
    halt = SlurmFiles.Halt()
  }

  /// Forgets the facts about the job with the number, and the requests that Slurm has received for it.
  private func forgetNumber() {
    submitTime = nil
    hold = .none
    refused = []
    isCancelSent = false
    isStopSent = false
    isStopped = false
    isKillSent = false
  }

  func tell(_ status: SlurmStatus) {
    guard self.status != status else { return }
    self.status = status
    report(status)
  }
}
