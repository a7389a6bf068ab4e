/// Where a job stands; each case carries what only it can know.
package enum JobState: Sendable, Equatable {
  /// Its needs are not met yet; which ones is in `JobRecord.unmetNeeds`.
  case waiting
  /// It could start now, were there room.
  case ready(for: Room)
  case executing
  /// A person holds it; `started` tells an attempt in progress from a job that has not begun.
  case paused(started: Bool)
  /// A retry starts at `until`, seconds on the run's clock; `number` of `limit` retries.
  case backingOff(until: Duration, number: Int, limit: Int, after: JobFailure)
  case succeeded(upToDate: Bool)
  /// The last attempt failed and no retry follows; `allowed` if the run may succeed all the same.
  case failed(JobFailure, allowed: Bool)
  case cancelled(by: Canceller)
  /// A need can no longer be met; `because` is the job that caused it, at the root of a chain of skips.
  case skipped(because: JobID)

  package enum Room: Sendable, Equatable {
    case slot
    case pool(String)
  }

  package enum Canceller: String, Sendable {
    case person
    case signal
    case policy
    /// The program that the operation is part of.
    case program
  }

  /// Whether nothing more happens to the job unless a person retries it.
  package var isTerminal: Bool {
    switch self {
    case .waiting, .ready, .executing, .paused, .backingOff: false
    case .succeeded, .failed, .cancelled, .skipped: true
    }
  }

  /// Whether an attempt is in progress: it executes or was paused while it did.
  package var isActive: Bool {
    switch self {
    case .executing, .paused(started: true): true
    default: false
    }
  }

  /// Whether a dependent that needs it `ok` may start.
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
