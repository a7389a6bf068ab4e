import Foundation

/// An operation whose work continues after `main` has returned, until `finish()` is called.
///
/// Override `main` to begin the work, and `didCancel` to end it early. Everything else is safe to call from any thread,
/// at any time, any number of times.
open class AsyncOperation: Operation, @unchecked Sendable {
  // Safe: all state is in the parts, which are atomic or locked.
  final let parts = OperationParts()

  /// Begins the work and returns; some thread calls `finish()` when the work is over.
  ///
  /// Called once, on the thread that starts the operation, and never if it was cancelled before. Do not call `super`.
  open override func main() {
    programmerError("\(type(of: self)) must override main(), and not call super.main()")
  }

  /// Called once, after `main` has returned, if the operation is cancelled while it executes; end the work and call `finish()`.
  ///
  /// Called on the thread that cancels, or on the one that `main` returned on. The operation is not finished until this
  /// method has returned; a `finish()` on another thread may have been called by then, and waits.
  open func didCancel() {}

  /// Begins the operation, or finishes it if it was cancelled; its queue calls it.
  ///
  /// Called by hand only for an operation that is in no queue and whose dependencies have finished. Its conditions are asked
  /// here, and if they take their time the operation begins when they hold, on another thread.
  public final override func start() {
    if !parts.snapshot.isReady, !isInCurrentQueue, waitsForDependencies {
      programmerError("\(self) was started by hand before all that it depends on has finished")
    }
    begin()
  }

  /// A queue may start an operation that has got another dependency just now.
  final var isInCurrentQueue: Bool { OperationQueue.current?.operations.contains { $0 === self } == true }

