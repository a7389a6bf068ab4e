import Foundation
import Synchronization

/// Hands operations to an `OperationQueue` when they are ready, a few more than it runs at once.
///
/// Foundation's queue on Linux visits all that waits in it at every event. Here waiting operations stay in our own graph,
/// and the queue holds only what may run: a hundred thousand operations are no harder on it than ten. Width, suspension
/// and `queuePriority` are the queue's and the operations' own. Any thread may call anything.
///
/// An `AsyncOperation` that is cancelled before it has entered the queue finishes at once, without executing, even if
/// the queue is suspended. Of an operation of another class the feeder knows the dependencies that it has when it is
/// added, and its end; a cancellation takes effect when it would run.
///
/// The feeder keeps each operation until it has finished, and itself as long as there is one.
public final class OperationFeeder: NodeHolder, @unchecked Sendable {
  // Safe: everything that varies is atomic, locked, or touched only under the dependency graph's lock.

  /// The queue that is fed.
  public let queue: OperationQueue

  private var members: [DependencyNode] = []
  /// The members that are not of our class.
  private var foreign: [ObjectIdentifier: DependencyNode] = [:]
  private var ready = [ReadyQueue](repeating: ReadyQueue(), count: PriorityLevel.allCases.count)
  private var entered = [Int](repeating: 0, count: PriorityLevel.allCases.count)
  /// How many of the entered ones wait again.
  private var heldBack = 0
  /// How many have been removed of which the queue has not been told yet.
  private let leaving = Atomic(0)
  /// The queue's width when it was last read: its getter may be anybody's, and is called without the lock.
  private let width = Atomic(0)
  private var window = PrefetchWindow()
  private var isAnyReady = false
  private var isAdmitting = false
  /// How many threads are cancelling everything: nothing enters until they are done.
  private var holds = 0
  private var whenEmpty: [@Sendable () -> Void] = []
  /// Whether there is anything in `whenEmpty`, for threads without the lock.
  private let isAwaited = Atomic(false)
  /// Where the ends of foreign operations are told; there are never more in it than in the queue.
  private let lazyEnds = LazyReference<OperationQueue>()

  /// Called when the last member that had entered the queue has left, and all others wait; set before it is shared.
  var whenStalled: (@Sendable () -> Void)?
  private let isStalled = Atomic(false)
  /// Called before operations enter the queue; set before it is shared.
  var beforeAdmission: (@Sendable () -> Void)?

  private let notifier = Lock<DelegateNotifier?>(nil)
  private let hasNotifier = Atomic(false)

  /// Tells `delegate`, which is not kept, what is added from now on and when it has finished; nil ends that.
  ///
  /// On `delegateQueue`, in order; `willAdd` on the thread that adds. The queue named is the one that is fed.
  public func setDelegate(_ delegate: (any OperationQueueDelegate)?, on delegateQueue: DispatchQueue = .main) {
    notifier.withLock { $0 = delegate.map { DelegateNotifier($0, on: delegateQueue) } }
    hasNotifier.store(delegate != nil, ordering: .releasing)
  }

  /// Makes a feeder for `queue`, which may hold and be given other operations beside.
  public init(feeding queue: OperationQueue) { self.queue = queue }

  // MARK: Members

  /// An operation to be added, with the properties that are read before the lock is taken: their getters may be anybody's.
  private struct Newcomer {
    let operation: Operation
    let asynchronous: AsyncOperation?
    let level: PriorityLevel
    // Of a foreign operation; our own, whose getters are final, may change until the lock is taken.
    private var wasStarted = false
    private var wasCancelled = false
    private(set) var unfinishedDependencies: [Operation] = []

    var isStarted: Bool { asynchronous.map { $0.state >= .executing } ?? wasStarted }
    var isCancelled: Bool { asynchronous?.isCancelled ?? wasCancelled }

