import Foundation
import Synchronization

/// An operation whose work goes on after `main` has returned, until `finish()` is called.
///
/// Override `main` to begin the work, and `didCancel` to end it early. Everything else is safe to call from any thread,
/// at any time, any number of times.
open class AsyncOperation: Operation, @unchecked Sendable {
  // Safe: all mutable state is atomic, or behind the lock of what an atomic reference leads to.

  /// The lifecycle's code in the low four bits; above them whether anybody observes, whether it has a node, whether it
  /// has extras, and whether it was ever said not to be ready.
  private let word = Atomic<UInt8>(0)
  private let board = LazyReference<ObservationBoard>()
  private let place = LazyReference<DependencyNode>()
  private let extra = LazyReference<OperationExtras>()

  private static let observed: UInt8 = 0x80
  private static let linked: UInt8 = 0x40
  private static let extended: UInt8 = 0x20
  private static let heldBack: UInt8 = 0x10
  private static let flags = observed | linked | extended | heldBack

  /// Begins the work and returns; some thread calls `finish()` when the work is over.
  ///
  /// Called once, on the thread that starts the operation, and never if it was cancelled before. Do not call `super`.
  open override func main() {
    preconditionFailure("\(type(of: self)) does not override main()")
  }

  /// Called once, after `main` has returned, if the operation is cancelled while it executes; end the work and call `finish()`.
  ///
  /// Called on the thread that cancels, or on the one that `main` returned on. The operation is not finished until this
  /// has returned; a `finish()` on another thread may have been called by then, and waits.
  open func didCancel() {}

  /// Called once, on the thread that finishes the operation, before its queue is told and starts another in its place.
  package func operationDidFinish() {}

  /// Begins the operation, or ends it if it was cancelled; its queue calls it.
  ///
  /// Called by hand it is for an operation that is in no queue and whose dependencies have finished. One whose conditions
  /// have not been asked yet begins when they hold.
  public final override func start() {
    if let extras = existingExtras, !isCancelled, DependencyGraph.holdsStart(of: self, extras) { return }
    if state == .pending, OperationQueue.current == nil {
      preconditionFailure("\(self) was started by hand before all that it depends on has finished")
    }
    switch move({ $0.start() }) {
    case .callMain:
      existingExtras?.begin(self)
      didChangeValue(forKey: "isExecuting")
      main()
      if move({ $0.mainReturned() }) == .callDidCancel { endEarly() }
    case .finish: tellFinished()
    case .ignore: break
    case .trap(let reason): preconditionFailure("\(self) \(reason)")
    }
  }

  /// Asks for the end: one that waits never executes, one that executes is told by `didCancel()`; both still finish.
  ///
  /// From any thread. Only the first call before the end has an effect.
  open override func cancel() {
    switch move({ $0.cancel() }) {
    case .tellFoundation: tellCancelled()
    case .tellFoundationThenCallDidCancel:
      super.cancel()
      endEarly()
    case .ignore: break
    }
  }

  /// Cancels the operation unless `main` has been called or the end has been asked for; true if it will not execute.
  ///
  /// From any thread. A withdrawn operation finishes, as any cancelled one, when its queue starts it. An override of
  /// `cancel()` is not called.
  package final func withdraw() -> Bool {
    switch move({ $0.withdraw() }) {
    case .tellFoundation:
      tellCancelled()
      return true
    case .isCancelled: return true
    case .refuse: return false
    }
  }

  /// After a cancellation before the execution, or while `main` is on the stack.
  private func tellCancelled() {
    // Foundation reads isReady here.
    Self.$isTellingReadiness.withValue(true) { super.cancel() }
    // An operation whose start has been put off is started by no queue again.
    if let extras = existingExtras, DependencyGraph.abandonGate(of: self, extras) {
      start()
      return
    }
    // An operation that waits in a feeder is in no queue that would start it; starting it finishes it.
    if let node = linkedNode, let feeder = DependencyGraph.feeder(of: node), feeder.withdraw(node), state == .ready {
      start()
    }
  }

  /// Ends it with an error, as `cancel()` does: from then on `failure` is `error`, whatever else the work ends with but
  /// a success.
  ///
  /// The first error counts; without effect on an operation that was cancelled or has finished before.
  public final func cancel(with error: any Error) {
    if !isFinished, !isCancelled { extras.setCancellation(error) }
    cancel()
  }

  /// Says that the work is over and has failed; only the first call counts, from whatever thread.
  public func finish(with error: any Error) {
    if !isFinished { extras.setFailure(error) }
    finish()
  }

  /// Why the operation did not do what it was made for; nil if it did, or has not finished.
  ///
  /// What `cancel(with:)` or `finish(with:)` was called with, the condition that failed it, or a `CancellationError`.
  public final var failure: (any Error)? { isFinished ? cause : nil }

  /// Asked for once it has finished.
  var cause: (any Error)? {
    let errors = existingExtras?.errors
    return isCancelled ? errors?.cancellation ?? errors?.failure ?? CancellationError() : errors?.failure
  }

