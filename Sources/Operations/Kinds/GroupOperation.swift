import Foundation

/// An operation that consists of others, its children, which run in a queue of its own while it executes.
///
/// It begins them when it executes, takes more until it is over, and finishes after the last of them. Cancelling it
/// cancels them; if it never executes, they finish without executing too. While the queue that it is in is suspended, no
/// further child begins. Its progress is the sum of theirs, a hundred units for each child. The children share its mutual
/// exclusions.
///
/// Where a child receives a value (by `then`, `gathered()` or the like) from an operation that nobody runs by the time the
/// group gives the child to its queue, that operation becomes a child too. Other dependencies may be anywhere.
open class GroupOperation: AsyncOperation, @unchecked Sendable {
  // Safe: constants, and all state behind a lock.

  /// The effect of a child's failure on the group.
  ///
  /// A child that is cancelled without an error has not failed.
  public enum ChildFailurePolicy: Sendable {
    /// None.
    case ignore
    /// The others run; then the group fails with a `GroupFailure`.
    case finishThenFail
    /// The others are cancelled, and the group fails when they have ended.
    case cancelOthers
  }

  private struct State {
    var phase = Phase.collecting([])
    /// The number of children that have not ended, and of threads that are adding some.
    var unfinished = 0
    var isStopping = false
    var failures: [GroupFailure.Child] = []
    var shares: [ObjectIdentifier: Int64] = [:]
    /// The children that have not ended, from when the group executes.
    var children: [ObjectIdentifier: Child] = [:]
    /// The sum of the shares of children that have ended.
    var done: Int64 = 0
    var count: Int64 = 0
  }

  private struct Child {
    let operation: Operation
    /// The observation of its progress.
    var token: ObservationToken?
  }

  private enum Phase {
    case collecting([Operation])
    case executing
    case over
  }

  /// The units of one child in the progress.
  private static let share: Int64 = 100
  private static let ownQueue = DispatchQueue(label: "GroupOperation")

  private let groupState = Lock(State())
  private let feeder: OperationFeeder
  private let policy: ChildFailurePolicy

  /// Makes a group that has not begun.
  ///
  /// - Parameters:
  ///   - width: How many children execute at the same time at most, at least one.
  ///   - policy: The effect of a child's failure.
  ///   - children: Any operations that are in no queue; their dependencies may be anywhere. A child that waits for the
  ///     group, or for which the group waits, is a programmer error.
  public init(
    width: Int = ProcessInfo.processInfo.activeProcessorCount,
    onChildFailure policy: ChildFailurePolicy = .finishThenFail,
    _ children: [Operation] = []
  ) {
    let queue = OperationQueue()
    Self.check(width)
    queue.maxConcurrentOperationCount = width
    feeder = OperationFeeder(feeding: queue)
    self.policy = policy
    super.init()
    feeder.whenStalled = { [weak self] in self?.breakDeadlock() }
    feeder.beforeAdmission = { [weak self] in self?.followSuspension() }
    do { _ = try adopt(children) } catch { programmerError("\(error)") }
  }

  /// How many children execute at the same time at most, at least one; may be changed at any time.
  public final var width: Int {
    get { feeder.maxConcurrentOperationCount }
    set {
      Self.check(newValue)
      feeder.maxConcurrentOperationCount = newValue
    }
  }

  private static func check(_ width: Int) {
    require(
      width > 0 || width == OperationQueue.defaultMaxConcurrentOperationCount,
      "a group of width \(width) would never end: its width is at least 1")
  }

  /// Called once for each child that has ended, on the thread that ended it, before the group can be over.
  ///
  /// The place to add further children. The default does nothing.
  open func childDidFinish(_ child: Operation, failure: (any Error)?) {}

  // MARK: Children

  /// Adds a child; once the group has been cancelled, the child is cancelled at once.
  public final func add(_ child: Operation) throws(GroupAddError) { try add([child]) }

  /// Adds children; throws, and adds none, if the group is over or they would wait for each other for ever.
  ///
  /// Waiting for each other includes a child that waits for the group, and one for which the group waits.
  public final func add(_ children: [Operation]) throws(GroupAddError) {
    switch try adopt(children) {
    case .over: throw .groupHasFinished
    case .collecting: break
    case .executing:
      defer { leave() }
      do { try feed(children) } catch { throw .cycle(error) }
    }
  }

  private enum Adoption {
    case collecting
    /// The group can't be over until `leave()` is called.
    case executing
    case over
  }

  private func adopt(_ children: [Operation]) throws(GroupAddError) -> Adoption {
    let ours = children.compactMap { $0 as? AsyncOperation }
    if !ours.isEmpty, let cycle = DependencyGraph.cycle(of: self, with: ours) { throw .cycle(cycle) }
    let adoption = groupState.withLock { state -> Adoption in
      switch state.phase {
      case .over: return .over
      case .collecting(let others):
        state.phase = .collecting(others + children)
        state.unfinished += children.count
        state.count += Int64(children.count)
        return .collecting
      case .executing:
        state.unfinished += children.count + 1
        state.count += Int64(children.count)
        for child in children { state.children[ObjectIdentifier(child)] = Child(operation: child) }
        return .executing
      }
    }
    if case .over = adoption { return adoption }
    for child in ours {
      let sideState = child.parts.sideState
      sideState.group = self
    }
    QueueEntryObserver.tell(children, .parent(self))
    return adoption
  }

