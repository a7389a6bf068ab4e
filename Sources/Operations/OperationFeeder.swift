import Foundation
import Synchronization

/// Hands operations to an `OperationQueue` when they are ready, a few more than it runs at once.
///
/// Foundation's queue on Linux walks past all that waits in it whenever something happens. Here what waits, waits in our
/// own graph, and the queue holds only what may run: a hundred thousand operations are no harder on it than ten. Width,
/// suspension and `queuePriority` are the queue's and the operations' own. Any thread may call anything.
///
/// An `AsyncOperation` that is cancelled before it has entered the queue finishes at once, without executing, even if
/// the queue is suspended. Of an operation of another class the feeder knows the dependencies that it has when it is
/// added and sees its end; that it was cancelled is seen once it runs.
///
/// The feeder keeps each operation until it has finished, and itself as long as there is one.
public final class OperationFeeder: @unchecked Sendable {
  // Safe: everything that varies is touched only under the dependency graph's lock.

  /// The levels of `Operation.QueuePriority`, the first to run first.
  enum Level: Int, CaseIterable {
    case veryHigh
    case high
    case normal
    case low
    case veryLow

    init(_ priority: Operation.QueuePriority) {
      switch priority {
      case .veryHigh: self = .veryHigh
      case .high: self = .high
      case .low: self = .low
      case .veryLow: self = .veryLow
      case .normal: self = .normal
      @unknown default: self = .normal
      }
    }
  }

  /// The queue that is fed.
  public let queue: OperationQueue

  private var members: [DependencyNode] = []
  /// The members that are not of our class.
  private var foreign: [ObjectIdentifier: DependencyNode] = [:]
  private var lines = [FeederLine](repeating: FeederLine(), count: Level.allCases.count)
  private var entered = [Int](repeating: 0, count: Level.allCases.count)
  /// How many have been removed of which the queue has not been told yet.
  private let leaving = Atomic(0)
  /// How far ahead of the width the queue is filled.
  private var lead = Lead()
  private var isAnyInLine = false
  private var isPumping = false
  /// How many are at work who want nothing to enter meanwhile.
  private var holds = 0
  private var whenEmpty: [@Sendable () -> Void] = []
  /// Whether there is anything in `whenEmpty`, for those who have not got the lock.
  private let isAwaited = Atomic(false)
  /// Where the ends of foreign operations are told; there are never more in it than in the queue.
  private let ends = OperationQueue()

  private let teller = Lock<QueueTeller?>(nil)
  private let hasTeller = Atomic(false)

  /// Tells `delegate`, which is not kept, what is added from now on and when it has finished; nil ends that.
  ///
  /// On `delegateQueue`, in order; `willAdd` on the thread that adds. The queue named is the one that is fed.
  public func setDelegate(_ delegate: (any OperationQueueDelegate)?, on delegateQueue: DispatchQueue = .main) {
    teller.withLock { $0 = delegate.map { QueueTeller($0, on: delegateQueue) } }
    hasTeller.store(delegate != nil, ordering: .releasing)
  }

  /// Makes a feeder for `queue`, which may hold and be given other operations beside.
  public init(feeding queue: OperationQueue) { self.queue = queue }

  // MARK: Members

  /// Adds an operation, which enters the queue when all that it depends on has finished.
  ///
  /// Throws if operations of other classes have been linked in a cycle that it is part of; then nothing has been added.
  public func add(_ operation: Operation) throws(DependencyCycle) {
    guard let asynchronous = operation as? AsyncOperation, asynchronous.existingExtras == nil,
      !hasTeller.load(ordering: .acquiring)
    else { return try add([operation]) }
    let (isDirect, batch) = DependencyGraph.ranks.withLock { _ in
      let node = join(operation)
      guard node.unfinished == 0 || operation.isCancelled else { return (false, Batch()) }
      if entersAtOnce(node, operation) { return (true, Batch()) }
      line(up: node, operation)
      return (false, begin())
    }
    if isDirect { queue.addOperation(operation) } else { enter(batch) }
  }

  /// Adds operations; of those that are ready the more urgent enter first, and equals in their order here.
  ///
  /// Throws if operations of other classes have been linked in a cycle that these are part of; then nothing has been added.
  public func add(_ operations: [Operation]) throws(DependencyCycle) {
    guard hasTeller.load(ordering: .acquiring), let teller = teller.withLock({ $0 }) else {
      return try enlist(operations)
    }
    try teller.tell(of: operations, to: queue) { () throws(DependencyCycle) in try enlist(operations) }
  }