  /// Says that the work is over; only the first call counts, from whatever thread.
  ///
  /// Before the operation has been started this makes it finish, without executing, when it is started.
  public final func finish() {
    if move({ $0.finish() }) == .finish { tellFinished() }
  }

  private func endEarly() {
    didCancel()
    if move({ $0.didCancelReturned() }) == .finish { tellFinished() }
  }

  private func tellFinished() {
    operationDidFinish()
    existingExtras?.end(self)
    // What may run now enters its queue first, so that the most urgent is there when this queue starts another.
    let feeder = linkedNode.flatMap { DependencyGraph.finished($0, self) }
    // Linux has nobody to tell of the end of isExecuting.
    #if canImport(Darwin)
    didChangeValue(forKey: "isExecuting")
    #endif
    didChangeValue(forKey: "isFinished")
    feeder?.memberHasLeft()
  }

  /// Where the operation stands.
  public final var state: State { lifecycle.publicState }

  /// True: the work may go on after `main` has returned.
  public final override var isAsynchronous: Bool { true }
  /// Whether its end was asked for before it had finished.
  public final override var isCancelled: Bool { lifecycle.isCancelled }
  /// Whether `main` was called and `finish()` has not taken effect.
  public final override var isExecuting: Bool { lifecycle.isExecuting }
  /// Whether it is over, for good.
  public final override var isFinished: Bool { lifecycle.isFinished }

  /// Whether all that it depends on has finished, or it was cancelled.
  ///
  /// To hold it back, make it depend on something, or give it a condition. An `OperationQueue` reads this when the
  /// operation is added, and by that the operation knows that it is in one: others do better to look at `state`.
  public final override var isReady: Bool {
    let isAsked = word.load(ordering: .acquiring) & (Self.extended | Self.heldBack) == 0 || Self.isTellingReadiness
    if !isAsked { existingExtras.map { DependencyGraph.attach(self, $0, to: nil) } }
    guard lifecycle.isReady else {
      word.bitwiseOr(Self.heldBack, ordering: .acquiringAndReleasing)
      return false
    }
    // A queue that is being given the operation may have read "not ready" just before it became so, and write that down
    // after it was told better. It then reads once more, but does not act on the answer: so it is told again.
    if !isAsked, word.load(ordering: .acquiring) & Self.heldBack != 0 {
      DispatchQueue.global().async { self.tellReadiness() }
    }
    return super.isReady
  }

  /// Set while Foundation reads `isReady` because it has been told to, and not because the operation is being added.
  @TaskLocal private static var isTellingReadiness = false

  /// Makes the queue, if it is in one, look at its readiness again.
  final func tellReadiness() {
    if word.load(ordering: .acquiring) & (Self.extended | Self.heldBack) == 0 {
      didChangeValue(forKey: "isReady")
    } else {
      Self.$isTellingReadiness.withValue(true) { didChangeValue(forKey: "isReady") }
    }
  }

  /// Where it stands among those that are ready; in a feeder it may change until the operation has entered the queue.
  open override var queuePriority: QueuePriority {
    get { super.queuePriority }
    set {
      super.queuePriority = newValue
      if let node = linkedNode { DependencyGraph.feeder(of: node)?.priorityChanged(node, self) }
    }
  }

  /// Makes this operation wait until `operation`, of whatever class, has finished, whichever way it ended.
  ///
  /// From any thread. Without effect once this operation executes. A cycle is a programmer error that stops the program
  /// and says its path; where dependencies come from data, use `depend(on:)`.
  public final override func addDependency(_ operation: Operation) {
    do { try depend(on: operation) } catch { preconditionFailure(error.description) }
  }

  /// Makes this operation wait until `operation` has finished, or throws if that would close a cycle.
  public final func depend(on operation: Operation) throws(DependencyCycle) {
    try DependencyGraph.link(self, to: operation)
  }

  /// Makes this operation wait for `operation` no longer, finished or not.
  public final override func removeDependency(_ operation: Operation) {
    DependencyGraph.unlink(self, from: operation)
  }

  /// What was added as a dependency, finished or not; empty once this operation has finished.
  public final override var dependencies: [Operation] { DependencyGraph.dependencies(of: self) }

  deinit {
    let word = word.load(ordering: .acquiring)
    if word & Self.observed != 0 { board.load()?.close() }
    if word & Self.extended != 0 { extra.load().map(DependencyGraph.leaveExclusion) }
    guard let node = existingNode else { return }
    // One by one, because letting go of the head of a long chain would else free it by recursion.
    var pile = DependencyGraph.forget(node)
    while var operation = pile.popLast() {
      guard isKnownUniquelyReferenced(&operation), let last = operation as? AsyncOperation else { continue }
      pile += DependencyGraph.takeDependencies(of: last)
    }
  }

  final var lifecycle: OperationLifecycle { OperationLifecycle(code: word.load(ordering: .acquiring)) }
}

// MARK: - The one atomic state

