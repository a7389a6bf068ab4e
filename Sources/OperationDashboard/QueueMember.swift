import Foundation
import JobModel
import Operations

/// One operation of the observed queue, and what has been stated about it.
final class QueueMember: @unchecked Sendable {
  // Safe: the constants and `tokens` are set before it is shared; the rest is touched only on the stream's queue.

  let id: JobID
  /// The program's operation.
  let operation: Operation
  /// The observed operation: the program's own or its wrapper; nil for a foreign one that was in the queue already.
  let observed: AsyncOperation?
  let visibility: OperationWork.Visibility
  /// Set once, before the member is taken in.
  var tokens: [ObservationToken] = []

  // ---- touched only on the stream's queue
  /// The state that was stated last.
  var state = JobState.waiting
  /// The state that was observed last.
  var stands = AsyncOperation.State.pending
  var hasBegun = false
  var isHeld = false
  var isOver = false
  /// Who asked first for its end.
  var canceller: JobState.Canceller?

  init(id: JobID, operation: Operation, observed: AsyncOperation?, visibility: OperationWork.Visibility) {
    self.id = id
    self.operation = operation
    self.observed = observed
    self.visibility = visibility
  }

  /// The operation that is in the queue.
  var queued: Operation { observed ?? operation }

  /// Whether it was cancelled, has begun or has finished, and that has not been delivered yet.
  var isBehind: Bool {
    !hasBegun && !state.isTerminal && (queued.isCancelled || queued.isExecuting || queued.isFinished)
  }

  var attempt: Int { hasBegun ? 1 : 0 }

  /// The job's state for the observed state of the operation.
  var standing: JobState {
    if isHeld { return .paused(started: hasBegun) }
    switch stands {
    case .pending: return .waiting
    case .ready: return .ready(for: .slot)
    case .executing, .finished: return .executing
    }
  }

  /// The job's state once the operation has finished.
  var outcome: JobState {
    if let ours = operation as? AsyncOperation {
      // A success stands, however late the operation was cancelled.
      guard let error = ours.failure else { return .succeeded(upToDate: false) }
      if !(error is CancellationError) { return .failed(JobFailure(of: error), allowed: false) }
      return .cancelled(by: canceller ?? .program)
    }
    if operation.isCancelled { return .cancelled(by: canceller ?? .program) }
    return .succeeded(upToDate: false)
  }
}