  private func enlist(_ operations: [Operation]) throws(DependencyCycle) {
    try refuseForeignCycle(operations)
    let watched = DependencyGraph.ranks.withLock { ranks in
      // All of them first: a foreign operation's dependency may stand behind it in the list.
      let nodes = operations.map { join($0) }
      var watched: [(Operation, DependencyNode)] = []
      for (operation, node) in zip(operations, nodes) where !(operation is AsyncOperation) {
        for dependency in operation.dependencies where !dependency.isFinished {
          if let other = (dependency as? AsyncOperation).flatMap({ $0.beginLinked() ? $0.node : nil })
            ?? foreign[ObjectIdentifier(dependency)]
          {
            other.dependents.append(node)
            node.unfinished += 1
          } else if !(dependency is AsyncOperation) {
            node.foreign[ObjectIdentifier(dependency)] = false
            node.unfinished += 1
            watched.append((dependency, node))
          }
        }
      }
      for (operation, node) in zip(operations, nodes) where node.unfinished == 0 || operation.isCancelled {
        line(up: node, operation)
      }
      return watched
    }
    for (dependency, node) in watched {
      ForeignEnd.watch(dependency) { DependencyGraph.foreignEnded(dependency, node) }
    }
    for case let operation as AsyncOperation in operations {
      if let extras = operation.existingExtras { DependencyGraph.attach(operation, extras, to: queue) }
    }
    pump()
  }

  private func join(_ operation: Operation) -> DependencyNode {
    let node: DependencyNode
    if let asynchronous = operation as? AsyncOperation {
      precondition(
        asynchronous.beginLinked() && !asynchronous.isExecuting && asynchronous.node.feeder == nil,
        "\(operation) has been started or added before; an operation runs once")
      node = asynchronous.node
    } else {
      precondition(
        !operation.isExecuting && !operation.isFinished && foreign[ObjectIdentifier(operation)] == nil,
        "\(operation) has been started or added before; an operation runs once")
      node = DependencyNode(isOurs: false)
      foreign[ObjectIdentifier(operation)] = node
    }
    node.held = operation
    node.feeder = self
    node.place = .waiting
    node.index = members.count
    members.append(node)
    return node
  }

  /// Under the graph's lock: a member is over, of which `memberHasLeft` will be told.
  func remove(_ node: DependencyNode, _ operation: Operation) {
    if case .entered(let level) = node.place { entered[level.rawValue] -= 1 }
    leaving.wrappingAdd(1, ordering: .sequentiallyConsistent)
    node.place = .outside
    node.feeder = nil
    if !node.isOurs { foreign[ObjectIdentifier(operation)] = nil }
    let last = members.removeLast()
    if last !== node {
      members[node.index] = last
      last.index = node.index
    }
  }

  /// The queue has been told of the end of a member.
  func memberHasLeft() {
    let isLast = leaving.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue == 0
    // Whoever begins to wait meanwhile says so first and then looks whether there is anything left.
    if isLast, isAwaited.load(ordering: .sequentiallyConsistent) { pump() }
  }

  /// Under the graph's lock.
  private var isEmpty: Bool { members.isEmpty && leaving.load(ordering: .sequentiallyConsistent) == 0 }

  private func refuseForeignCycle(_ operations: [Operation]) throws(DependencyCycle) {
    let strangers = operations.filter { !($0 is AsyncOperation) && !$0.dependencies.isEmpty }
    guard !strangers.isEmpty else { return }
    // Links among ours have been checked when they were made; only one that leads out of them can close a cycle here.
    let (isMixed, known) = DependencyGraph.ranks.withLock { ($0.foreignLinks > 0, Set(foreign.keys)) }
    let cycle = DependencyCycle.find(from: strangers) { operation in
      !operation.isFinished && (operation is AsyncOperation ? isMixed : !known.contains(ObjectIdentifier(operation)))
    }
    if let cycle { throw cycle }
  }

  // MARK: Entering

  /// Under the graph's lock: a member may run.
  func line(up node: DependencyNode, _ operation: Operation) {
    node.ticket += 1
    node.place = .inLine(ticket: node.ticket)
    lines[Level(operation.queuePriority).rawValue].append(node)
    isAnyInLine = true
  }

  /// A member's priority has changed: if it stands in line, it goes to the end of another line.
  func priorityChanged(_ node: DependencyNode, _ operation: Operation) {
    DependencyGraph.ranks.withLock { _ in
      if case .inLine = node.place { line(up: node, operation) }
    }
    pump()
  }

  /// A member was cancelled; true if it is out of the line now and is for the caller to start and so to finish.
  func withdraw(_ node: DependencyNode) -> Bool {
    DependencyGraph.ranks.withLock { _ in
      switch node.place {
      case .waiting, .inLine:
        node.place = .outside
        return true
      case .outside, .entered: return false
      }
    }
  }

  /// What enters at once.
  struct Batch {
    var operations: [Operation] = []
    /// Those of them that are not of our class.
    var foreign: [Operation] = []
  }

  /// Enters what may enter.
  func pump() {
    let (batch, empty) = DependencyGraph.ranks.withLock { _ in (begin(), takeAwaiting()) }
    for body in empty { body() }
    enter(batch)
  }