    init(_ operation: Operation) {
      self.operation = operation
      asynchronous = operation as? AsyncOperation
      // Linked first: from then on a change of the priority is told to the graph.
      asynchronous?.parts.set(.isLinked)
      level = PriorityLevel(operation.queuePriority)
      if asynchronous == nil {
        wasCancelled = operation.isCancelled
        wasStarted = operation.isExecuting || operation.isFinished
        unfinishedDependencies = operation.dependencies.filter { !$0.isFinished }
      }
    }
  }

  /// Adds an operation, which enters the queue when all that it depends on has finished.
  ///
  /// Throws if operations of other classes have been linked in a cycle that it is part of; then nothing has been added.
  public func add(_ operation: Operation) throws(DependencyCycle) {
    guard let asynchronous = operation as? AsyncOperation, !asynchronous.parts.has(.hasSideState),
      !hasNotifier.load(ordering: .acquiring)
    else { return try add([operation]) }
    if QueueEntryObserver.isNeeded { QueueEntryObserver.tell([operation], .queue(queue)) }
    let newcomer = Newcomer(operation)
    readWidth()
    let entry = DependencyGraph.contents.withLock { _ -> (isDirect: Bool, admission: Admission)? in
      guard let node = join(newcomer) else { return nil }
      guard node.unfinished == 0 || newcomer.isCancelled else { return (false, Admission()) }
      if entersAtOnce(node) { return (true, Admission()) }
      nodeIsReady(node)
      return (false, takeAdmission())
    }
    guard let entry else { Self.refuse(operation) }
    if entry.isDirect { queue.addOperation(operation) } else { admit(entry.admission) }
  }

  /// Adds operations; of those that are ready the more urgent enter first, and equals in their order here.
  ///
  /// Throws if operations of other classes have been linked in a cycle that these are part of; then nothing has been added.
  public func add(_ operations: [Operation]) throws(DependencyCycle) {
    guard hasNotifier.load(ordering: .acquiring), let notifier = notifier.withLock({ $0 }) else {
      return try enlist(operations)
    }
    try notifier.notify(of: operations, addedTo: queue) { () throws(DependencyCycle) in try enlist(operations) }
  }

  private func enlist(_ operations: [Operation]) throws(DependencyCycle) {
    try refuseForeignCycle(operations)
    QueueEntryObserver.tell(operations, .queue(queue))
    let newcomers = operations.map(Newcomer.init)
    var refused: Operation?
    let watched = DependencyGraph.contents.withLock { _ -> [(Operation, DependencyNode)] in
      // All of them first: a foreign operation's dependency may stand behind it in the list.
      var nodes: [DependencyNode] = []
      for newcomer in newcomers {
        guard let node = join(newcomer) else {
          refused = newcomer.operation
          return []
        }
        nodes.append(node)
      }
      var watched: [(Operation, DependencyNode)] = []
      for (newcomer, node) in zip(newcomers, nodes) {
        for dependency in newcomer.unfinishedDependencies {
          if let asynchronous = dependency as? AsyncOperation {
            if asynchronous.parts.set(.isLinked).isFinished { continue }
            let other = asynchronous.parts.node
            other.dependents.append(node)
          } else if let member = foreign[ObjectIdentifier(dependency)] {
            member.dependents.append(node)
          } else {
            node.foreign[ObjectIdentifier(dependency)] = false
            watched.append((dependency, node))
          }
          node.unfinished += 1
        }
      }
      for (newcomer, node) in zip(newcomers, nodes) where node.unfinished == 0 || newcomer.isCancelled {
        nodeIsReady(node)
      }
      return watched
    }
    if let refused { Self.refuse(refused) }
    for (dependency, node) in watched {
      dependency.whenFinished { DependencyGraph.foreignHasFinished(dependency, node) }
    }
    for newcomer in newcomers { newcomer.asynchronous?.didAttach(to: queue) }
    nodesAreReady()
  }

