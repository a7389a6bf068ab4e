/// The state of a job, with the data that only this state has.
package enum JobState: Sendable, Equatable {
  /// Some needs are not met; `JobRecord.unmetNeeds` counts them.
  case waiting
  /// All needs are met; a slot, a pool, a person's approval or the cluster is missing.
  case ready(for: Room)
  case executing
  /// A service that executes and can be used.
  case serving
  /// Paused by a person; `started` if an attempt is in progress.
  case paused(started: Bool)
  /// Retry `number` of `limit` starts at `until` on the run's clock.
  indirect case backingOff(until: Duration, number: Int, limit: Int, after: JobFailure)
  case succeeded(upToDate: Bool)
  /// The last attempt failed and no retry follows; `allowed` if the run can succeed nevertheless.
  indirect case failed(JobFailure, allowed: Bool)
  case cancelled(by: Canceller)
  case skipped(because: SkipCause)

  package enum Room: Sendable, Equatable {
    case slot
    case pool(String)
    /// A person must approve it.
    case person
    /// The job was submitted to the cluster, whose scheduler gives this reason for the wait, if one is known.
    case cluster(reason: String?)
  }

  package enum SkipCause: Sendable, Equatable {
    /// A need can no longer be met; this job is at the root of the chain of skips.
    case job(JobID)
    /// Its own condition does not hold.
    case condition
    /// The job is for another outcome of the run.
    case outcome
    /// The job is a service, and all jobs that need it have ended.
    case unneeded
    /// The job starts only when a person asks for it.
    case manual
  }

  package enum Canceller: String, Sendable {
    case person
    case signal
    case policy
    /// The program whose operation it is.
    case program
    /// The time limit of the run; where an attempt is being ended, any limit.
    case timeout
    /// The job is a service, and no job needs it any more.
    case unneeded
    /// Another attempt follows at once: a person has asked for it, or a file that the job reads has changed.
    case restart
  }

  /// Whether the job has ended; only a retry changes the state again.
  package var isTerminal: Bool {
    switch self {
    case .waiting, .ready, .executing, .serving, .paused, .backingOff: false
    case .succeeded, .failed, .cancelled, .skipped: true
    }
  }

  /// Whether an attempt is in progress, paused or not.
  package var isActive: Bool {
    switch self {
    case .executing, .serving, .paused(started: true): true
    default: false
    }
  }

  /// Whether an attempt waits for the cluster.
  package var isWithCluster: Bool { if case .ready(.cluster) = self { true } else { false } }

  /// Whether it meets the condition `ok`.
  package var isOK: Bool {
    switch self {
    case .succeeded, .failed(_, allowed: true): true
    default: false
    }
  }

  /// Whether it ended by failing, allowed or not.
  package var isFailure: Bool {
    if case .failed = self { return true }
    return false
  }
}

extension JobNeed.Condition {
  /// Whether a job in `state` satisfies the condition.
  package func isMet(by state: JobState) -> Bool {
    switch self {
    case .ok: state.isOK
    case .finished, .anyFailed: state.isTerminal
    case .failed: state.isFailure
    case .notOK: state.isTerminal && !state.isOK
    case .ready: state == .serving
    }
  }

  /// Whether a job that ended in `state` can no longer satisfy it.
  package func isRuledOut(by state: JobState) -> Bool { state.isTerminal && !isMet(by: state) }
}
