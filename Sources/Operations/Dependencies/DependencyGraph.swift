import Foundation

/// All dependencies of asynchronous operations.
///
/// Replaces Foundation's own dependencies, which on Linux overflow the stack, hang or read freed memory when they are
/// many or circular (a dependent freed early, a cycle, two threads that link both ways). All operations share one lock:
/// a link takes nanoseconds, and a cycle can be detected only if no other link is made meanwhile. No client code runs
/// under the lock: getters of foreign operations and overridable getters are read before, effects are carried out
/// after.
enum DependencyGraph {
  struct Contents {
    var order = DependencyRanks()
    /// The number of our operations' dependencies on operations of other classes, whose own links are not known here.
    var foreignLinks = 0
    /// The number of these that may lead back to ours, because the other operation had dependencies of its own.
    var throughForeign = 0
    var exclusion = ExclusionTable()
    var awaits = AwaitTable()
    /// Whether there has ever been a group or an await, through which operations may wait for each other.
    var mayDeadlock = false
    /// The events that the next search for a deadlock begins at.
    var suspects: [DeadlockSearch.Event] = []
    /// The duration of the last search, in nanoseconds.
    var searchTime = 0
    /// Operations in queues that may depend on operations that no code can add to a queue.
    var adopters: [AsyncOperation] = []

    /// A search for a deadlock through these dependencies and awaits.
    func search(budget: Int, except known: AsyncOperation? = nil) -> DeadlockSearch {
      DeadlockSearch(exclusion, awaits, budget: budget, except: known)
    }

    mutating func countForeign(_ isThrough: Bool, _ amount: Int) {
      foreignLinks += amount
      if isThrough { throughForeign += amount }
    }
  }

  static let contents = Lock(Contents())

  /// Changes the graph under its lock, and then carries out the effects of the change.
  @discardableResult
  static func change<Answer>(_ body: (inout Contents, inout DeferredEffects) -> Answer) -> Answer {
    var effects = DeferredEffects()
    let answer = contents.withLock { contents in
      let answer = body(&contents, &effects)
      effects.close()
      return answer
    }
    effects.carryOut { readPriority(of: $0, $1) }
    return answer
  }

  // MARK: Links

  static func link(_ operation: AsyncOperation, to dependency: Operation) throws(OperationError) {
    guard operation !== dependency else { throw OperationError(cycle: [operation, operation]) }
    let asynchronous = dependency as? AsyncOperation
    let isFinished = asynchronous == nil && dependency.isFinished
    let isThrough = asynchronous == nil && !dependency.dependencies.isEmpty
    if isThrough || asynchronous != nil && contents.withLock({ $0.throughForeign > 0 }),
      let path = DependencyCycle.path(from: dependency, to: operation)
    {
      throw OperationError(cycle: [operation] + path)
    }
    // The names of a cycle are read outside the lock.
    let cycle = change { contents, effects -> [Operation]? in
      let node = operation.parts.node
      guard operation.state < .executing, operation.parts.existingRareState?.gate.isStartDeferred != true,
        !node.upstream.contains(dependency)
      else { return nil }
      operation.parts.set(.isLinked)
      if let asynchronous {
        if !asynchronous.parts.set(.isLinked).isFinished {
          // A cycle is refused before anything is changed. The node is bound first: the thread sanitizer takes a
          // change through `parts` for a change of the operation.
          let other = asynchronous.parts.node
          if node.touchesGroup || other.touchesGroup {
            node.touchesGroup = true
            var search = contents.search(budget: DeadlockSearch.shortBudget)
            defer { effects.release(search.visited) }
            if let path = search.cycle(linking: operation, to: asynchronous) { return path }
          }
          if let path = contents.order.link(operation, to: asynchronous) { return path }
          other.dependents.append(node)
          addWait(node, operation, &effects)
        }
      } else if !isFinished {
        contents.countForeign(isThrough, 1)
        node.foreign[ObjectIdentifier(dependency)] = isThrough
        effects.actions.append { dependency.whenFinished { foreignHasFinished(dependency, node) } }
        addWait(node, operation, &effects)
      }
      node.upstream.append(dependency)
      return nil
    }
    if let cycle { throw OperationError(cycle: cycle) }
  }