  /// Begins the operation, or finishes it if it was cancelled, or defers that until its conditions hold.
  final func begin() {
    if parts.has(.hasSideState) {
      if mustWaitForConditions() || mustAwaitHandlers() { return }
      if !isCancelled, parts.existingSideState?.mayBegin() == false { _ = withdraw() }
    }
    switch move({ $0.start { mayFinishUnbegun } }) {
    case .callMain:
      QueueEntryObserver.tellStart(of: self)
      parts.existingSideState?.begin(self)
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

  /// Asks for the end: a waiting operation never executes, an executing one is told by `didCancel()`; both still finish.
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

  /// Says that the work is over; only the first call counts, from whatever thread.
  ///
  /// Before the operation has been started this makes it finish, without executing, when it is started.
  public final func finish() {
    if claimEnd(nil) { endClaimed() }
  }

  /// Makes the move of a call of `finish` that has claimed the end.
  final func endClaimed() {
    guard parts.has(.hasSideState), isExecuting, let handlers = parts.existingSideState?.takeBeforeFinishing(),
      !handlers.isEmpty
    else { return endNow() }
    Task {
      for handler in handlers { await handler(self) }
      endNow()
    }
  }

  private func endNow() {
    if parts.has(.hasSideState) { parts.existingSideState?.tellBeforeEnd(self) }
    if move({ $0.finish() }) == .finish { postFinish() }
  }

  /// Cancels the operation unless `main` has been called or the end has been asked for; true if it will not execute.
  ///
  /// From any thread. A withdrawn operation finishes, as any cancelled one, when its queue starts it. An override of
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

  /// Has `mayBegin` called on the thread that starts the operation, once nothing else holds it up; an operation that may not
  /// begin is withdrawn, and so finishes without executing.
  ///
  /// To be called before the operation is in a queue. `mayBegin` must not block.
  package final func askAtStart(_ mayBegin: @escaping @Sendable () -> Bool) { parts.sideState.setEntry(mayBegin) }

  /// Has `body` called once on the thread that finishes the operation, before any observer or queue can know of the end.
  ///
  /// Not for an operation that has not begun. To be called before the operation is in a queue. `body` must not block.
  package final func beforeEnd(_ body: @escaping @Sendable (AsyncOperation) -> Void) {
    parts.sideState.setBeforeEnd(body)
  }

  /// The failure that a call of `finish` has claimed; a later cancellation may still replace it.
  package var claimedFailure: (any Error)? { cause }

  /// Whether the current task is the one that the operation's work is done in; its wait for the operation would never end.
  var isItsTaskCurrent: Bool { false }

  /// Called once, on the thread that finishes the operation, before its queue is told and starts another in its place.
  package func operationDidFinish() {}

  // MARK: Operations that hold others

  /// Whether the operation, which has been started and will not execute, may finish: what it holds has.
  var mayFinishUnbegun: Bool { true }

  /// Called at the start if it may not; calls `begin()` again when it may.
  func finishAfterWhatItHolds() {}

  /// Called when it was cancelled before its start, which may come much later.
  func willNotExecute() {}

  // MARK: Moves

  /// Makes a move of the lifecycle in one atomic step; returns what is left to do.
  ///
  /// Where the operation is observed the step and its posting are one, so that observers see all moves in their order.
  /// Key-value observers on Darwin are told before the step, without a lock.
  final func move<Action>(_ step: (inout OperationLifecycle) -> Action) -> Action {
    while true {
      let snapshot = parts.snapshot
      let old = snapshot.lifecycle
      var new = old
      let action = step(&new)
      if new == old { return action }
      willMove(from: old, to: new)
      let isMade =
        snapshot.has(.isObserved)
        ? parts.withObservers { $0.post(self, from: old, to: new) { parts.exchange(snapshot, for: new) } } ?? false
        : parts.exchange(snapshot, for: new)
      if isMade { return action }
      // Another thread has moved or observed the operation meanwhile.
      didNotMove(from: old, to: new)
    }
  }

  #if canImport(Darwin)
  private func willMove(from old: OperationLifecycle, to new: OperationLifecycle) {
    if old.isExecuting != new.isExecuting { willChangeValue(forKey: "isExecuting") }
    if new.isFinished { willChangeValue(forKey: "isFinished") }
  }

  private func didNotMove(from old: OperationLifecycle, to new: OperationLifecycle) {
    if old.isExecuting != new.isExecuting { didChangeValue(forKey: "isExecuting") }
    if new.isFinished { didChangeValue(forKey: "isFinished") }
  }
  #else
  // Foundation's `willChangeValue` does nothing on Linux.
  @inline(__always) private func willMove(from old: OperationLifecycle, to new: OperationLifecycle) {}
  @inline(__always) private func didNotMove(from old: OperationLifecycle, to new: OperationLifecycle) {}
  #endif

  // MARK: After a move

  private func endEarly() {
    didCancel()
    if move({ $0.didCancelReturned() }) == .finish { postFinish() }
  }

  /// Tells Foundation of a cancellation before `main` has returned, and finishes an operation that no queue will start.
  private func cancelBeforeExecution() {
    postReadiness { super.cancel() }
    if !isExecuting { willNotExecute() }
    if abandonConditions() || leaveFeeder() { begin() }
  }

  private func postFinish() {
    operationDidFinish()
    if let sideState = parts.existingSideState {
      Self.leaveExclusion(sideState)
      sideState.end(self)
    }
    // Operations that may run now enter their queue first, so that the most urgent is there when this queue starts another.
    let (holder, foreign) = releaseDependents()
    // Linux has no observer of the end of isExecuting.
    #if canImport(Darwin)
    didChangeValue(forKey: "isExecuting")
    #endif
    didChangeValue(forKey: "isFinished")
    // Until here Foundation on Linux reads dependents of other classes, which it does not retain.
    withExtendedLifetime(foreign) {}
    holder?.nodeHasLeft()
  }

  // MARK: Errors

  /// Cancels the operation with an error: from then on `failure` is `error`, unless the work still ends with a success.
  ///
  /// The first error counts; without effect on an operation that was cancelled or has finished before.
  public final func cancel(with error: any Error) {
    if !isFinished, !isCancelled {
      parts.sideState.setCancellation(error) { !parts.lifecycle.isFinished && !parts.lifecycle.isCancelled }
    }
    cancel()
  }

  /// Says that the work is over and has failed; only the first call counts, from whatever thread.
  public final func finish(with error: any Error) {
    if claimEnd(error) { endClaimed() }
  }

  /// Whether this is the first call of `finish`, whose error counts; its move follows.
  func claimEnd(_ error: (any Error)?) -> Bool {
    // Without a side state nothing has been claimed: the move tells which call of `finish()` is the first.
    guard error != nil || parts.has(.hasSideState) else { return true }
    return parts.sideState.claimEnd(error) { !parts.lifecycle.isEndRequested }
  }

  /// Why the operation did not do its work; nil if it did, or has not finished.
  ///
  /// The error that `cancel(with:)` or `finish(with:)` was called with, the condition that failed it, or a
  /// `CancellationError`.
  public final var failure: (any Error)? { isFinished ? cause : nil }

  /// The failure of a finished operation.
  var cause: (any Error)? {
    let errors = parts.existingSideState?.errors
    return isCancelled ? errors?.cancellation ?? errors?.failure ?? CancellationError() : errors?.failure
  }

  /// Whether `cancel(with:)` has given it an error, which `failure` tells once it has finished.
  package final var isCancelledWithError: Bool {
    isCancelled && parts.existingSideState?.errors.cancellation != nil
  }

  // MARK: State

  /// Where the operation stands.
  public final var state: State { parts.lifecycle.publicState }
  /// True: the work may continue after `main` has returned.
  public final override var isAsynchronous: Bool { true }
  /// Whether its end was asked for before it had finished.
  public final override var isCancelled: Bool { parts.lifecycle.isCancelled }
  /// Whether `main` was called and `finish()` has not taken effect.
  public final override var isExecuting: Bool { parts.lifecycle.isExecuting }
  /// Whether it is over, for good.
  public final override var isFinished: Bool { parts.lifecycle.isFinished }

  /// Whether all that it depends on has finished, or it was cancelled.
  ///
  /// To hold an operation back, make it depend on something, or give it a condition. An `OperationQueue` reads this
  /// property when the operation is added, and by that the operation knows that it is in one: read `state` instead.
  public final override var isReady: Bool { answerReadiness() && super.isReady }

  /// The operation's name, its class and where it stands, as in `fetch (DownloadOperation, executing)`.
  open override var description: String { statusDescription }

  /// The operation's name, or that of its class.
  final var displayName: String { Self.displayName(of: self) }

  static func displayName(of operation: Operation) -> String {
    guard let name = operation.name, !name.isEmpty else { return "\(type(of: operation))" }
    return name
  }

  // MARK: Dependencies

  /// The operation's rank among ready ones; in a feeder it may change until the operation has entered the queue.
  open override var queuePriority: QueuePriority {
    get { super.queuePriority }
    set {
      super.queuePriority = newValue
      priorityDidChange()
    }
  }

  /// Makes this operation wait until `operation`, of whatever class, has finished, whichever way it ended.
  ///
  /// From any thread. Without effect once this operation has been started. A cycle is a programmer error that stops the program
  /// and says its path; where dependencies come from data, use `addDependencyOrThrow(_:)`.
  public final override func addDependency(_ operation: Operation) {
    do { try addDependencyOrThrow(operation) } catch { programmerError(error.description) }
  }

  /// Makes this operation wait for `operation` no longer, finished or not.
  public final override func removeDependency(_ operation: Operation) { unlink(from: operation) }

  /// The operations that were added as dependencies, finished or not; empty once this operation has finished.
  public final override var dependencies: [Operation] { linkedDependencies() }

  deinit {
    if parts.has(.isObserved) { parts.existingObservers?.close() }
    if let sideState = parts.existingSideState { Self.leaveExclusion(sideState) }
    if let node = parts.existingNode { Self.free(node) }
  }
}

extension AsyncOperation {
  /// Where an operation stands, in the order in which it passes through; being cancelled is beside this.
  public enum State: Int, Sendable, CaseIterable, Comparable {
    /// Waits for an operation that it depends on.
    case pending
    /// May start as soon as its queue, or whoever holds it, starts it.
    case ready
    /// Between the call of `main` and `finish()`.
    case executing
    /// For good.
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
