import JobModel

extension Scheduler {
  /// One job's place in the schedule.
  struct Node {
    var state = JobState.waiting
    var unmet: Int
    var priority: JobPriority
    /// Attempts that have begun, over the whole run.
    var attempts = 0
    /// Retries since the job was first started, or a person last asked for one.
    var retries = 0
    var ticket: Int?
    /// What is asked of an admitted attempt before it is known whether it has begun.
    var canceller: JobState.Canceller?
    var mustKill = false
    var mustPause = false
    var hasTimedOut = false
    var deadline: Duration?
    /// What the deadline was short of when the attempt was paused.
    var timeLeft: Duration?
    /// Grows whenever the job enters or leaves the ready ones, so that old heap entries are void.
    var stamp = 0
    var isWithdrawing = false
  }
}