  /// Not called under the graph's lock, because the operation's description may be anybody's.
  private static func refuse(_ operation: Operation) -> Never {
    programmerError("\(operation) has been started or added before; an operation runs once")
  }

  /// Called under the graph's lock: nil for an operation that has been started or added before.
  private func join(_ newcomer: Newcomer) -> DependencyNode? {
    let operation = newcomer.operation
    let node = newcomer.asynchronous?.parts.node ?? DependencyNode(isOurs: false)
    guard !newcomer.isStarted, node.holder == nil, foreign[ObjectIdentifier(operation)] == nil else { return nil }
    if !node.isOurs {
      foreign[ObjectIdentifier(operation)] = node
      Operation.hold(operation)
    }
    node.held = operation
    node.holder = self
    node.place = .waiting
    node.level = newcomer.level
    node.index = members.count
    members.append(node)
    return node
  }

  func nodeIsHeldBack(_ node: DependencyNode, _ isHeldBack: Bool) {
    guard node.isHeldBack != isHeldBack else { return }
    node.isHeldBack = isHeldBack
    heldBack += isHeldBack ? 1 : -1
  }

  func nodeHasFinished(_ node: DependencyNode, _ operation: Operation) {
    nodeIsHeldBack(node, false)
    if case .entered(let level) = node.place { entered[level.rawValue] -= 1 }
    leaving.wrappingAdd(1, ordering: .sequentiallyConsistent)
    node.place = .outside
    node.holder = nil
    if !node.isOurs {
      foreign[ObjectIdentifier(operation)] = nil
      Operation.letGo(operation)
    }
    let last = members.removeLast()
    if last !== node {
      members[node.index] = last
      last.index = node.index
    }
    noteStall()
  }

  func nodeHasLeft() {
    let isLast = leaving.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue == 0
    let isChanged = readWidth()
    // A thread that begins to wait meanwhile says so first and then looks whether there is anything left.
    if isChanged || isLast && isAwaited.load(ordering: .sequentiallyConsistent) { nodesAreReady() }
    tellStall()
  }

  /// Called under the graph's lock.
  private func noteStall() {
    if whenStalled != nil, !members.isEmpty, mayBeStuck { isStalled.store(true, ordering: .relaxed) }
  }

  private func tellStall() {
    if isStalled.load(ordering: .relaxed), isStalled.exchange(false, ordering: .relaxed) { whenStalled?() }
  }

  /// Called under the graph's lock.
  private var isEmpty: Bool { members.isEmpty && leaving.load(ordering: .sequentiallyConsistent) == 0 }

  private func refuseForeignCycle(_ operations: [Operation]) throws(DependencyCycle) {
    let strangers = operations.filter { !($0 is AsyncOperation) && !$0.dependencies.isEmpty }
    guard !strangers.isEmpty else { return }
    // Links among ours have been checked when they were made; only one that leads out of them can close a cycle here.
    let (isMixed, known) = DependencyGraph.contents.withLock { ($0.foreignLinks > 0, Set(foreign.keys)) }
    let cycle = DependencyCycle.find(from: strangers) { operation in
      !operation.isFinished && (operation is AsyncOperation ? isMixed : !known.contains(ObjectIdentifier(operation)))
    }
    if let cycle { throw cycle }
  }

  // MARK: Entering

  func nodeIsReady(_ node: DependencyNode, first: Bool = false) {
    node.ticket += 1
    node.place = .inLine(ticket: node.ticket)
    if first { ready[node.level.rawValue].prepend(node) } else { ready[node.level.rawValue].append(node) }
    isAnyReady = true
  }

  func nodesAreReady() {
    readWidth()
    let (admission, empty) = DependencyGraph.contents.withLock { _ in (takeAdmission(), takeAwaiting()) }
    for body in empty { body() }
    admit(admission)
  }

  /// Reads the queue's width; true if it has changed.
  @discardableResult
  private func readWidth() -> Bool {
    let new = queue.maxConcurrentOperationCount
    guard width.load(ordering: .relaxed) != new else { return false }
    width.store(new, ordering: .relaxed)
    return true
  }

