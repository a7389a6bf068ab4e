import Foundation
import JobEngine
import JobModel
import Operations

/// One operation of the observed queue, which is an attempt of its job, and its last stated and observed states.
final class QueueMember: @unchecked Sendable {
  // Safe: the constants and `tokens` are set before it is shared; the rest is touched only on the stream's queue.

  /// Makes the operation of an attempt, from its number.
  typealias Factory = @Sendable (Int) -> Operation

  let id: JobID
  /// The number of the attempt, from 1.
  let number: Int
  /// The program's operation.
  let operation: Operation
  /// The observed operation: the program's own or its wrapper; nil for a foreign one that is in the queue itself.
  let observed: AsyncOperation?
  let visibility: OperationWork.Visibility
  /// The job of the parent operation.
  let parent: JobID?
  /// Whether the run can succeed although this operation fails, because an ancestor tolerates failures.
  let mayFail: Bool
  /// Makes the operations of further attempts.
  let factory: Factory?
  /// Set before the member is shared; emptied at its end.
  var tokens: [ObservationToken] = []
  /// The jobs whose operations this one depends on; set once, before the member is stated.
  var needs: [JobID] = []

  // ---- touched only on the stream's queue
  /// The state that was stated last.
  var state = JobState.waiting
  /// The state that was observed last.
  var stands = AsyncOperation.State.pending
  var hasBegun = false
  /// Whether it was observed before its start, so that all its later states are.
  var wasSeenWaiting = false
  var isHeld = false
  var isOver = false
  /// Whether another attempt has begun while this one, cancelled before its start, is still in the queue.
  var isReplaced = false
  /// The first to request its end.
  var canceller: JobState.Canceller?
  /// How many calls are on their way that set its priority to one that is stated already.
  var priorityCalls = 0

  init(
    _ operation: Operation, observed: AsyncOperation?, visibility: OperationWork.Visibility, id: JobID,
    number: Int = 1, parent: QueueMember? = nil, factory: Factory? = nil
  ) {
    self.id = id
    self.number = number
    self.operation = operation
    self.observed = observed
    self.visibility = visibility
    self.parent = parent?.id
    mayFail =
      parent.map { $0.mayFail || ($0.operation as? any ParentOperation)?.toleratesFailures == true } ?? false
    self.factory = factory
  }

  var queued: Operation { observed ?? operation }

  /// Whether its cancellation, start or end has not been delivered yet.
  var isBehind: Bool {
    !hasBegun && !state.isTerminal && (queued.isCancelled || queued.isExecuting || queued.isFinished)
  }

  var attempt: Int { hasBegun ? number : number - 1 }

  /// The job's state for the observed state of the operation.
  var standing: JobState {
    if isHeld { return .paused(started: hasBegun) }
    switch stands {
    case .pending: return .waiting
    case .ready: return .ready(for: .slot)
    case .executing, .finished: return .executing
    }
  }

  /// Whether the finished operation never executed because a dependency has not succeeded.
  var isFollower: Bool {
    guard !hasBegun, let ours = operation as? AsyncOperation, !ours.isCancelled, let failure = ours.failure else {
      return false
    }
    guard let refusal = failure as? OperationError, refusal.code == .conditionFailed,
      (refusal.underlying.first as? OperationError)?.code != .dependencyFailed
    else { return true }
    // The operation's own condition, unless the failed one is the operation whose value it was to receive.
    return refusal.operation != ours.name ?? "\(type(of: ours))"
  }

  /// The job's state once the operation has finished, unless it is skipped.
  var outcome: JobState {
    guard let ours = operation as? AsyncOperation else {
      return operation.isCancelled ? .cancelled(by: canceller ?? .program) : .succeeded(upToDate: false)
    }
    switch AttemptOutcome(of: ours) {
    case .succeeded: return .succeeded(upToDate: false)
    case .upToDate: return .succeeded(upToDate: true)
    case .failed(let failure): return .failed(failure, allowed: mayFail)
    case .cancelled: return .cancelled(by: canceller ?? .program)
    }
  }
}