  static func unlink(_ operation: AsyncOperation, from dependency: Operation) {
    change { contents, effects in
      guard let node = operation.parts.existingNode, node.upstream.remove(dependency.identity) != nil else { return }
      effects.release([dependency])
      if let asynchronous = dependency as? AsyncOperation {
        let source = asynchronous.parts.node
        guard source.dependents.remove(node.identity) != nil else { return }
      } else {
        guard let isThrough = node.foreign.removeValue(forKey: ObjectIdentifier(dependency)) else { return }
        contents.countForeign(isThrough, -1)
      }
      removeWait(node, &effects)
    }
  }

  /// Adds one unfinished dependency to the count of `node`.
  static func addWait(_ node: DependencyNode, _ operation: AsyncOperation, _ effects: inout DeferredEffects) {
    node.link(to: operation)
    node.unfinished += 1
    guard node.unfinished == 1, !operation.isCancelled else { return }
    switch node.place {
    case .inLine, .asking: node.place = .waiting
    case .entered: node.holder?.nodeIsHeldBack(node, true)
    case .outside, .waiting: break
    }
    forgetAnswer(operation)
    if operation.block() == .tellQueue, mayBeQueued(node) { effects.changed.append(operation) }
  }

  /// Removes one unfinished dependency from the count of `node`.
  static func removeWait(_ node: DependencyNode, _ effects: inout DeferredEffects) {
    node.unfinished -= 1
    if node.isFinished, let operation = node.held {
      effects.release([operation])
      node.letGo()
    }
    if node.isGated, node.unfinished == 1 { gateIsLast(node, &effects) }
    guard node.unfinished == 0, let operation = node.operation else { return }
    effects.release([operation])
    if node.isHeldBack { node.holder?.nodeIsHeldBack(node, false) }
    if let holder = node.holder, node.place == .waiting {
      holder.nodeIsReady(node, first: false)
      effects.feed(holder)
      // An `AsyncOperation` notifies the graph of a new priority.
      if !node.isOurs { effects.unread.append((operation, node)) }
    }
    if let asynchronous = operation as? AsyncOperation, asynchronous.unblock() == .tellQueue, mayBeQueued(node) {
      effects.changed.append(asynchronous)
    }
  }

  /// Whether a queue may have to read the readiness again: no queue holds a dependency queue's member that has not
  /// entered.
  private static func mayBeQueued(_ node: DependencyNode) -> Bool {
    switch node.place {
    case .waiting, .asking, .inLine: false
    case .outside, .entered: true
    }
  }

  // MARK: Ends

  /// Ends the operation behind `node`: its dependents no longer wait for it, and its own dependencies are released.
  ///
  /// Returns the operation's holder, to be notified when the queue knows of the end too, and the dependents of other
  /// classes, to be retained until then.
  static func hasFinished(
    _ node: DependencyNode, _ operation: Operation
  ) -> (holder: (any AdmittingQueue)?, foreign: [Operation]) {
    change { _, effects in
      node.isFinished = true
      var foreign: [Operation] = []
      for dependent in node.dependents.takeAll() {
        if !dependent.isOurs, let operation = dependent.operation { foreign.append(operation) }
        removeWait(dependent, &effects)
      }
      effects.release(node.upstream.takeAll())
      let holder = node.holder
      if let holder {
        holder.nodeHasFinished(node, operation)
        effects.feed(holder)
      }
      node.letGo()
      return (holder, foreign)
    }
  }

  /// Ends a dependency of another class.
  static func foreignHasFinished(_ dependency: Operation, _ node: DependencyNode) {
    change { contents, effects in
      guard let isThrough = node.foreign.removeValue(forKey: ObjectIdentifier(dependency)) else { return }
      if node.isOurs { contents.countForeign(isThrough, -1) }
      removeWait(node, &effects)
    }
  }

  // MARK: Priority

