import Foundation
import Synchronization

/// Feeds ready operations to an `OperationQueue`, a few more than it runs at once.
///
/// On Linux, Foundation's queue scans all its waiting operations at every event. A dependency queue keeps waiting
/// operations in the library's own graph and gives the queue only operations that may run, so that a hundred thousand
/// operations cost the queue no more than ten. Width and suspension are set on the queue, and `queuePriority` on the
/// operations. Every method and property is safe to use from any thread.
///
/// An `AsyncOperation` that is cancelled before it enters the queue finishes at once, without executing, even if the
/// queue is suspended. For an operation of another class, the dependency queue waits for the dependencies that the
/// operation has when it is added, and observes its end; a cancellation takes effect when the operation would run.
///
/// The dependency queue retains each operation until it finishes, and stays alive as long as it has an unfinished
/// operation.
public final class DependencyQueue: AdmittingQueue, @unchecked Sendable {
  // Safe: all mutable state is atomic, locked, or accessed only under the dependency graph's lock.

  /// The queue that receives the operations.
  public let queue: OperationQueue

  private var members: [DependencyNode] = []
  /// The members that are not an `AsyncOperation`.
  private var foreign: [ObjectIdentifier: DependencyNode] = [:]
  private var ready = [ReadyQueue](repeating: ReadyQueue(), count: PriorityLevel.allCases.count)
  /// The numbers of entered members, without those that wait again and so take no slot.
  private var entered = [Int](repeating: 0, count: PriorityLevel.allCases.count)
  /// The adapters that stand for an operation, which was not ready, or whose queue was suspended.
  private var unready: [DependencyNode] = []
  /// Whether no adapter is asked, because the queue was suspended when it was last looked at.
  private var wasSuspended = false
  /// Whether the adapters are asked again after a while, and after how many milliseconds.
  private var isPolling = false
  private var pause = 1
  /// The number of removed members whose end the queue does not know yet.
  private let leaving = Atomic(0)
  /// The queue's width when last read; read without the lock, because client code may override the getter.
  private let width = Atomic(0)
  private var window = PrefetchWindow()
  private var isAnyReady = false
  private var isAdmitting = false
  /// The number of threads that are cancelling all operations; nothing enters the queue until it is 0.
  private var holds = 0
  private var whenEmpty: [@Sendable () -> Void] = []
  /// Whether `whenEmpty` has handlers, for threads without the lock.
  private let isAwaited = Atomic(false)
  /// The queue on which the ends of foreign operations are reported; it never holds more operations than `queue`.
  private let lazyEnds = LazyReference<OperationQueue>()

  /// Called when the last entered member has left and all others wait; set before the dependency queue is shared.
  var whenStalled: (@Sendable () -> Void)?
  private let isStalled = Atomic(false)
  /// Called before operations enter the queue; set before the dependency queue is shared.
  var beforeAdmission: (@Sendable () -> Void)?

  private let notifier = Lock<DelegateNotifier?>(nil)
  private let hasNotifier = Atomic(false)

  /// Notifies `delegate`, a weak reference, of operations added from now on and of their ends; nil stops that.
  ///
  /// The delegate is called on `delegateQueue`, in order, except for `willAdd`, which is called on the adding thread.
  /// The queue passed to the delegate is `queue`.
  public func setDelegate(_ delegate: (any OperationQueueDelegate)?, on delegateQueue: DispatchQueue = .main) {
    notifier.withLock { $0 = delegate.map { DelegateNotifier($0, on: delegateQueue) } }
    hasNotifier.store(delegate != nil, ordering: .releasing)
  }

  /// Makes a dependency queue for `queue`, which may also hold and receive other operations.
  public init(feeding queue: OperationQueue) { self.queue = queue }

  // MARK: Members

  /// An operation to be added, with the properties read before the lock is taken: client code may override their
  /// getters.
  private struct Newcomer {
    let operation: Operation
    let asynchronous: AsyncOperation?
    let level: PriorityLevel
    // Only for a foreign operation. The getters of an `AsyncOperation` are final, and are read under the lock.
    private var wasStarted = false
    private var wasCancelled = false
    private(set) var unfinishedDependencies: [Operation] = []

    var isStarted: Bool { asynchronous.map { $0.state >= .executing } ?? wasStarted }
    var isCancelled: Bool { asynchronous?.isCancelled ?? wasCancelled }

    init(_ operation: Operation) {
      self.operation = operation
      asynchronous = operation as? AsyncOperation
      // Linked first: from then on the graph is notified when the priority changes.
      asynchronous?.parts.set(.isLinked)
      level = PriorityLevel(operation.queuePriority)
      if asynchronous == nil {
        wasCancelled = operation.isCancelled
        wasStarted = operation.isExecuting || operation.isFinished
        unfinishedDependencies = operation.dependencies.filter { !$0.isFinished }
      }
    }
  }

