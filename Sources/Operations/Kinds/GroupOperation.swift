import Foundation

/// An operation that consists of other operations, its children, which run in a queue of its own while it executes.
///
/// The group begins its children when it executes, accepts more until it finishes, and finishes after the last child.
/// Cancelling the group cancels the children. If the group never executes, the children finish without executing before
/// the group does, and at once when it is cancelled. While the queue that contains the group is suspended, no further
/// child begins, except that the next one may begin when a child that is not an `AsyncOperation` ends. The group's
/// progress is the sum of its children's, a hundred units for each child; a child that was cancelled or has failed counts
/// with its last reported progress. The children share the group's mutual exclusions.
///
/// If a child receives a value (by `then`, `collected()` or the like) from an operation that is in no queue when the
/// group gives the child to its queue, that operation becomes a child too. Other dependencies may be in any queue.
open class GroupOperation: AsyncOperation, @unchecked Sendable {
  // Safe: constants, and all state behind a lock.

  /// The effect of a child's failure on the group.
  ///
  /// A child that is cancelled without an error has not failed.
  public enum ChildFailurePolicy: Sendable {
    /// No effect.
    case ignore
    /// The other children run; then the group fails with the `OperationError` `.childrenFailed`.
    case finishThenFail
    /// The other children are cancelled, and the group fails when they have ended.
    case cancelOthers
  }

  private struct State {
    var phase = Phase.collecting
    var width: Int
    /// The children that have not ended, in the order of their addition.
    var children = IdentityList<Child>()
    /// The number of children that have not ended, plus the number of threads that are adding children.
    var unfinished = 0
    var isStopping = false
    /// Whether the group's queue has started it, although it never executes.
    var isStarted = false
    /// The reason why its first children could not be added.
    var refusal: OperationError?
    var failures: [(name: String, failure: any Error)] = []
    /// The units completed by the children, including children that have ended.
    var completed: Int64 = 0
    var count: Int64 = 0

    init(width: Int) { self.width = width }
  }

  private final class Child: Identifying, @unchecked Sendable {
    // Safe: touched only under the lock of the group's state.
    let operation: Operation
    var completed: Int64 = 0
    /// The observation of the child's progress.
    var token: ObservationToken?

    init(_ operation: Operation) { self.operation = operation }

    var identity: ObjectIdentifier { ObjectIdentifier(operation) }
  }

  private enum Phase {
    case collecting
    case executing
    /// The group never executes; its children finish without executing too.
    case ending
    case over
  }

  /// The units of one child in the progress.
  private static let share: Int64 = 100
  private static let ownQueue = DispatchQueue(label: "GroupOperation")

  private let groupState: Lock<State>
  private let policy: ChildFailurePolicy
  /// Created when the group executes, so that a waiting group takes little memory.
  private let lazyDependencyQueue = LazyReference<DependencyQueue>()
  var dependencyQueue: DependencyQueue? { lazyDependencyQueue.load() }

  /// Makes a group that has not begun.
  ///
  /// - Parameters:
  ///   - width: The maximum number of children that execute at the same time, at least one.
  ///   - policy: The effect of a child's failure.
  ///   - children: Any operations that are in no queue; their dependencies may be in any queue. A child that waits for
  ///     the group, or that the group waits for, is a programmer error.
  public init(
    width: Int = ProcessInfo.processInfo.activeProcessorCount,
    onChildFailure policy: ChildFailurePolicy = .finishThenFail,
    _ children: [Operation] = []
  ) {
    Self.check(width)
    groupState = Lock(State(width: width))
    self.policy = policy
    super.init()
    do { _ = try adopt(children) } catch { programmerError("\(error)") }
  }

  deinit {
    var children = groupState.withLock { $0.children.takeAll() }.map(\.operation)
    Nesting.release(&children)
  }

  /// The maximum number of children that execute at the same time, at least one; may be changed at any time.
  public final var width: Int {
    get { groupState.withLock(\.width) }
    set {
      Self.check(newValue)
      groupState.withLock { $0.width = newValue }
      dependencyQueue?.maxConcurrentOperationCount = newValue
    }
  }

  private static func check(_ width: Int) {
    require(
      width > 0 || width == OperationQueue.defaultMaxConcurrentOperationCount,
      "a group of width \(width) would never end: its width is at least 1")
  }

  /// Called once for each child that has ended, on the thread that ended it, before the group can finish.
  ///
  /// Override it to add further children. The default does nothing.
  open func childDidFinish(_ child: Operation, failure: (any Error)?) {}

  // MARK: Children

  /// The children that have not finished, begun or not, in the order of their addition.
  ///
  /// From any thread.
  public final var children: [Operation] {
    groupState.withLock { $0.children.items }.map(\.operation).filter { !$0.isFinished }
  }

  /// Adds a child; once the group has been cancelled, the child is cancelled at once.
  public final func add(_ child: Operation) throws(OperationError) { try add([child]) }

  /// Adds children; throws, and adds none, if the group has finished or if there would be a deadlock.
  ///
  /// This covers a child that waits for the group, and a child that the group waits for.
  public final func add(_ children: [Operation]) throws(OperationError) { try add(children, beside: false) }