  /// Under the graph's lock: what is to be given to `enter` once the lock is free.
  ///
  /// One thread at a time enters, which keeps the order of each line; whoever comes meanwhile leaves what there is to
  /// enter in line, where that thread will find it.
  func begin() -> Batch {
    guard !isPumping, isAnyInLine, holds == 0 else { return Batch() }
    let batch = takeBatch()
    isPumping = !batch.operations.isEmpty
    return batch
  }

  /// Under the graph's lock: whether a member enters without having stood in line, because nobody does; it has, then.
  private func entersAtOnce(_ node: DependencyNode, _ operation: Operation) -> Bool {
    guard !isPumping, !isAnyInLine, holds == 0 else { return false }
    let level = Level(operation.queuePriority)
    let ahead = entered[...level.rawValue].reduce(0, +)
    guard ahead < lead.fill(width: queue.maxConcurrentOperationCount).high else { return false }
    node.place = .entered(level)
    entered[level.rawValue] += 1
    return true
  }

  func enter(_ first: Batch) {
    var batch = first
    while !batch.operations.isEmpty {
      for operation in batch.foreign { watch(operation) }
      queue.addOperations(batch.operations, waitUntilFinished: false)
      batch = DependencyGraph.ranks.withLock { _ in
        isPumping = false
        return begin()
      }
    }
  }

  /// Under the graph's lock: who waited for the end, if it has come.
  private func takeAwaiting() -> [@Sendable () -> Void] {
    guard isAwaited.load(ordering: .relaxed), isEmpty else { return [] }
    isAwaited.store(false, ordering: .sequentiallyConsistent)
    defer { whenEmpty = [] }
    return whenEmpty
  }

  private func takeBatch() -> Batch {
    let fill = lead.fill(width: queue.maxConcurrentOperationCount)
    var batch = Batch()
    var ahead = 0
    for level in Level.allCases {
      ahead += entered[level.rawValue]
      // What is less urgent does not count: it may fill the queue and must hold up nothing that is more urgent.
      guard ahead < fill.low else { break }
      while ahead < fill.high, let node = lines[level.rawValue].popFirst() {
        guard let operation = node.held, !operation.isExecuting, !operation.isFinished else { continue }
        node.place = .entered(level)
        entered[level.rawValue] += 1
        ahead += 1
        batch.operations.append(operation)
        if !node.isOurs { batch.foreign.append(operation) }
      }
    }
    isAnyInLine = lines.contains { !$0.isEmpty }
    if !batch.operations.isEmpty { lead.filled(at: DispatchTime.now().uptimeNanoseconds) }
    return batch
  }

  private func watch(_ operation: Operation) {
    ForeignEnd.watch(operation, on: ends) {
      guard let node = DependencyGraph.ranks.withLock({ _ in self.foreign[ObjectIdentifier(operation)] }) else {
        return
      }
      DependencyGraph.finished(node, operation)?.memberHasLeft()
    }
  }

  // MARK: The whole

  /// How many operations have not finished, whether they have entered the queue or not.
  public var unfinishedCount: Int { DependencyGraph.ranks.withLock { _ in members.count } }

  /// The width of the queue, its `maxConcurrentOperationCount`.
  ///
  /// Set here, a greater width takes effect at once; set on the queue, only
  /// when the next operation finishes.
  public var maxConcurrentOperationCount: Int {
    get { queue.maxConcurrentOperationCount }
    set {
      queue.maxConcurrentOperationCount = newValue
      pump()
    }
  }

  /// Cancels every operation that has not finished.
  ///
  /// Nothing enters the queue until all that does not execute has been cancelled, and what executes goes last: the end
  /// of none of them lets another begin.
  public func cancelAllOperations() {
    let (waiting, entered) = DependencyGraph.ranks.withLock { _ in
      holds += 1
      return (members.filter { !$0.isEntered }.compactMap(\.held), members.filter(\.isEntered).compactMap(\.held))
    }
    var executing: [Operation] = []
    for operation in waiting + entered {
      if operation.isExecuting { executing.append(operation) } else { operation.cancel() }
    }
    DependencyGraph.ranks.withLock { _ in holds -= 1 }
    pump()
    for operation in executing { operation.cancel() }
  }

  /// Calls `body` once on `queue` when no operation is left, which may be now.
  public func whenEmpty(on queue: DispatchQueue = .main, _ body: @escaping @Sendable () -> Void) {
    DependencyGraph.ranks.withLock { _ in
      whenEmpty.append { queue.async(execute: body) }
      isAwaited.store(true, ordering: .sequentiallyConsistent)
    }
    pump()
  }

  /// Blocks the calling thread until no operation is left.
  @available(*, noasync, message: "blocks its thread; use whenEmpty(on:_:)")
  public func waitUntilAllOperationsAreFinished() {
    let semaphore = DispatchSemaphore(value: 0)
    whenEmpty(on: .global()) { semaphore.signal() }
    semaphore.wait()
  }
}
