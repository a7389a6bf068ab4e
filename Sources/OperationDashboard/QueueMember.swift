import Foundation
import JobModel
import Operations

/// One operation of the observed queue, and what has been told of it so far.
final class QueueMember: @unchecked Sendable {
  // Safe: the constants below are set before it is shared; the rest is touched only on the feed's engine.

  let id: JobID
  /// What the program made.
  let operation: Operation
  /// What is observed: the program's own where it is one of ours, its wrapper where it is not; nil where neither.
  let observed: AsyncOperation?
  let visibility: OperationWork.Visibility
  /// Set once, before the engine knows the member.
  var tokens: [ObservationToken] = []

  // ---- touched only on the engine
  /// What was stated last.
  var state = JobState.waiting
  /// Where the operation stands, whether or not it is held.
  var stands = AsyncOperation.State.pending
  var hasBegun = false
  var isHeld = false
  var isOver = false
  /// Who asked for its end first.
  var canceller: JobState.Canceller?

  init(id: JobID, operation: Operation, observed: AsyncOperation?, visibility: OperationWork.Visibility) {
    self.id = id
    self.operation = operation
    self.observed = observed
    self.visibility = visibility
  }

  /// What is in the queue.
  var queued: Operation { observed ?? operation }

  /// Whether it has been cancelled, has begun or has finished, and nothing has been told of it yet.
  var isBehind: Bool {
    !hasBegun && !state.isTerminal && (queued.isCancelled || queued.isExecuting || queued.isFinished)
  }

  var attempt: Int { hasBegun ? 1 : 0 }

  /// The state to show for where it stands.
  var standing: JobState {
    if isHeld { return .paused(started: hasBegun) }
    switch stands {
    case .pending: return .waiting
    case .ready: return .ready(for: .slot)
    case .executing, .finished: return .executing
    }
  }

  /// How it ended, asked for when it has finished.
  var outcome: JobState {
    if let ours = operation as? AsyncOperation {
      // One that gave a success has done its work, however late somebody cancelled it.
      guard let error = ours.failure else { return .succeeded(upToDate: false) }
      if !(error is CancellationError) { return .failed(JobFailure(of: error), allowed: false) }
      return .cancelled(by: canceller ?? .program)
    }
    if operation.isCancelled { return .cancelled(by: canceller ?? .program) }
    return .succeeded(upToDate: false)
  }
}