  /// As the other; with `isBeside`, the children take no slot of the group's queue.
  final func add(_ children: [Operation], beside isBeside: Bool) throws(OperationError) {
    let phase = try adopt(children)
    switch phase {
    case .over: throw OperationError(.groupHasFinished, of: displayName)
    case .collecting: break
    case .executing:
      defer { leave() }
      do { try feed(children, beside: isBeside) } catch {
        disown(children)
        throw error
      }
    case .ending:
      end(children)
      leave()
    }
  }

  private func adopt(_ children: [Operation]) throws(OperationError) -> Phase {
    let ours = children.compactMap { $0 as? AsyncOperation }
    if !ours.isEmpty, let cycle = DependencyGraph.cycle(of: self, with: ours) { throw OperationError(cycle: cycle) }
    let phase = groupState.withLock { state -> Phase in
      guard state.phase != .over else { return .over }
      for child in children { state.children.append(Child(child)) }
      // The group can't finish while children are being added: `leave()` follows.
      state.unfinished += children.count + (state.phase == .collecting ? 0 : 1)
      state.count += Int64(children.count)
      return state.phase
    }
    guard phase != .over else { return phase }
    for child in ours { child.parts.rareState.group = self }
    QueueEntryObserver.tell(children, .parent(self))
    return phase
  }

  final override var heldChildren: [Operation] { children }

  final override var stuckChildren: [AsyncOperation] {
    dependencyQueue?.stuckMembers.compactMap { $0 as? AsyncOperation } ?? []
  }

  private func breakDeadlock() { DependencyGraph.breakDeadlock(of: [.end(self)]) }

  private func feed(_ added: [Operation], beside isBeside: Bool = false) throws(OperationError) {
    guard let dependencyQueue else { programmerError("a group that executes has a dependency queue") }
    // Before any source is adopted: those of refused children stay free.
    let target = isBeside ? DependencyQueue(feeding: OperationQueue()) : dependencyQueue
    try target.refuseForeignCycle(added)
    // Adopted while another child is unfinished, so that the group can't finish.
    let sources = Self.takenAlong(by: added, .sources)
    var children = added
    if !sources.isEmpty, case .executing? = try? adopt(sources) {
      children += sources
      leave()
    }
    for child in children { observe(child) }
    // Cancelled before they are added, so that none begins.
    if mustStop { for child in children { child.cancel() } }
    try target.add(children)
    reportProgress()
    if mustStop { dependencyQueue.cancelAllOperations() }
    // The other children have been searched before: a deadlock through a new child begins at its start.
    if dependencyQueue.mayBeStuckNow {
      DependencyGraph.breakDeadlock(of: children.compactMap { ($0 as? AsyncOperation).map(DeadlockSearch.Event.start) })
    }
  }

  private var mustStop: Bool { isCancelled || groupState.withLock(\.isStopping) }

  /// Observes the end and the progress of a child; called before the child can begin.
  private func observe(_ child: Operation) {
    let token = (child as? AsyncOperation)?.observe(\.progress, on: Self.ownQueue, options: .initial) {
      [weak self] child, change in
      self?.childReported(child, change.newValue)
    }
    groupState.withLock { $0.children.find(ObjectIdentifier(child))?.token = token }
    // The dependency queue refuses a child that has ended before.
    child.whenEnded { self.childEnded($0, $1) }
  }

  private func disown(_ children: [Operation]) {
    for child in children { Self.letGo(child) }
    groupState.withLock { state in
      for child in children { state.children.remove(ObjectIdentifier(child)) }
      state.unfinished -= children.count
      state.count -= Int64(children.count)
    }
  }

  private func childEnded(_ child: Operation, _ failure: (any Error)?) {
    let id = ObjectIdentifier(child)
    // Not for a child that could not be added.
    guard let ended = groupState.withLock({ $0.children.remove(id) }) else { return }
    ended.token?.cancel()
    let name = child.displayName
    // A cancelled or failed child keeps its last reported progress, which may not have been delivered yet.
    let fraction = failure == nil ? 1 : (child as? AsyncOperation)?.progress.fraction
    let mustStop = groupState.withLock { state in
      if let fraction { state.completed += Self.units(of: fraction) - ended.completed }
      guard let failure, !(failure is CancellationError) else { return false }
      if policy != .ignore { state.failures.append((name, failure)) }
      guard policy == .cancelOthers, !state.isStopping else { return false }
      state.isStopping = true
      return true
    }
    reportProgress()
    followSuspension()
    if mustStop { dependencyQueue?.cancelAllOperations() }
    childDidFinish(child, failure: failure)
    leave()
  }

