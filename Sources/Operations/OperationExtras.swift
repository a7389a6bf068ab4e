import Foundation

/// What only some operations have: conditions, a time limit, an error, who waits for the end.
///
/// Made when the first of these comes, so that an operation without any pays nothing.
final class OperationExtras: @unchecked Sendable {
  // Safe: `gate` and `request` are touched only under the dependency graph's lock, the rest is behind a lock of its own.

  struct Errors {
    var cancellation: (any Error)?
    var failure: (any Error)?
  }

  private struct Contents {
    var errors = Errors()
    var conditions: [OperationCondition] = []
    var evaluation: Task<Void, Never>?
    var isAttached = false
    var endings: [@Sendable (AsyncOperation) -> Void] = []
    var limit: TimeLimit?
    var timer: (any OperationTimer)?
    var hasEnded = false
    weak var group: AsyncOperation?
    weak var queue: OperationQueue?
  }

  private let contents = Lock(Contents())

  var gate = OperationGate()
  /// Its place among those that exclude each other.
  var request: ExclusionTable.Request?

  // MARK: Errors

  var errors: Errors { contents.withLock(\.errors) }

  func setCancellation(_ error: any Error) {
    contents.withLock { contents in
      if contents.errors.cancellation == nil, !contents.hasEnded { contents.errors.cancellation = error }
    }
  }

  func setFailure(_ error: any Error) {
    contents.withLock { contents in
      if contents.errors.failure == nil, !contents.hasEnded { contents.errors.failure = error }
    }
  }

  // MARK: Begin and end

  /// Called once, before `main`.
  func begin(_ operation: AsyncOperation) {
    let limit = contents.withLock { contents in
      if contents.queue == nil { contents.queue = OperationQueue.current }
      return contents.limit
    }
    guard let limit else { return }
    let timer = limit.start(operation)
    let isOver = contents.withLock { contents in
      contents.timer = timer
      return contents.hasEnded
    }
    if isOver { timer.cancel() }
  }

  /// Called once, when the operation has finished.
  func end(_ operation: AsyncOperation) {
    let (endings, timer, evaluation, conditions) = contents.withLock { contents in
      contents.hasEnded = true
      defer {
        contents.endings = []
        contents.timer = nil
        contents.evaluation = nil
        contents.conditions = []
      }
      return (contents.endings, contents.timer, contents.evaluation, contents.conditions)
    }
    timer?.cancel()
    evaluation?.cancel()
    if !conditions.isEmpty { DependencyGraph.leaveExclusion(self) }
    for body in endings { body(operation) }
    // Let go of outside the lock: a condition may keep the operation whose value is passed on.
    withExtendedLifetime(conditions) {}
  }

  /// Calls `body` once at the end, on the thread that finishes the operation; false if it has ended already.
  func whenEnded(_ body: @escaping @Sendable (AsyncOperation) -> Void) -> Bool {
    contents.withLock { contents in
      if !contents.hasEnded { contents.endings.append(body) }
      return !contents.hasEnded
    }
  }

  func setLimit(_ limit: TimeLimit) { contents.withLock { $0.limit = limit } }

  // MARK: Where it is

  /// True for the first call.
  func attach(to queue: OperationQueue?) -> Bool {
    contents.withLock { contents in
      if let queue { contents.queue = queue }
      defer { contents.isAttached = true }
      return !contents.isAttached
    }
  }

  /// The queue that it is in, as far as that is known: Foundation tells nobody before it starts an operation.
  var queue: OperationQueue? { contents.withLock(\.queue) }

  /// The group that it is a child of.
  var group: AsyncOperation? {
    get { contents.withLock(\.group) }
    set { contents.withLock { $0.group = newValue } }
  }

  // MARK: Conditions

  var conditions: [OperationCondition] { contents.withLock(\.conditions) }

  func add(_ condition: OperationCondition) { contents.withLock { $0.conditions.append(condition) } }

  /// Cancelled at once if the operation has ended meanwhile.
  func setEvaluation(_ task: Task<Void, Never>?) {
    let (old, isOver) = contents.withLock { contents in
      defer { contents.evaluation = contents.hasEnded ? nil : task }
      return (contents.evaluation, contents.hasEnded)
    }
    old?.cancel()
    if isOver { task?.cancel() }
  }
}