  /// Reads the priority of an operation; returns the holder if the operation has moved to another of its lines.
  @discardableResult
  static func readPriority(of operation: Operation, _ node: DependencyNode) -> (any AdmittingQueue)? {
    var holder: (any AdmittingQueue)?
    var level: PriorityLevel
    // Repeated if another thread has set the priority meanwhile.
    repeat {
      level = PriorityLevel(operation.queuePriority)
      contents.withLock { _ in
        guard node.level != level else { return }
        node.level = level
        guard case .inLine = node.place else { return }
        holder = node.holder
        holder?.nodeIsReady(node, first: false)
      }
    } while PriorityLevel(operation.queuePriority) != level
    return holder
  }
}

// MARK: - The operation's side

extension AsyncOperation {
  /// As `addDependency(_:)`, except that a cycle is thrown, with nothing changed, instead of stopping the program.
  public final func addDependencyOrThrow(_ operation: Operation) throws(OperationError) {
    try DependencyGraph.link(self, to: operation)
  }

  final func unlink(from operation: Operation) { DependencyGraph.unlink(self, from: operation) }

  final func linkedDependencies() -> [Operation] {
    guard let node = parts.existingNode else { return [] }
    return DependencyGraph.contents.withLock { _ in node.upstream.items }
  }

  /// Whether a dependency has not finished; the turn among operations that exclude each other is not counted.
  final var waitsForDependencies: Bool {
    guard let node = parts.existingNode else { return false }
    return DependencyGraph.contents.withLock { _ in node.unfinished > (node.isGated ? 1 : 0) }
  }

  final func block() -> OperationLifecycle.ReadinessAction { move { $0.block() } }
  final func unblock() -> OperationLifecycle.ReadinessAction { move { $0.unblock() } }

  /// Lets the dependents of this operation run; returns the references needed once the queue knows of the end.
  final func releaseDependents() -> (holder: (any AdmittingQueue)?, foreign: [Operation]) {
    parts.linkedNode.map { DependencyGraph.hasFinished($0, self) } ?? (nil, [])
  }

  /// Called after a cancellation; true if the operation was waiting in a dependency queue, so that no queue will start
  /// it.
  final func leaveDependencyQueue() -> Bool {
    guard let node = parts.linkedNode else { return false }
    let hasLeft = DependencyGraph.change { _, _ in
      switch node.place {
      case .waiting, .asking, .inLine:
        node.place = .outside
        return true
      case .outside, .entered: return false
      }
    }
    return hasLeft && state == .ready
  }

  final func priorityDidChange() {
    if let node = parts.linkedNode { DependencyGraph.readPriority(of: self, node)?.nodesAreReady() }
  }

  /// Frees the dependencies of an operation that is being freed; dependents retain the operation, so none are left.
  static func free(_ node: DependencyNode) {
    var (dependencies, dependents) = DependencyGraph.contents.withLock { contents in
      for isThrough in node.foreign.values { contents.countForeign(isThrough, -1) }
      node.foreign = [:]
      return (node.upstream.takeAll(), node.dependents.takeAll())
    }
    dependents.removeAll()
    Nesting.release(&dependencies)
  }
}

extension Operation {
  /// Calls `body` once when this operation has finished, on any thread, by an operation that depends on it.
  ///
  /// A `completionBlock` could be replaced by the operation's owner. The default is a separate queue, because a queue
  /// scans all its waiting operations at every event.
  package func whenFinished(on queue: OperationQueue = OperationQueue(), _ body: @escaping @Sendable () -> Void) {
    let end = BlockOperation(block: body)
    end.addDependency(self)
    queue.addOperation(end)
  }

  /// Calls `body` once with this operation and its failure when it ends; at once on that thread for `AsyncOperation`.
  ///
  /// For another class, only a cancellation is known as a failure. An `AsyncOperation` retains `body` until its end.
  package func whenEnded(_ body: @escaping @Sendable (Operation, (any Error)?) -> Void) {
    if let operation = self as? AsyncOperation {
      operation.parts.rareState.whenEnded { body($0, $0.failure) }
    } else {
      whenFinished { body(self, self.isCancelled ? CancellationError() : nil) }
    }
  }
}
