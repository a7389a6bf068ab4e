import Foundation

/// An operation with conditions, as its side state knows it.
protocol ConditionalOperation: Operation {
  associatedtype StartCondition: Sendable
  var conditions: [StartCondition] { get }
}

/// The state that only some operations have: errors, conditions, a time limit, handlers of the end.
///
/// Created when it is first needed, so that an operation without any of these pays nothing.
final class RareState<Owner: ConditionalOperation>: @unchecked Sendable {
  // Safe: `gate` and `request` are accessed only under the dependency graph's lock, the rest is behind its own lock.

  struct Errors {
    var cancellation: (any Error)?
    var failure: (any Error)?
  }

  private struct Contents {
    var errors = Errors()
    var isEndClaimed = false
    /// Whether the operation was cancelled when its result was fixed; nil before.
    var wasCancelled: Bool?
    var conditions: [Owner.StartCondition] = []
    var evaluation: Task<Void, Never>?
    var isAttached = false
    var endings: [@Sendable (Owner) -> Void] = []
    var startLimit: (@Sendable (Owner) -> any OperationTimer)?
    var entry: (@Sendable () -> Bool)?
    var beforeEnd: (@Sendable (Owner) -> Void)?
    var timer: (any OperationTimer)?
    var hasEnded = false
    weak var group: Owner?
    weak var queue: OperationQueue?
    weak var startQueue: OperationQueue?
    var beforeExecuting: [@Sendable (Owner) async -> Void] = []
    var beforeFinishing: [@Sendable (Owner) async -> Void] = []
  }

  private let contents = Lock(Contents())

  var gate = StartGate()
  /// The operation's request for the categories that it has to itself.
  var request: ExclusionTable.Request?

  // MARK: Errors

  var errors: Errors { contents.withLock(\.errors) }

  /// Stores the error of a cancellation, if it is the first and `isAllowed` returns true.
  func setCancellation(_ error: any Error, if isAllowed: () -> Bool) {
    contents.withLock { contents in
      if contents.errors.cancellation == nil, isAllowed() { contents.errors.cancellation = error }
    }
  }

  /// Stores the error of the first call of `finish`; false if there was one before, or `isAllowed` returns false.
  ///
  /// `isAllowed` is evaluated under the lock, so that a caller that has seen the operation finish reads the final
  /// error.
  func claimEnd(_ error: (any Error)?, if isAllowed: () -> Bool) -> Bool {
    contents.withLock { contents in
      guard !contents.isEndClaimed, isAllowed() else { return false }
      contents.isEndClaimed = true
      contents.errors.failure = error
      return true
    }
  }

  /// Whether the operation was cancelled when its result was fixed; nil if its result is still open.
  var wasCancelled: Bool? { contents.withLock(\.wasCancelled) }

  /// Fixes the result of an operation whose end waits for handlers: a later cancellation and the time limit don't count.
  func fixResult(isCancelled: Bool) {
    let timer = contents.withLock { contents in
      contents.wasCancelled = isCancelled
      return contents.timer.take()
    }
    timer?.cancel()
  }

  // MARK: Begin and end

  /// Whether the operation may begin; called when nothing else holds it up.
  func mayBegin() -> Bool { contents.withLock(\.entry)?() ?? true }

  /// Sets the closure called at the start; true lets the operation begin.
  func setEntry(_ entry: @escaping @Sendable () -> Bool) { contents.withLock { $0.entry = entry } }

  /// Called once, before the move to the end of an operation that has begun.
  func tellBeforeEnd(_ operation: Owner) {
    let body = contents.withLock { $0.beforeEnd.take() }
    body?(operation)
  }

  func setBeforeEnd(_ body: @escaping @Sendable (Owner) -> Void) { contents.withLock { $0.beforeEnd = body } }

  /// Called once, before `main`.
  func begin(_ operation: Owner) {
    let startLimit = contents.withLock(\.startLimit)
    guard let timer = startLimit?(operation) else { return }
    let isOver = contents.withLock { contents in
      contents.timer = timer
      return contents.hasEnded || contents.wasCancelled != nil
    }
    if isOver { timer.cancel() }
  }

  /// Called once, when the operation has finished.
  func end(_ operation: Owner) {
    // Freed outside the lock: a condition may retain the operation whose value is passed on.
    let old = contents.withLock { contents in
      let old = contents
      contents.hasEnded = true
      contents.endings = []
      contents.startLimit = nil
      contents.entry = nil
      contents.beforeEnd = nil
      contents.timer = nil
      contents.evaluation = nil
      contents.conditions = []
      contents.beforeExecuting = []
      contents.beforeFinishing = []
      return old
    }
    old.timer?.cancel()
    old.evaluation?.cancel()
    for body in old.endings { body(operation) }
  }

  /// Calls `body` once at the end, on the thread that finishes the operation; not if the operation has ended already.
  func whenEnded(_ body: @escaping @Sendable (Owner) -> Void) {
    contents.withLock { if !$0.hasEnded { $0.endings.append(body) } }
  }

  /// Sets the closure that starts the timer of a time limit when the operation begins.
  func setLimit(_ start: @escaping @Sendable (Owner) -> any OperationTimer) {
    contents.withLock { $0.startLimit = start }
  }

  // MARK: Home

  /// Records that the operation is in a queue or a dependency queue; true for the first call.
  func attach(to queue: OperationQueue) -> Bool {
    contents.withLock { contents in
      contents.queue = queue
      return !exchange(&contents.isAttached, with: true)
    }
  }

  /// Records the queue that starts the operation first; true if the operation was not known to be in one.
  func start(in queue: OperationQueue) -> Bool {
    contents.withLock { contents in
      if contents.startQueue == nil { contents.startQueue = queue }
      return !exchange(&contents.isAttached, with: true)
    }
  }

  /// The queue that the operation is in, if a dependency queue or a queue of this library has set it: Foundation's own
  /// does not.
  var queue: OperationQueue? { contents.withLock(\.queue) }

  /// The queue that has started the operation, of any class.
  var startQueue: OperationQueue? { contents.withLock(\.startQueue) }

  /// The group that the operation is a child of.
  var group: Owner? {
    get { contents.withLock(\.group) }
    set { contents.withLock { $0.group = newValue } }
  }

  // MARK: Awaited handlers

  func addBeforeExecuting(_ body: @escaping @Sendable (Owner) async -> Void) {
    contents.withLock { $0.beforeExecuting.append(body) }
  }

  func addBeforeFinishing(_ body: @escaping @Sendable (Owner) async -> Void) {
    contents.withLock { if !$0.hasEnded { $0.beforeFinishing.append(body) } }
  }

  func takeBeforeExecuting() -> [@Sendable (Owner) async -> Void] {
    contents.withLock { exchange(&$0.beforeExecuting, with: []) }
  }

  func takeBeforeFinishing() -> [@Sendable (Owner) async -> Void] {
    contents.withLock { exchange(&$0.beforeFinishing, with: []) }
  }

  // MARK: Conditions

  var conditions: [Owner.StartCondition] { contents.withLock(\.conditions) }

  func add(_ condition: Owner.StartCondition) { contents.withLock { $0.conditions.append(condition) } }

  /// Replaces the task that evaluates the conditions; cancels it at once if the operation has ended meanwhile.
  func setEvaluation(_ task: Task<Void, Never>?) {
    let (old, hasEnded) = contents.withLock { contents in
      defer { contents.evaluation = contents.hasEnded ? nil : task }
      return (contents.evaluation, contents.hasEnded)
    }
    old?.cancel()
    if hasEnded { task?.cancel() }
  }
}
