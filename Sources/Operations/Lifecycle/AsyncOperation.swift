import Foundation

/// An operation whose work continues after `main` has returned, until `finish()` is called.
///
/// Override `main` to begin the work, and `didCancel` to end it early. All other methods and properties are safe to use
/// from any thread, at any time and any number of times.
open class AsyncOperation: Operation, @unchecked Sendable {
  // Safe: all state is in `parts`, which are atomic or locked.
  final let parts = OperationParts<AsyncOperation>()

  /// Begins the work and returns; some thread calls `finish()` when the work is over.
  ///
  /// Called once, on the thread that starts the operation, and never if the operation was cancelled before. Do not call
  /// `super`.
  open override func main() {
    programmerError("\(type(of: self)) must override main(), and not call super.main()")
  }

  /// Called when an executing operation is cancelled: end the work early and call `finish()`.
  ///
  /// Called once, after `main` has returned, on the thread that cancels the operation or on the thread that ran `main`.
  /// The operation does not finish until this method has returned; a `finish()` called on another thread meanwhile
  /// takes effect then.
  open func didCancel() {}

  /// Begins the operation, or finishes it if it was cancelled; called by the operation's queue.
  ///
  /// Call it by hand only for an operation that is in no queue and whose dependencies have finished. The operation's
  /// conditions are evaluated here. If that takes time, the operation begins on another thread when they hold.
  public final override func start() {
    if !parts.snapshot.isReady, waitsForDependencies, !isInCurrentQueue {
      programmerError("\(self) was started by hand before all that it depends on has finished")
    }
    begin()
  }

  /// Whether the current queue holds the operation; a queue may start an operation that has just got another
  /// dependency.
  final var isInCurrentQueue: Bool { OperationQueue.current?.operations.contains { $0 === self } == true }

  /// Begins the operation, finishes it if it was cancelled, or defers both until its conditions hold.
  final func begin() {
    if parts.has(.hasRareState) {
      if mustWaitForConditions() || mustAwaitHandlers() { return }
      if !isCancelled, parts.existingRareState?.mayBegin() == false { _ = withdraw() }
    }
    switch move({ $0.start { mayFinishUnbegun } }) {
    case .callMain:
      QueueEntryObserver.tellStart(of: self)
      parts.existingRareState?.begin(self)
      didChangeValue(forKey: "isExecuting")
      main()
      if move({ $0.mainReturned() }) == .callDidCancel { endEarly() }
      // If the operation has finished, its queue starts the next one when this returns: its observers come first.
      if parts.has(.isObserved) { parts.existingObservers?.waitForPosting() }
    case .finish: postFinish()
    case .finishWhatItHolds: finishAfterWhatItHolds()
    case .ignore: break
    case .trap(let reason): programmerError("\(self) \(reason)")
    }
  }

  /// Requests the end: a waiting operation never executes, and an executing one gets `didCancel()`; both still finish.
  ///
  /// From any thread. Only the first call before the end has an effect.
  open override func cancel() {
    switch move({ $0.cancel() }) {
    case .tellFoundation: cancelBeforeExecution()
    case .tellFoundationThenCallDidCancel:
      super.cancel()
      endEarly()
    case .ignore: break
    }
  }

  /// Reports that the work is over; only the first call counts, from any thread.
  ///
  /// If the operation has not been started, it finishes without executing when it is started.
  public final func finish() {
    if claimEnd(nil) { endClaimed() }
  }

  /// Makes the move for a call of `finish` that has claimed the end.
  final func endClaimed() {
    if !mustAwaitHandlersOfEnd() { endNow() }
  }

  /// Makes the move, when nothing is awaited before it any more.
  final func endNow() {
    if parts.has(.hasRareState) { parts.existingRareState?.tellBeforeEnd(self) }
    if move({ $0.finish() }) == .finish { postFinish() }
  }

  /// Cancels the operation unless `main` has been called or the end requested; true if the operation won't execute.
  ///
  /// From any thread. A withdrawn operation finishes when its queue starts it, like any cancelled one. An override of
  /// `cancel()` is not called.
  package final func withdraw() -> Bool {
    switch move({ $0.withdraw() }) {
    case .tellFoundation:
      cancelBeforeExecution()
      return true
    case .isCancelled: return true
    case .refuse: return false
    }
  }

  /// Sets a closure that decides at the start whether the operation may begin.
  ///
  /// `mayBegin` is called on the thread that starts the operation, once nothing else holds it up, and must not block.
  /// If it returns false, the operation is withdrawn and finishes without executing. To be called before the operation
  /// is in a queue.
  package final func askAtStart(_ mayBegin: @escaping @Sendable () -> Bool) { parts.rareState.setEntry(mayBegin) }

  /// Sets a closure to be called once, on the finishing thread, before any observer or queue can know of the end.
  ///
  /// `body` must not block. It is not called for an operation that has not begun. To be called before the operation is
  /// in a queue.
  package final func beforeEnd(_ body: @escaping @Sendable (AsyncOperation) -> Void) {
    parts.rareState.setBeforeEnd(body)
  }