  /// Adds an operation, which enters the queue when all its dependencies have finished.
  ///
  /// Throws, and adds nothing, if operations of other classes have been linked in a cycle that includes this operation.
  public func add(_ operation: Operation) throws(OperationError) {
    guard let asynchronous = operation as? AsyncOperation, !hasNotifier.load(ordering: .acquiring) else {
      return try add([operation])
    }
    let mustAttach = asynchronous.parts.has(.hasRareState)
    if QueueEntryObserver.isNeeded { QueueEntryObserver.tell([operation], .queue(queue)) }
    let newcomer = Newcomer(operation)
    readWidth()
    let entry = DependencyGraph.contents.withLock { _ -> (isDirect: Bool, admission: Admission)? in
      guard let node = join(newcomer) else { return nil }
      guard node.unfinished == 0 || newcomer.isCancelled else { return (false, Admission()) }
      if !mustAttach, entersAtOnce(node) { return (true, Admission()) }
      nodeIsReady(node)
      return (false, mustAttach ? Admission() : takeAdmission())
    }
    guard let entry else { Self.refuse(operation) }
    if mustAttach {
      asynchronous.didAttach(to: queue)
      nodesAreReady()
    } else if entry.isDirect {
      queue.addOperation(operation)
    } else {
      admit(entry.admission)
    }
  }

  /// Adds operations; among the ready ones, the more urgent enter first, and equally urgent ones in array order.
  ///
  /// Throws, and adds nothing, if operations of other classes have been linked in a cycle that includes one of these.
  public func add(_ operations: [Operation]) throws(OperationError) {
    guard hasNotifier.load(ordering: .acquiring), let notifier = notifier.withLock({ $0 }) else {
      return try enlist(operations)
    }
    try notifier.notify(of: operations, addedTo: queue) { () throws(OperationError) in try enlist(operations) }
  }