  /// One thread at a time admits, which keeps the order of each line; others leave ready nodes in line for it to find.
  func takeAdmission() -> Admission {
    guard !isAdmitting, isAnyReady, holds == 0 else { return Admission() }
    let width = width.load(ordering: .relaxed)
    let fill = window.fill(width: width)
    var admission = Admission()
    var ahead = 0
    filling: for level in PriorityLevel.allCases {
      ahead += entered[level.rawValue]
      // Less urgent operations do not count: they may fill the queue and must hold up nothing that is more urgent.
      guard ahead < fill.low else { break }
      while ahead + admission.asked.count < fill.high, let node = ready[level.rawValue].popFirst() {
        guard let operation = node.held, !node.isOurs || !operation.isExecuting && !operation.isFinished else {
          continue
        }
        if node.mustAsk, let operation = operation as? AsyncOperation, DependencyGraph.mustAsk(operation) {
          // When it would start, so not ahead; what is behind it must not take the slot that becomes free.
          guard width < 0 || entered.reduce(0, +) < width else {
            nodeIsReady(node, first: true)
            break filling
          }
          node.place = .asking
          admission.asked.append(operation)
          continue
        }
        node.place = .entered(level)
        entered[level.rawValue] += 1
        ahead += 1
        admission.operations.append(operation)
        if !node.isOurs { admission.foreign.append(operation) }
      }
    }
    isAnyReady = ready.contains { !$0.isEmpty }
    isAdmitting = !admission.isEmpty
    if !admission.operations.isEmpty { window.filled(at: DispatchTime.now().uptimeNanoseconds) }
    return admission
  }

  /// Called under the graph's lock: true if a member enters, without having stood in line because nobody does.
  private func entersAtOnce(_ node: DependencyNode) -> Bool {
    guard !isAdmitting, !isAnyReady, holds == 0 else { return false }
    let ahead = entered[...node.level.rawValue].reduce(0, +)
    guard ahead < window.fill(width: width.load(ordering: .relaxed)).high else { return false }
    node.place = .entered(node.level)
    entered[node.level.rawValue] += 1
    return true
  }

  func admit(_ first: Admission) {
    var admission = first
    while !admission.isEmpty {
      if !admission.asked.isEmpty { ask(&admission) }
      for operation in admission.foreign {
        watch(operation)
        // Started by hand meanwhile; its end is all that is missing.
        if operation.isExecuting || operation.isFinished { admission.operations.removeAll { $0 === operation } }
      }
      beforeAdmission?()
      if !admission.operations.isEmpty { queue.addOperations(admission.operations, waitUntilFinished: false) }
      admission = DependencyGraph.contents.withLock { _ in
        isAdmitting = false
        let next = takeAdmission()
        // Nothing is held to be stuck during an admission, so what came to wait meanwhile is looked at now.
        if next.isEmpty { noteStall() }
        return next
      }
    }
    tellStall()
  }

  /// Asks the conditions of operations that may start; where the queue is suspended they enter it, and are asked when it
  /// starts them.
  private func ask(_ admission: inout Admission) {
    guard queue.isSuspended else {
      for operation in admission.asked { DependencyGraph.ask(operation) }
      return
    }
    admission.operations += DependencyGraph.contents.withLock { _ in
      admission.asked.filter { operation in
        let node = operation.parts.node
        guard node.place == .asking else { return false }
        node.place = .entered(node.level)
        entered[node.level.rawValue] += 1
        return true
      }
    }
  }

  /// Called under the graph's lock: the handlers that wait for the end, if it has come.
  private func takeAwaiting() -> [@Sendable () -> Void] {
    guard isAwaited.load(ordering: .relaxed), isEmpty else { return [] }
    isAwaited.store(false, ordering: .sequentiallyConsistent)
    defer { whenEmpty = [] }
    return whenEmpty
  }