  /// The failure claimed by a call of `finish`; a later cancellation may still replace it.
  package var claimedFailure: (any Error)? { cause }

  /// Called once, on the thread that finishes the operation, before its queue is notified and starts another operation.
  package func operationDidFinish() {}

  // MARK: Operations that hold others

  /// Whether a started operation that won't execute may finish, because the operations it holds have finished.
  var mayFinishUnbegun: Bool { true }

  /// Called at the start if `mayFinishUnbegun` is false; calls `begin()` again when it becomes true.
  func finishAfterWhatItHolds() {}

  /// Called when the operation is cancelled before its start, which may come much later.
  func willNotExecute() {}

  /// The unfinished children of an operation that runs them as a group does.
  var heldChildren: [Operation] { [] }

  /// Called under the graph's lock; the children of an executing operation, if all of them wait.
  var stuckChildren: [AsyncOperation] { [] }

  // MARK: Moves

  /// Makes a move of the lifecycle in one atomic step; returns the action still to be taken.
  ///
  /// In an observed operation the move and its posting are one step, so that observers receive all moves in order.
  final func move<Action>(_ step: (inout OperationLifecycle) -> Action) -> Action {
    while true {
      let snapshot = parts.snapshot
      let old = snapshot.lifecycle
      var new = old
      let action = step(&new)
      if new == old { return action }
      let isMade =
        snapshot.has(.isObserved)
        ? parts.withObservers { $0.post(self, from: old, to: new) { parts.exchange(snapshot, for: new) } } ?? false
        : parts.exchange(snapshot, for: new)
      if isMade { return action }
      // Otherwise another thread has meanwhile moved the operation or begun to observe it.
    }
  }

  // MARK: After a move

  private func endEarly() {
    didCancel()
    if move({ $0.didCancelReturned() }) == .finish { postFinish() }
  }

  /// Notifies Foundation of a cancellation before `main` has returned; finishes an operation that no queue will start.
  private func cancelBeforeExecution() {
    postReadiness { super.cancel() }
    if !isExecuting { willNotExecute() }
    if abandonConditions() || leaveDependencyQueue() { begin() }
  }

  private func postFinish() {
    operationDidFinish()
    if let rareState = parts.existingRareState {
      Self.leaveExclusion(rareState)
      rareState.end(self)
    }
    // Operations that may run now enter their queue first: the most urgent is there when this queue starts another one.
    let (holder, foreign) = releaseDependents()
    // Foundation on Linux has no observer of the end of isExecuting.
    didChangeValue(forKey: "isFinished")
    // Until here Foundation on Linux reads dependents of other classes, which it does not retain.
    withExtendedLifetime(foreign) {}
    holder?.nodeHasLeft()
  }

  // MARK: Errors

  /// Cancels the operation with an error, which becomes its `failure` unless the work still ends in a success.
  ///
  /// Only the first error counts. The error has no effect on an operation that was cancelled or has finished before.
  public final func cancel(with error: any Error) {
    if !isFinished, !isCancelled {
      parts.rareState.setCancellation(error) { !parts.lifecycle.isFinished && !parts.lifecycle.isCancelled }
    }
    cancel()
  }

  /// Reports that the work is over and has failed; only the first call counts, from any thread.
  public final func finish(with error: any Error) {
    if claimEnd(error) { endClaimed() }
  }

  /// Whether this is the first call of `finish`, whose error counts; the move follows.
  func claimEnd(_ error: (any Error)?) -> Bool {
    // Without a side state nothing has been claimed: the move determines which call of `finish()` is the first.
    guard error != nil || parts.has(.hasRareState) else { return true }
    return parts.rareState.claimEnd(error) { !parts.lifecycle.isEndRequested }
  }

  /// The reason why the operation did not do its work; nil if it did, or has not finished.
  ///
  /// The reason is the error passed to `cancel(with:)` or `finish(with:)`, the failure of a condition, or a
  /// `CancellationError`.
  public final var failure: (any Error)? { isFinished ? cause : nil }

  /// The failure of a finished operation.
  var cause: (any Error)? {
    let errors = parts.existingRareState?.errors
    return wasCancelledInTime ? errors?.cancellation ?? errors?.failure ?? CancellationError() : errors?.failure
  }

  /// Whether the operation was cancelled before its result was fixed.
  final var wasCancelledInTime: Bool { parts.existingRareState?.wasCancelled ?? isCancelled }

  /// Whether `cancel(with:)` has set an error, which `failure` returns once the operation has finished.
  package final var isCancelledWithError: Bool {
    wasCancelledInTime && parts.existingRareState?.errors.cancellation != nil
  }

  // MARK: State