  /// Called under the graph's lock: the children of an executing group, if every one of them waits.
  final var stuckChildren: [AsyncOperation] { feeder.stuckMembers.compactMap { $0 as? AsyncOperation } }

  private func breakDeadlock() {
    let isStuck = DependencyGraph.contents.withLock { _ in !stuckChildren.isEmpty }
    if isStuck { DependencyGraph.breakDeadlock(of: [.end(self)]) }
  }

  private func feed(_ added: [Operation]) throws(DependencyCycle) {
    // Taken in while another child is unfinished, so that the group cannot be over.
    let sources = Self.takenAlong(by: added, \.isSource)
    var children = added
    if !sources.isEmpty, case .executing? = try? adopt(sources) {
      children += sources
      leave()
    }
    for child in children { observe(child) }
    // Before they are added, so that none begins.
    if mustStop { for child in children { child.cancel() } }
    do { try feeder.add(children) } catch {
      disown(children)
      throw error
    }
    reportProgress()
    if mustStop { feeder.cancelAllOperations() }
    breakDeadlock()
  }

  private var mustStop: Bool { isCancelled || groupState.withLock(\.isStopping) }

  /// Observes the end of a child and its progress; before it can begin.
  private func observe(_ child: Operation) {
    let token = (child as? AsyncOperation)?.observe(\.progress, on: Self.ownQueue, options: .initial) {
      [weak self] child, change in
      self?.childReported(child, change.newValue)
    }
    groupState.withLock { $0.children[ObjectIdentifier(child)]?.token = token }
    // The feeder refuses a child that has ended before.
    child.whenEnded { self.childEnded($0, $1) }
  }

  private func disown(_ children: [Operation]) {
    for child in children { Self.letGo(child) }
    groupState.withLock { state in
      for child in children { state.children[ObjectIdentifier(child)] = nil }
      state.unfinished -= children.count
      state.count -= Int64(children.count)
    }
  }

  private func childEnded(_ child: Operation, _ failure: (any Error)?) {
    let id = ObjectIdentifier(child)
    // Not of a child that could not be added.
    guard let ended = groupState.withLock({ $0.children.removeValue(forKey: id) }) else { return }
    ended.token?.cancel()
    let name = Self.displayName(of: child)
    let mustStop = groupState.withLock { state in
      state.shares[id] = nil
      state.done += Self.share
      guard let failure, !(failure is CancellationError) else { return false }
      if policy != .ignore { state.failures.append(GroupFailure.Child(name: name, failure: failure)) }
      guard policy == .cancelOthers, !state.isStopping else { return false }
      state.isStopping = true
      return true
    }
    reportProgress()
    followSuspension()
    if mustStop { feeder.cancelAllOperations() }
    childDidFinish(child, failure: failure)
    leave()
  }

  private func leave() {
    let failures = groupState.withLock { state -> [GroupFailure.Child]? in
      state.unfinished -= 1
      guard state.unfinished == 0, case .executing = state.phase else { return nil }
      state.phase = .over
      return state.failures
    }
    guard let failures else { return }
    if failures.isEmpty || isCancelled { finish() } else { finish(with: GroupFailure(children: failures)) }
  }

  // MARK: Suspension

  private struct Suspension {
    /// The queue that the group is in.
    weak var outer: OperationQueue?
    var isFollowed = false
  }

  private let suspension = Lock(Suspension())
  private static let resumptionInterval = DispatchTimeInterval.milliseconds(50)

  /// Suspends the children's queue if the group's own is suspended; called whenever a child could begin after that.
  private func followSuspension() {
    // A group in a group: the outer one has had no occasion to look, if nothing but this one is executing in it.
    (parts.existingSideState?.group as? GroupOperation)?.followSuspension()
    let isNew = suspension.withLock { suspension in
      guard let outer = suspension.outer, outer.isSuspended, !isCancelled, !suspension.isFollowed else { return false }
      suspension.isFollowed = true
      feeder.queue.isSuspended = true
      return true
    }
    if isNew { awaitResumption() }
  }

  /// Foundation tells nobody that a queue is resumed, so it is looked at while it is suspended and holds this group up.
  private func awaitResumption() {
    Self.ownQueue.asyncAfter(deadline: .now() + Self.resumptionInterval) { [weak self] in
      if let self, !endSuspension() { awaitResumption() }
    }
  }

  /// Resumes the children's queue if the group's own is; true if it is not suspended after that.
  @discardableResult
  private func endSuspension() -> Bool {
    suspension.withLock { suspension in
      guard suspension.isFollowed else { return true }
      if let outer = suspension.outer, outer.isSuspended, !isCancelled { return false }
      suspension.isFollowed = false
      feeder.queue.isSuspended = false
      return true
    }
  }