  private func enlist(_ operations: [Operation]) throws(OperationError) {
    try refuseForeignCycle(operations)
    QueueEntryObserver.tell(operations, .queue(queue))
    let newcomers = operations.map(Newcomer.init)
    var refused: Operation?
    let watched = DependencyGraph.contents.withLock { _ -> [(Operation, DependencyNode)] in
      // All nodes join first: a foreign operation's dependency may follow it in the array.
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

  /// Called without the graph's lock, because client code may override the operation's description.
  private static func refuse(_ operation: Operation) -> Never {
    programmerError("\(operation) has been started or added before; an operation runs once")
  }

  /// Called under the graph's lock; nil if the operation has been started or added before.
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

  /// Whether an operation is in a dependency queue, or in an adapter.
  package static func holds(_ operation: Operation) -> Bool {
    guard let asynchronous = operation as? AsyncOperation else { return Operation.isHeld(operation) }
    return DependencyGraph.contents.withLock { _ in asynchronous.parts.node.holder != nil }
  }

  func nodeIsHeldBack(_ node: DependencyNode, _ isHeldBack: Bool) {
    guard node.isHeldBack != isHeldBack else { return }
    node.isHeldBack = isHeldBack
    if case .entered(let level) = node.place { entered[level.rawValue] += isHeldBack ? -1 : 1 }
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
    // A thread that begins to wait meanwhile sets `isAwaited` first and then checks whether an operation is left.
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

  /// Throws if operations of other classes have been linked in a cycle that includes one of these.
  func refuseForeignCycle(_ operations: [Operation]) throws(OperationError) {
    let strangers = operations.filter { !($0 is AsyncOperation) && !$0.dependencies.isEmpty }
    guard !strangers.isEmpty else { return }
    // Links between our operations are checked when they are made; only a link to another class can close a cycle here.
    let (isMixed, known) = DependencyGraph.contents.withLock { ($0.foreignLinks > 0, Set(foreign.keys)) }
    let cycle = DependencyCycle.find(from: strangers) { operation in
      !operation.isFinished && (operation is AsyncOperation ? isMixed : !known.contains(ObjectIdentifier(operation)))
    }
    if let cycle { throw OperationError(cycle: cycle) }
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

  /// Admits on one thread at a time, which preserves the order of each line; other threads leave ready nodes in line.
  func takeAdmission() -> Admission {
    guard !isAdmitting, isAnyReady, holds == 0 else { return Admission() }
    let width = width.load(ordering: .relaxed)
    let fill = window.fill(width: width)
    var admission = Admission()
    var ahead = 0
    filling: for level in PriorityLevel.allCases {
      ahead += entered[level.rawValue]
      // Less urgent operations don't count: they may fill the queue but must not hold up a more urgent one.
      guard ahead < fill.low else { break }
      while ahead + admission.asked.count < fill.high, let node = ready[level.rawValue].popFirst() {
        guard let operation = node.held, !node.isOurs || !operation.isExecuting && !operation.isFinished else {
          continue
        }
        let adapter = (operation as? AdaptedOperation).flatMap { $0.standsForOperation ? $0 : nil }
        let asynchronous = node.mustAsk ? operation as? AsyncOperation : nil
        let condition = asynchronous.flatMap { DependencyGraph.mustAsk($0) ? $0 : nil }
        if adapter != nil || condition != nil {
          // Asked when the operation would start; operations behind it must not take the freed slot.
          guard width < 0 || entered.reduce(0, +) + admission.adapters.count < width, adapter == nil || !wasSuspended
          else {
            nodeIsReady(node, first: true)
            break filling
          }
          node.place = .asking
        }
        if let condition {
          admission.asked.append(condition)
          continue
        }
        if let adapter {
          admission.adapters.append(adapter)
        } else {
          node.place = .entered(level)
          entered[level.rawValue] += 1
        }
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

  /// Called under the graph's lock; true if the member enters the queue directly, because no node is in line.
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
      if !admission.adapters.isEmpty { askAdapters(&admission) }
      for operation in admission.foreign {
        watch(operation)
        // Started by hand meanwhile; only its end is still to come.
        if operation.isExecuting || operation.isFinished { admission.operations.removeAll { $0 === operation } }
      }
      beforeAdmission?()
      if !admission.operations.isEmpty { queue.addOperations(admission.operations, waitUntilFinished: false) }
      admission = DependencyGraph.contents.withLock { _ in
        isAdmitting = false
        let next = takeAdmission()
        // During an admission no member counts as stuck, so members that began to wait meanwhile are checked now.
        if next.isEmpty { noteStall() }
        return next
      }
    }
    tellStall()
  }

  /// Evaluates the conditions of operations that may start; if the queue is suspended, the operations enter it and are
  /// evaluated when it starts them.
  private func ask(_ admission: inout Admission) {
    guard queue.isSuspended else {
      for case let operation as AsyncOperation in admission.asked { DependencyGraph.ask(operation) }
      return
    }
    admission.operations += DependencyGraph.contents.withLock { _ in
      admission.asked.filter { operation in
        guard let node = (operation as? AsyncOperation)?.parts.node, node.place == .asking else { return false }
        node.place = .entered(node.level)
        entered[node.level.rawValue] += 1
        return true
      }
    }
  }

  // MARK: Adapters

  private static let asking = DispatchQueue(label: "DependencyQueue.adapters")

  /// Keeps the adapters whose operations can't execute now out of the queue, where they would take a slot.
  private func askAdapters(_ admission: inout Admission) {
    let isSuspended = queue.isSuspended
    let adapters = admission.adapters.compactMap { $0 as? AdaptedOperation }
    let ready = Set(adapters.filter { !isSuspended && $0.mayEnter() }.map(ObjectIdentifier.init))
    let next = DependencyGraph.contents.withLock { _ -> Int? in
      wasSuspended = isSuspended
      if !ready.isEmpty { pause = 1 }
      for adapter in adapters {
        let node = adapter.parts.node
        if node.place == .asking, ready.contains(ObjectIdentifier(adapter)) {
          node.place = .entered(node.level)
          entered[node.level.rawValue] += 1
          continue
        }
        // Otherwise it was cancelled, or has got a dependency.
        if node.place == .asking { unready.append(node) }
        admission.operations.removeAll { $0 === adapter }
      }
      guard isSuspended || !unready.isEmpty, !exchange(&isPolling, with: true) else { return nil }
      return pause
    }
    if let next { askAgain(after: next) }
  }

  /// Polls: Foundation posts no notification when a queue is resumed or an operation of another class becomes ready.
  ///
  /// The first pause, in milliseconds, is short: Foundation may still count a dependency that has just finished.
  private func askAgain(after pause: Int) {
    Self.asking.asyncAfter(deadline: .now() + .milliseconds(pause)) { [weak self] in
      guard let self else { return }
      let isSuspended = queue.isSuspended
      let next = DependencyGraph.contents.withLock { _ -> Int? in
        wasSuspended = isSuspended && !members.isEmpty
        isPolling = wasSuspended
        self.pause = min(64, self.pause * 2)
        guard !wasSuspended else { return self.pause }
        returnToLine(exchange(&unready, with: []))
        return nil
      }
      if let next { askAgain(after: next) } else { nodesAreReady() }
    }
  }

  /// Called under the graph's lock.
  private func returnToLine(_ nodes: [DependencyNode]) {
    for (level, nodes) in Dictionary(grouping: nodes.filter { $0.place == .asking }, by: \.level) {
      for node in nodes {
        node.ticket += 1
        node.place = .inLine(ticket: node.ticket)
      }
      ready[level.rawValue].prepend(contentsOf: nodes)
      isAnyReady = true
    }
  }

  /// Called under the graph's lock; the handlers that wait for an empty dependency queue, if it is empty.
  private func takeAwaiting() -> [@Sendable () -> Void] {
    guard isAwaited.load(ordering: .relaxed), isEmpty else { return [] }
    isAwaited.store(false, ordering: .sequentiallyConsistent)
    return exchange(&whenEmpty, with: [])
  }

  private func watch(_ operation: Operation) {
    operation.whenFinished(on: lazyEnds.load() ?? lazyEnds.storeIfNil(OperationQueue())) {
      let node = DependencyGraph.contents.withLock { _ in self.foreign[ObjectIdentifier(operation)] }
      if let node { DependencyGraph.hasFinished(node, operation).holder?.nodeHasLeft() }
    }
  }

  // MARK: Deadlocks

  /// Called under the graph's lock; the members, if all of them wait.
  var stuckMembers: [Operation] {
    guard mayBeStuck, !isAdmitting, members.allSatisfy({ $0.place == .waiting || $0.isHeldBack }) else { return [] }
    return members.compactMap(\.held)
  }

  /// Whether no member executes or is about to, except members whose conditions are being evaluated.
  private var mayBeStuck: Bool { !isAnyReady && holds == 0 && entered.reduce(0, +) == 0 }

  var mayBeStuckNow: Bool { DependencyGraph.contents.withLock { _ in mayBeStuck } }

  // MARK: The whole

  /// The unfinished operations, whether or not they have entered the queue, in no particular order.
  public var operations: [Operation] { DependencyGraph.contents.withLock { _ in members.compactMap(\.held) } }

  /// The number of unfinished operations, whether or not they have entered the queue.
  public var unfinishedCount: Int { DependencyGraph.contents.withLock { _ in members.count } }

  /// The width of the queue, its `maxConcurrentOperationCount`.
  ///
  /// A greater width takes effect at once if it is set here, and when the next operation finishes if it is set on the
  /// queue. With a width of 0 nothing executes. A negative width is a programmer error, except
  /// `OperationQueue.defaultMaxConcurrentOperationCount`.
  public var maxConcurrentOperationCount: Int {
    get { queue.maxConcurrentOperationCount }
    set {
      require(
        newValue >= 0 || newValue == OperationQueue.defaultMaxConcurrentOperationCount,
        "the width of a dependency queue is not negative: \(newValue)")
      queue.maxConcurrentOperationCount = newValue
      nodesAreReady()
    }
  }

  /// Cancels every unfinished operation.
  ///
  /// Nothing enters the queue until all operations that don't execute have been cancelled. Executing operations are
  /// cancelled last, so that the end of none of them lets another begin.
  public func cancelAllOperations() {
    let (waiting, entered) = DependencyGraph.contents.withLock { _ in
      holds += 1
      return (members.filter { !$0.isEntered }.compactMap(\.held), members.filter(\.isEntered).compactMap(\.held))
    }
    var executing: [Operation] = []
    for operation in waiting + entered {
      if operation.isExecuting { executing.append(operation) } else { operation.cancel() }
    }
    // A cancelled operation of another class no longer waits, but Foundation posts no notification of that.
    let ended = waiting.filter { !($0 is AsyncOperation) && $0.isCancelled }
    DependencyGraph.contents.withLock { _ in
      for operation in ended {
        if let node = foreign[ObjectIdentifier(operation)], node.place == .waiting { nodeIsReady(node) }
      }
      holds -= 1
      noteStall()
    }
    nodesAreReady()
    tellStall()
    for operation in executing { operation.cancel() }
  }

  /// Calls `body` once on `queue` when no operation is left, possibly at once.
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

extension AsyncOperation {
  /// Whether the operation can begin only in a slot of `queue`.
  package final func waitsForSlot(of queue: OperationQueue) -> Bool {
    guard state < .executing else { return false }
    let holder = parts.existingNode.flatMap { node in DependencyGraph.contents.withLock { _ in node.holder } }
    return (holder as? DependencyQueue)?.queue === queue || queue.operations.contains { $0 === self }
  }

  /// The operations whose ends the code of this one awaits, except where one of several is enough.
  package final var awaitedOperations: [AsyncOperation] {
    DependencyGraph.contents.withLock { $0.awaits.ends(before: self) }.flatMap { $0.count == 1 ? $0 : [] }
  }
}