  /// The state of the operation.
  public final var state: State { parts.lifecycle.publicState }
  /// True: the work may continue after `main` has returned.
  public final override var isAsynchronous: Bool { true }
  /// Whether the operation was cancelled before it finished.
  public final override var isCancelled: Bool { parts.lifecycle.isCancelled }
  /// Whether `main` was called and `finish()` has not taken effect.
  public final override var isExecuting: Bool { parts.lifecycle.isExecuting }
  /// Whether the operation has finished.
  public final override var isFinished: Bool { parts.lifecycle.isFinished }

  /// Whether all dependencies have finished, or the operation was cancelled.
  ///
  /// To hold an operation back, give it a dependency or a condition. An `OperationQueue` reads this property when the
  /// operation is added, and the operation takes the reading as the sign that it is in a queue: to check readiness,
  /// read `state` instead.
  public final override var isReady: Bool { answerReadiness() && super.isReady }

  /// The operation's name, class and state, as in `fetch (DownloadOperation, executing)`.
  open override var description: String {
    let kind = "\(type(of: self))"
    // Read in one atomic step, so that state and cancellation are consistent.
    let lifecycle = parts.lifecycle
    let status = "\(lifecycle.publicState)\(lifecycle.isCancelled ? ", cancelled" : "")"
    return displayName == kind ? "\(kind) (\(status))" : "\(displayName) (\(kind), \(status))"
  }

  /// Blocks the calling thread until the operation has finished.
  ///
  /// An operation that waits so holds its slot meanwhile; a dependency holds none.
  open override func waitUntilFinished() { SlotWait.record(of: self) { super.waitUntilFinished() } }

  // MARK: Dependencies

  /// The operation's rank among ready operations; in a dependency queue it may change until the operation enters the
  /// queue.
  open override var queuePriority: QueuePriority {
    get { super.queuePriority }
    set {
      super.queuePriority = newValue
      priorityDidChange()
    }
  }

  /// Makes this operation wait until `operation`, of any class, has finished, whatever its outcome.
  ///
  /// From any thread. Has no effect once this operation has been started. A cycle is a programmer error, which stops
  /// the program with the path of the cycle; where dependencies come from data, use `addDependencyOrThrow(_:)`. An
  /// operation of another class is retained until it has finished, even if the dependency is removed: if it never
  /// finishes, cancel and start it.
  public final override func addDependency(_ operation: Operation) {
    do { try addDependencyOrThrow(operation) } catch { programmerError(error.description) }
  }

  /// Removes the dependency on `operation`, finished or not.
  public final override func removeDependency(_ operation: Operation) { unlink(from: operation) }

  /// The operations added as dependencies, finished or not; empty once this operation has finished.
  public final override var dependencies: [Operation] { linkedDependencies() }

  deinit {
    // The overrides of a subclass must not be called any more.
    if QueueEntryObserver.isNeeded, parts.lifecycle.isExecuting {
      QueueEntryObserver.see(.released(name: super.name ?? "\(type(of: self))"))
    }
    if parts.has(.isObserved) { parts.existingObservers?.close() }
    if let rareState = parts.existingRareState { Self.leaveExclusion(rareState) }
    if let node = parts.existingNode { Self.free(node) }
  }
}

extension AsyncOperation {
  /// The states that an operation passes through, in order; being cancelled is independent of them.
  ///
  /// Until it executes, an operation may become pending again: a dependency is added, or another operation takes its
  /// turn.
  public enum State: Int, Sendable, CaseIterable, Comparable {
    /// Waits for an operation that it depends on.
    case pending
    /// May be started by its queue, or by the code that holds it.
    case ready
    /// Between the call of `main` and `finish()`.
    case executing
    /// Has finished; the last state.
    case finished

    /// Whether an operation passes through `left` before `right`.
    public static func < (left: State, right: State) -> Bool { left.rawValue < right.rawValue }
  }
}

extension OperationLifecycle {
  var publicState: AsyncOperation.State {
    isFinished ? .finished : isExecuting ? .executing : isReady ? .ready : .pending
  }
}

extension AsyncOperation {
  /// The first failure of a type: the operation's own, or one that led to it.
  ///
  /// The search covers the failures of conditions, of dependencies and of a group's children, at any depth. Among
  /// several children, the failure of the child that ended first comes first. Nil if there is none, or the operation
  /// has not finished.
  public final func failure<Failure: Error>(as type: Failure.Type = Failure.self) -> Failure? {
    firstFailure { $0 as? Failure }
  }

  /// The first failure of the library with a code, searched for as by `failure(as:)`.
  public final func failure(_ code: OperationError.Code) -> OperationError? {
    firstFailure { error in (error as? OperationError).flatMap { $0.code == code ? $0 : nil } }
  }

  private func firstFailure<Failure>(_ match: (any Error) -> Failure?) -> Failure? {
    var pile: [any Error] = failure.map { [$0] } ?? []
    while let error = pile.popLast() {
      if let found = match(error) { return found }
      if let error = error as? OperationError { pile += error.underlying.reversed() }
    }
    return nil
  }
}