  private func watch(_ operation: Operation) {
    operation.whenFinished(on: lazyEnds.load() ?? lazyEnds.storeIfNil(OperationQueue())) {
      let node = DependencyGraph.contents.withLock { _ in self.foreign[ObjectIdentifier(operation)] }
      if let node { DependencyGraph.hasFinished(node, operation).holder?.nodeHasLeft() }
    }
  }

  // MARK: Deadlocks

  /// Called under the graph's lock: the members, if every one of them waits.
  var stuckMembers: [Operation] {
    guard mayBeStuck, !isAdmitting, members.allSatisfy({ $0.place == .waiting || $0.isHeldBack }) else { return [] }
    return members.compactMap(\.held)
  }

  /// Whether no member executes or is about to, unless its conditions are being asked.
  private var mayBeStuck: Bool { !isAnyReady && entered.reduce(0, +) == heldBack }

  var mayBeStuckNow: Bool { DependencyGraph.contents.withLock { _ in mayBeStuck } }

  // MARK: The whole

  /// The operations that have not finished, whether they have entered the queue or not, in no particular order.
  public var operations: [Operation] { DependencyGraph.contents.withLock { _ in members.compactMap(\.held) } }

  /// How many operations have not finished, whether they have entered the queue or not.
  public var unfinishedCount: Int { DependencyGraph.contents.withLock { _ in members.count } }

  /// The width of the queue, its `maxConcurrentOperationCount`.
  ///
  /// Set here, a greater width takes effect at once; set on the queue, when the next operation finishes. With a width of 0
  /// nothing executes; a negative one is a programmer error, except `OperationQueue.defaultMaxConcurrentOperationCount`.
  public var maxConcurrentOperationCount: Int {
    get { queue.maxConcurrentOperationCount }
    set {
      require(
        newValue >= 0 || newValue == OperationQueue.defaultMaxConcurrentOperationCount,
        "the width of a feeder is not negative: \(newValue)")
      queue.maxConcurrentOperationCount = newValue
      nodesAreReady()
    }
  }

  /// Cancels every operation that has not finished.
  ///
  /// Nothing enters the queue until all operations that do not execute have been cancelled, and those that execute are
  /// cancelled last: the end of none of them lets another begin.
  public func cancelAllOperations() {
    let (waiting, entered) = DependencyGraph.contents.withLock { _ in
      holds += 1
      return (members.filter { !$0.isEntered }.compactMap(\.held), members.filter(\.isEntered).compactMap(\.held))
    }
    var executing: [Operation] = []
    for operation in waiting + entered {
      if operation.isExecuting { executing.append(operation) } else { operation.cancel() }
    }
    // One of another class that is cancelled waits for nothing any more, and tells nobody of that.
    let ended = waiting.filter { !($0 is AsyncOperation) && $0.isCancelled }
    DependencyGraph.contents.withLock { _ in
      for operation in ended {
        if let node = foreign[ObjectIdentifier(operation)], node.place == .waiting { nodeIsReady(node) }
      }
      holds -= 1
    }
    nodesAreReady()
    for operation in executing { operation.cancel() }
  }

  /// Calls `body` once on `queue` when no operation is left, which may be now.
  public func whenEmpty(on queue: DispatchQueue = .main, _ body: @escaping @Sendable () -> Void) {
    DependencyGraph.contents.withLock { _ in
      whenEmpty.append { queue.async(execute: body) }
      isAwaited.store(true, ordering: .sequentiallyConsistent)
    }
    nodesAreReady()
  }

  /// Blocks the calling thread until no operation is left.
  @available(*, noasync, message: "blocks its thread; use whenEmpty(on:_:)")
  public func waitUntilAllOperationsAreFinished() {
    let semaphore = DispatchSemaphore(value: 0)
    whenEmpty(on: .global()) { semaphore.signal() }
    semaphore.wait()
  }
}