  private func leave() {
    let last = groupState.withLock { state -> (phase: Phase, isStarted: Bool, failure: (any Error)?)? in
      state.unfinished -= 1
      guard state.unfinished == 0 else { return nil }
      let phase = state.phase
      if phase == .executing { state.phase = .over }
      return (phase, state.isStarted, state.refusal ?? OperationError(children: state.failures))
    }
    guard let (phase, isStarted, failure) = last else { return }
    // In a deep nest, the end of one group ends the next.
    switch phase {
    case .executing:
      Nesting.call {
        if let failure, !self.isCancelled { self.finish(with: failure) } else { self.finish() }
      }
    case .ending: if isStarted { Nesting.call { self.begin() } }
    case .collecting, .over: break
    }
  }

  // MARK: Suspension

  /// Set once, when the group executes; before that, nothing is suspended.
  private let lazySuspension = LazyReference<GroupSuspension>()

  /// Suspends the children's queue if the outermost group's queue is suspended.
  private func followSuspension() {
    guard let suspension = lazySuspension.load(), let dependencyQueue else { return }
    suspension.follow(dependencyQueue.queue) { !self.isCancelled }
  }

  // MARK: Progress

  private func childReported(_ child: AsyncOperation, _ progress: OperationProgress) {
    guard let fraction = progress.fraction else { return }
    let isNew = groupState.withLock { state in
      // Not for a child that has ended.
      guard let child = state.children.find(ObjectIdentifier(child)) else { return false }
      let completed = Self.units(of: fraction)
      state.completed += completed - child.completed
      defer { child.completed = completed }
      return child.completed != completed
    }
    if isNew { reportProgress() }
  }

  private static func units(of fraction: Double) -> Int64 { Int64(fraction * Double(share)) }

  private func reportProgress() {
    // Under the lock, so that an older sum can't follow a newer one.
    groupState.withLock { state in
      report(completed: state.completed, total: state.count * Self.share)
    }
  }

  // MARK: Life

  /// Begins the children; the queue calls it.
  public final override func main() {
    let children = groupState.withLock { state -> [Operation]? in
      guard state.phase == .collecting else { return nil }
      makeDependencyQueue(width: state.width)
      state.phase = .executing
      state.unfinished += 1
      return state.children.items.map(\.operation)
    }
    // Called by hand, or cancelled while it began.
    guard let children else { return }
    do { try feed(children) } catch {
      groupState.withLock { $0.refusal = error }
      end(children)
    }
    leave()
  }

  private func makeDependencyQueue(width: Int) {
    // If the conditions have deferred the start, the current thread does not know the queue.
    let outer = OperationQueue.current ?? parts.existingRareState?.startQueue
    let suspension = (outer as? ChildrenQueue)?.suspension ?? GroupSuspension(of: outer)
    let queue = ChildrenQueue(suspension)
    queue.maxConcurrentOperationCount = width
    let dependencyQueue = DependencyQueue(feeding: queue)
    dependencyQueue.whenStalled = { [weak self] in self?.breakDeadlock() }
    dependencyQueue.beforeAdmission = { [weak self] in self?.followSuspension() }
    _ = lazySuspension.storeIfNil(suspension)
    _ = lazyDependencyQueue.storeIfNil(dependencyQueue)
  }

  /// Cancels the children; the queue calls it, and an override calls `super`.
  open override func didCancel() {
    Nesting.call {
      self.dependencyQueue?.cancelAllOperations()
      if let queue = self.dependencyQueue?.queue { self.lazySuspension.load()?.leave(queue) }
    }
  }

  package final override func operationDidFinish() { groupState.withLock { $0.phase = .over } }

  // MARK: A group that never executes

  final override var mayFinishUnbegun: Bool {
    groupState.withLock { $0.phase == .over || $0.phase == .executing || $0.phase == .ending && $0.unfinished == 0 }
  }

  /// Ends the children now: they are in no queue, however late the queue that contains the group starts it.
  final override func willNotExecute() {
    let children = groupState.withLock { state -> [Operation]? in
      guard state.phase == .collecting else { return nil }
      state.phase = .ending
      state.unfinished += 1
      return state.children.items.map(\.operation)
    }
    guard let children else { return }
    Nesting.call {
      self.end(children)
      self.leave()
    }
  }

  final override func finishAfterWhatItHolds() {
    willNotExecute()
    let isAlone = groupState.withLock { state in
      state.isStarted = true
      return state.unfinished == 0
    }
    if isAlone { begin() }
  }

  /// Ends children that have never been in a queue, so that their dependents can run.
  private func end(_ children: [Operation]) {
    // All are cancelled first, because the end of one may let another begin.
    for child in children { child.cancel() }
    for child in children {
      if !child.isFinished, !child.isExecuting { child.start() }
      if !child.isFinished { child.whenEnded { child, _ in self.unbegunChildEnded(child) } }
      if child.isFinished { unbegunChildEnded(child) }
    }
  }

  private func unbegunChildEnded(_ child: Operation) {
    guard groupState.withLock({ $0.children.remove(ObjectIdentifier(child)) }) != nil else { return }
    leave()
  }
}

extension GroupOperation: ParentOperation {
  package final var unfinishedChildren: [Operation] { children }
  package final var toleratesFailures: Bool { policy == .ignore }
  package final func isAttempt(_ child: Operation) -> Bool { false }
}
