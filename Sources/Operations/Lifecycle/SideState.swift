import Foundation

/// The state that only some operations have: errors, conditions, a time limit, handlers of the end.
///
/// Made when the first of these comes, so that an operation without any pays nothing.
final class SideState: @unchecked Sendable {
  // Safe: `gate` and `request` are touched only under the dependency graph's lock, the rest is behind a lock of its own.

  struct Errors {
    var cancellation: (any Error)?
    var failure: (any Error)?
  }

  /// How far an operation is with its conditions; the graph counts a closed gate as one more unfinished dependency.
  struct Gate {
    enum Phase: Equatable {
      /// There are no conditions.
      case none
      /// Waits for the dependencies, and for being in a queue.
      case closed
      /// The conditions are being asked; an answer to another round than this is ignored.
      case asking(round: Int)
      /// One of them does not hold; the operation is about to be told.
      case failing
      /// All hold; waits for its turn among operations that exclude each other.
      case inLine
      /// Has its turn, which it takes when it starts.
      case onTurn
      case open
    }

    var phase = Phase.none
    var isAttached = false
    /// Whether the operation was started while the gate was closed; it then starts by itself when the gate opens.
    var isStartDeferred = false
    var round = 0
  }

  private struct Contents {
    var errors = Errors()
    var conditions: [OperationCondition] = []
    var evaluation: Task<Void, Never>?
    var isAttached = false
    var endings: [@Sendable (AsyncOperation) -> Void] = []
    var startLimit: (@Sendable (AsyncOperation) -> any OperationTimer)?
    var timer: (any OperationTimer)?
    var delegate: OperationObservation?
    var hasEnded = false
    weak var group: AsyncOperation?
    weak var queue: OperationQueue?
  }

  private let contents = Lock(Contents())

  var gate = Gate()
  /// Its request for the categories that it has to itself.
  var request: ExclusionTable.Request?

  // MARK: Errors

  var errors: Errors { contents.withLock(\.errors) }

  /// Stores an error unless there is one; only before the end.
  func set(_ kind: WritableKeyPath<Errors, (any Error)?>, _ error: any Error) {
    contents.withLock { contents in
      if contents.errors[keyPath: kind] == nil, !contents.hasEnded { contents.errors[keyPath: kind] = error }
    }
  }

  // MARK: Begin and end

  /// Called once, before `main`.
  func begin(_ operation: AsyncOperation) {
    let startLimit = contents.withLock { contents in
      if contents.queue == nil { contents.queue = OperationQueue.current }
      return contents.startLimit
    }
    guard let timer = startLimit?(operation) else { return }
    let hasEnded = contents.withLock { contents in
      contents.timer = timer
      return contents.hasEnded
    }
    if hasEnded { timer.cancel() }
  }

  /// Called once, when the operation has finished.
  func end(_ operation: AsyncOperation) {
    // Freed outside the lock: a condition may keep the operation whose value is passed on.
    let old = contents.withLock { contents in
      let old = contents
      contents.hasEnded = true
      contents.endings = []
      contents.startLimit = nil
      contents.timer = nil
      contents.delegate = nil
      contents.evaluation = nil
      contents.conditions = []
      return old
    }
    old.timer?.cancel()
    old.evaluation?.cancel()
    for body in old.endings { body(operation) }
  }

  /// Calls `body` once at the end, on the thread that finishes the operation; not if it has ended already.
  func whenEnded(_ body: @escaping @Sendable (AsyncOperation) -> Void) {
    contents.withLock { if !$0.hasEnded { $0.endings.append(body) } }
  }

  /// Sets how the timer of a time limit is started when the operation begins.
  func setLimit(_ start: @escaping @Sendable (AsyncOperation) -> any OperationTimer) {
    contents.withLock { $0.startLimit = start }
  }

  /// Replaces the observation that stands for the delegate, which ends.
  func setDelegate(_ observation: OperationObservation?) {
    let old = contents.withLock { contents in
      defer { contents.delegate = contents.hasEnded ? nil : observation }
      return contents.delegate
    }
    old?.end()
  }

  // MARK: Home

  /// Records that the operation is in a queue or a feeder; true for the first call.
  func attach(to queue: OperationQueue?) -> Bool {
    contents.withLock { contents in
      if let queue { contents.queue = queue }
      defer { contents.isAttached = true }
      return !contents.isAttached
    }
  }

  /// The queue that the operation is in, as far as that is known: Foundation tells no one before it starts an operation.
  var queue: OperationQueue? { contents.withLock(\.queue) }

  /// The group that the operation is a child of.
  var group: AsyncOperation? {
    get { contents.withLock(\.group) }
    set { contents.withLock { $0.group = newValue } }
  }

  // MARK: Conditions

  var conditions: [OperationCondition] { contents.withLock(\.conditions) }

  func add(_ condition: OperationCondition) { contents.withLock { $0.conditions.append(condition) } }

  /// Replaces the task that asks the conditions; it is cancelled at once if the operation has ended meanwhile.
  func setEvaluation(_ task: Task<Void, Never>?) {
    let (old, hasEnded) = contents.withLock { contents in
      defer { contents.evaluation = contents.hasEnded ? nil : task }
      return (contents.evaluation, contents.hasEnded)
    }
    old?.cancel()
    if hasEnded { task?.cancel() }
  }
}