  // MARK: Progress

  private func childReported(_ child: AsyncOperation, _ progress: OperationProgress) {
    guard let fraction = progress.fraction else { return }
    groupState.withLock { state in
      let id = ObjectIdentifier(child)
      // Not of a child that has ended.
      guard state.children[id] != nil else { return }
      state.shares[id] = Int64(fraction * Double(Self.share))
    }
    reportProgress()
  }

  private func reportProgress() {
    // Under the lock, so that an older sum cannot go after a newer one.
    groupState.withLock { state in
      let completed = state.shares.values.reduce(state.done, +)
      report(completed: completed, total: state.count * Self.share)
    }
  }

  // MARK: Life

  /// Begins the children; the queue calls it.
  public final override func main() {
    let queue = OperationQueue.current
    suspension.withLock { $0.outer = queue }
    let children = groupState.withLock { state -> [Operation] in
      guard case .collecting(let children) = state.phase else { return [] }
      state.phase = .executing
      state.unfinished += 1
      for child in children { state.children[ObjectIdentifier(child)] = Child(operation: child) }
      return children
    }
    do { try feed(children) } catch {
      groupState.withLock { $0.phase = .over }
      end(children)
      finish(with: error)
      return
    }
    leave()
  }

  /// Cancels the children; the queue calls it, and an override calls `super`.
  open override func didCancel() {
    feeder.cancelAllOperations()
    endSuspension()
  }

  package final override func operationDidFinish() {
    let children = groupState.withLock { state -> [Operation] in
      defer { state.phase = .over }
      guard case .collecting(let children) = state.phase else { return [] }
      return children
    }
    end(children)
  }

  /// Ends children that have never been in a queue, so that their dependents can run.
  private func end(_ children: [Operation]) {
    // All of them first, because the end of one may let another begin.
    for child in children { child.cancel() }
    for child in children where !child.isFinished && !child.isExecuting { child.start() }
  }
}

extension GroupOperation: ParentOperation {
  package final var unfinishedChildren: [Operation] {
    groupState.withLock { state in
      switch state.phase {
      case .collecting(let children): children.filter { !$0.isFinished }
      case .executing: state.children.values.map(\.operation)
      case .over: []
      }
    }
  }

  package final var toleratesFailures: Bool { policy == .ignore }
  package final func isAttempt(_ child: Operation) -> Bool { false }
}

/// Children of a group failed.
public struct GroupFailure: Error, CustomStringConvertible {
  /// One child that failed.
  public struct Child: Sendable {
    /// Its name, or that of its class.
    public let name: String
    /// What it failed with.
    public let failure: any Error

    /// Makes one of its name and its failure.
    public init(name: String, failure: any Error) {
      self.name = name
      self.failure = failure
    }
  }

  /// The children that failed, in the order of their ends; at least one.
  public var children: [Child] { contents.children }

  private let contents: Contents
  /// What has led to the failure of the first child; nil if no child failed.
  let origin: FailureOrigin?
  /// Whether a child, or a child of it, has failed because of a dependency.
  let isLedByDependency: Bool

  /// Makes the failure of a group of which these children failed.
  public init(children: [Child]) {
    contents = Contents(children)
    origin = children.first.map { FailureOrigin(of: $0) }
    isLedByDependency = children.contains { FailureOrigin.isLedByDependency($0.failure) }
  }

  /// One sentence, which names the first, and where that is a group the origin of its failure.
  public var description: String {
    guard let first = children.first, let inner = first.failure as? GroupFailure else { return sentence }
    return "\(first.name) failed: \(inner.sentence)\(others)"
  }

  private var sentence: String {
    origin.map { "\($0.sentence(line(of: $0.error)))\(others)" } ?? "no child failed"
  }

  private var others: String { children.count > 1 ? " (and \(children.count - 1) more)" : "" }

  /// The children; where groups were in groups, one by one is freed, because recursion would overflow the stack.
  private final class Contents: @unchecked Sendable {
    // Safe: changed only where nobody else has a reference.
    var children: [Child]

    init(_ children: [Child]) { self.children = children }

    deinit {
      var pile = children
      children = []
      while !pile.isEmpty {
        guard var inner = Self.contents(of: pile.removeLast()), isKnownUniquelyReferenced(&inner) else { continue }
        pile += inner.children
        inner.children = []
      }
    }

    /// Those of the group that failed within; `child` is gone afterwards.
    private static func contents(of child: consuming Child) -> Contents? {
      (child.failure as? GroupFailure)?.contents
    }
  }
}

/// Why children could not be added to a group.
public enum GroupAddError: Error, CustomStringConvertible {
  /// Nothing can be added to a group that is over.
  case groupHasFinished
  /// The children would wait for each other for ever.
  case cycle(DependencyCycle)

  /// One sentence.
  public var description: String {
    switch self {
    case .groupHasFinished: "the group has finished, and takes no more children"
    case .cycle(let cycle): cycle.description
    }
  }
}