extension AsyncOperation {
  private func move<Action>(_ step: (inout OperationLifecycle) -> Action) -> Action {
    let word = word.load(ordering: .acquiring)
    if word & Self.observed == 0, let move = exchange(from: word, step, unlessObserved: true) { return move.action }
    // What changes nothing is not posted either.
    let old = OperationLifecycle(code: word)
    var new = old
    let action = step(&new)
    if new == old { return action }
    // Somebody observes: the move and its posting are one, so that no other move is posted between.
    let posted = board.withObject { board in
      board.post(self) {
        guard let move = exchange(from: self.word.load(ordering: .acquiring), step, unlessObserved: false) else {
          preconditionFailure("an exchange gives up only when it is told to")
        }
        return move
      }
    }
    guard let posted else { preconditionFailure("whoever observes has made the board before") }
    return posted
  }

  /// Moves by compare and exchange, as often as it takes; nil if somebody has begun to observe meanwhile.
  private func exchange<Action>(
    from word: UInt8, _ step: (inout OperationLifecycle) -> Action, unlessObserved: Bool
  ) -> ObservationBoard.Move<Action>? {
    var word = word
    while true {
      let old = OperationLifecycle(code: word)
      var new = old
      let action = step(&new)
      let move = ObservationBoard.Move(old: old, new: new, action: action)
      guard new != old else { return move }
      tellWillChange(from: old, to: new)
      let (isExchanged, current) = self.word.compareExchange(
        expected: word, desired: word & Self.flags | new.code, ordering: .acquiringAndReleasing)
      if isExchanged { return move }
      tellDidNotChange(from: old, to: new)
      if unlessObserved, current & Self.observed != 0 { return nil }
      word = current
    }
  }

  // Darwin's key-value observing wants each change announced before it is made. Linux does nothing with that.
  private func tellWillChange(from old: OperationLifecycle, to new: OperationLifecycle) {
    #if canImport(Darwin)
    if old.isExecuting || new.isExecuting, old.isExecuting != new.isExecuting || new.isFinished {
      willChangeValue(forKey: "isExecuting")
    }
    if new.isFinished { willChangeValue(forKey: "isFinished") }
    #endif
  }

  private func tellDidNotChange(from old: OperationLifecycle, to new: OperationLifecycle) {
    #if canImport(Darwin)
    if old.isExecuting || new.isExecuting, old.isExecuting != new.isExecuting || new.isFinished {
      didChangeValue(forKey: "isExecuting")
    }
    if new.isFinished { didChangeValue(forKey: "isFinished") }
    #endif
  }
}

// MARK: - Dependencies

extension AsyncOperation {
  final func block() -> OperationLifecycle.ReadinessAction { move { $0.block() } }
  final func unblock() -> OperationLifecycle.ReadinessAction { move { $0.unblock() } }

  /// From now on the end of this operation is told to its node; false if it has finished already.
  @discardableResult
  final func beginLinked() -> Bool {
    // The same word as the state, so that an end either sees the mark or comes before it.
    !OperationLifecycle(code: word.bitwiseOr(Self.linked, ordering: .acquiringAndReleasing).oldValue).isFinished
  }

  /// Its node, made when it is first asked for.
  final var node: DependencyNode { place.load() ?? place.storeIfNil(DependencyNode(isOurs: true)) }
  final var existingNode: DependencyNode? { place.load() }

  private var linkedNode: DependencyNode? {
    word.load(ordering: .acquiring) & Self.linked == 0 ? nil : node
  }
}

// MARK: - What few operations have

extension AsyncOperation {
  /// Made when first asked for; from then on the operation's start, cancel and end are told to it.
  final var extras: OperationExtras {
    let extras = extra.load() ?? extra.storeIfNil(OperationExtras())
    word.bitwiseOr(Self.extended, ordering: .acquiringAndReleasing)
    return extras
  }

  final var existingExtras: OperationExtras? {
    word.load(ordering: .acquiring) & Self.extended == 0 ? nil : extra.load()
  }
}

// MARK: - Observers and progress

extension AsyncOperation {
  /// What was last reported; nothing of an unknown whole at first.
  public final var progress: OperationProgress { board.load()?.progress ?? OperationProgress() }

  /// Says how far the work has come, from any thread; ignored once the operation has finished.
  public final func report(completed: Int64, total: Int64? = nil) {
    existingBoard.report(OperationProgress(completed: completed, total: total), self)
  }

  /// Does nothing where nobody observes.
  final func post(_ lines: [OperationLogLine], limit: Int) { board.load()?.post(lines, self, limit: limit) }

  final func add(_ observation: OperationObservation, initial: Bool) {
    existingBoard.add(observation, to: self, initial: initial) {
      OperationLifecycle(code: word.bitwiseOr(Self.observed, ordering: .acquiringAndReleasing).oldValue)
    }
  }

  /// Tells the observers, if there are any, of what is no change of the operation's own state.
  final func announce(_ news: OperationNews) { board.load()?.announce(news, self) }

  final var existingBoard: ObservationBoard { board.load() ?? board.storeIfNil(ObservationBoard()) }
}
