/// What an observer knows of one job.
final class FollowedJob: @unchecked Sendable {
  // Safe: used on the observer's queue only.

  enum Phase: Equatable {
    case waiting
    /// sbatch has been called and has not answered.
    case submitting
    /// Slurm may have it: it was submitted, or may have been.
    case submitted
    case ended
  }

  /// How it is kept from executing.
  enum Hold {
    case none
    case held
    case suspended
  }

  let job: SlurmJob
  let report: @Sendable (SlurmStatus) -> Void
  var phase = Phase.waiting
  var status = SlurmStatus.waiting
  /// Nil before sbatch has told it, and while a job that may exist is searched for.
  var id: SlurmJobID?
  /// When Slurm has taken it, in Slurm's words, which tell it from another job that gets its number; nil before the first answer
  /// of squeue.
  var submitTime: String?
  /// When it was submitted, or since when it is searched for.
  var since = Duration.zero
  /// Why it is refused if it is not found, although sbatch has failed; nil if it is submitted again then.
  var refusal: String?
  var submissions = 0
  /// In how many answers in a row it was missing.
  var misses = 0
  /// The job that executes the attempt, once there have been several: the others don't count.
  var claimant: SlurmJobID?
  var last: SlurmRecord?
  /// Since when its exit file is waited for, because Slurm has given its first start up and it may still be executing.
  var orphanSince: Duration?
  /// When its exit file was looked for although Slurm says that it executes, and whether it was there.
  var look: (time: Duration, hasEnded: Bool)?
  /// The name that it was submitted with.
  var submittedName = ""

  var isPauseWanted: Bool
  var isCancelWanted = false
  var isKillWanted = false
  var hold = Hold.none
  /// Whether this run may have held or suspended the job, by this process or another; a hold by someone else is not released.
  var mayBeHeld = false
  var isCancelSent = false
  /// Whether the stop signal was sent.
  var isStopSent = false
  /// Whether Slurm has passed it on: the program's success, if it has any, is that of a program which was stopped.
  var isStopped = false
  var isKillSent = false

  init(_ job: SlurmJob, isPaused: Bool, report: @escaping @Sendable (SlurmStatus) -> Void) {
    self.job = job
    self.report = report
    isPauseWanted = isPaused
  }

  var identity: SlurmIdentity { job.identity }

  /// Forgets the job that Slurm had, before another one is submitted.
  func forgetSubmission() {
    id = nil
    submitTime = nil
    refusal = nil
    misses = 0
    claimant = nil
    last = nil
    orphanSince = nil
    look = nil
    hold = .none
    mayBeHeld = false
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
