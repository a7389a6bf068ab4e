import Foundation

/// All dependencies of asynchronous operations.
///
/// Foundation's own on Linux overflow the stack, hang or read freed memory when they are many or circular (a dependent
/// freed early, a cycle, two threads that link both ways), so ours replace them. One lock for all: a link is a matter of
/// nanoseconds, and a cycle can be told only where no other link is made meanwhile.
enum DependencyGraph {
  struct Ranks {
    var lowest = 0
    var highest = 0
    /// How many of ours wait for operations of other classes, whose own links are not known here.
    var foreignLinks = 0
    /// How many of these may lead back to ours, because what they lead to had dependencies of its own.
    var throughForeign = 0
    /// Who excludes whom.
    var exclusion = ExclusionTable()

    mutating func countForeign(_ isThrough: Bool, _ amount: Int) {
      foreignLinks += amount
      if isThrough { throughForeign += amount }
    }
  }

  static let ranks = Lock(Ranks())

  /// What is left to do once the lock is free.
  struct Aftermath {
    /// Readiness has changed: their queues look again.
    var changed: [AsyncOperation] = []
    /// This has something to enter, and so have these; mostly there is one.
    private var feeder: OperationFeeder?
    private var feeders: [OperationFeeder] = []
    /// Watched for their end, on behalf of a node.
    var watched: (operation: Operation, node: DependencyNode)?
    /// Conditions to be asked, starts that were put off.
    var gates: [@Sendable () -> Void] = []
    /// Only let go of: a last reference may not go under the lock.
    var released: [Operation] = []

    private var batch: OperationFeeder.Batch?

    /// A feeder whose line has grown, or whose queue has room.
    mutating func feed(_ feeder: OperationFeeder) {
      guard self.feeder !== feeder, feeders.last !== feeder else { return }
      if self.feeder == nil { self.feeder = feeder } else { feeders.append(feeder) }
    }

    /// The last thing under the lock, where one lock less counts.
    mutating func close() {
      if let feeder { batch = feeder.begin() }
    }

    func carryOut() {
      for operation in changed { operation.tellReadiness() }
      if let (operation, node) = watched {
        ForeignEnd.watch(operation) { DependencyGraph.foreignEnded(operation, node) }
      }
      if let batch { feeder?.enter(batch) } else { feeder?.pump() }
      for feeder in feeders { feeder.pump() }
      for body in gates { body() }
    }
  }

  // MARK: Links

  static func link(_ operation: AsyncOperation, to dependency: Operation) throws(DependencyCycle) {
    guard operation !== dependency else { throw DependencyCycle([operation, operation]) }
    let isForeign = !(dependency is AsyncOperation)
    let isThrough = isForeign && !dependency.dependencies.isEmpty
    if isThrough || !isForeign && ranks.withLock({ $0.throughForeign > 0 }),
      let path = DependencyCycle.path(from: dependency, to: operation)
    {
      throw DependencyCycle([operation] + path)
    }
    let aftermath = try ranks.withLock { ranks throws(DependencyCycle) in
      var aftermath = Aftermath()
      let node = operation.node
      guard operation.state < .executing, !node.upstream.contains(dependency) else { return aftermath }
      operation.beginLinked()
      if let dependency = dependency as? AsyncOperation {
        if dependency.beginLinked() {
          // A cycle is refused before anything is changed.
          try ranks.order(dependency.node, before: node, dependency, operation)
          dependency.node.dependents.append(node)
          wait(node, operation, &aftermath)
        }
      } else if !dependency.isFinished {
        ranks.countForeign(isThrough, 1)
        node.foreign[ObjectIdentifier(dependency)] = isThrough
        aftermath.watched = (dependency, node)
        wait(node, operation, &aftermath)
      }
      node.upstream.append(dependency)
      return aftermath
    }
    aftermath.carryOut()
  }

  /// One dependency of `node` more.
  static func wait(_ node: DependencyNode, _ operation: AsyncOperation, _ aftermath: inout Aftermath) {
    node.link(to: operation)
    node.unfinished += 1
    guard node.unfinished == 1, !operation.isCancelled else { return }
    if case .inLine = node.place { node.place = .waiting }
    if operation.block() == .tellQueue, mayBeQueued(node) { aftermath.changed.append(operation) }
  }

  static func unlink(_ operation: AsyncOperation, from dependency: Operation) {
    let aftermath = ranks.withLock { ranks in
      var aftermath = Aftermath()
      guard let node = operation.existingNode, node.upstream.remove(dependency) else { return aftermath }
      aftermath.released.append(dependency)
      if let asynchronous = dependency as? AsyncOperation {
        guard let index = asynchronous.node.dependents.firstIndex(where: { $0 === node }) else { return aftermath }
        asynchronous.node.dependents.remove(at: index)
      } else {
        guard let isThrough = node.foreign.removeValue(forKey: ObjectIdentifier(dependency)) else { return aftermath }
        ranks.countForeign(isThrough, -1)
      }
      settle(node, &aftermath)
      aftermath.close()
      return aftermath
    }
    aftermath.carryOut()
  }

  static func dependencies(of operation: AsyncOperation) -> [Operation] {
    guard let node = operation.existingNode else { return [] }
    return ranks.withLock { _ in node.upstream.items }
  }

  /// For an operation that is about to be freed, so that nothing is freed under the lock.
  static func takeDependencies(of operation: AsyncOperation) -> [Operation] {
    guard let node = operation.existingNode else { return [] }
    return ranks.withLock { _ in node.upstream.takeAll() }
  }

  /// The operation behind `node` is being freed; those that waited for it kept it, so they have gone before.
  ///
  /// Returns what it depended on, to be let go of by the caller.
  static func forget(_ node: DependencyNode) -> [Operation] {
    let (dependencies, dependents) = ranks.withLock { ranks in
      for isThrough in node.foreign.values { ranks.countForeign(isThrough, -1) }
      node.foreign = [:]
      defer { node.dependents = [] }
      return (node.upstream.takeAll(), node.dependents)
    }
    // Let go of outside the lock.
    withExtendedLifetime(dependents) {}
    return dependencies
  }

  static func feeder(of node: DependencyNode) -> OperationFeeder? { ranks.withLock { _ in node.feeder } }

  // MARK: What happens to operations

  /// The operation behind `node` is over: what waited for it may go on, and its own dependencies are let go of.
  ///
  /// Returns the feeder that it was in, to be told when the queue knows too.
  static func finished(_ node: DependencyNode, _ operation: Operation) -> OperationFeeder? {
    let (aftermath, feeder) = ranks.withLock { _ in
      var aftermath = Aftermath()
      node.isFinished = true
      if !node.dependents.isEmpty {
        let dependents = node.dependents
        node.dependents = []
        for dependent in dependents { settle(dependent, &aftermath) }
      }
      if aftermath.released.isEmpty {
        aftermath.released = node.upstream.takeAll()
      } else {
        aftermath.released += node.upstream.takeAll()
      }
      let feeder = node.feeder
      if let feeder {
        feeder.remove(node, operation)
        aftermath.feed(feeder)
      }
      node.held = nil
      aftermath.close()
      return (aftermath, feeder)
    }
    aftermath.carryOut()
    return feeder
  }

  static func foreignEnded(_ dependency: Operation, _ node: DependencyNode) {
    let aftermath = ranks.withLock { ranks in
      var aftermath = Aftermath()
      guard let isThrough = node.foreign.removeValue(forKey: ObjectIdentifier(dependency)) else { return aftermath }
      if node.isOurs { ranks.countForeign(isThrough, -1) }
      settle(node, &aftermath)
      aftermath.close()
      return aftermath
    }
    aftermath.carryOut()
  }

  /// One dependency of `node` less.
  static func settle(_ node: DependencyNode, _ aftermath: inout Aftermath) {
    node.unfinished -= 1
    if node.isGated, node.unfinished == 1 { gateIsNext(node, &aftermath) }
    guard node.unfinished == 0, let operation = node.operation else { return }
    aftermath.released.append(operation)
    if let feeder = node.feeder, node.place == .waiting {
      feeder.line(up: node, operation)
      aftermath.feed(feeder)
    }
    if let asynchronous = operation as? AsyncOperation, asynchronous.unblock() == .tellQueue, mayBeQueued(node) {
      aftermath.changed.append(asynchronous)
    }
  }

  /// A member of a feeder that has not entered is in no queue that would have to look again.
  private static func mayBeQueued(_ node: DependencyNode) -> Bool {
    switch node.place {
    case .waiting, .inLine: false
    case .outside, .entered: true
    }
  }
}

// MARK: - Order

extension DependencyGraph.Ranks {
  /// Ranks `dependency` below `dependent`, moving others where need be, or tells the cycle that this would close.
  ///
  /// The ranks are a topological order that is mended at each link (Pearce and Kelly). In a graph that is built from
  /// either end, nothing has ever to move; else only what lies between the two ranks is looked at.
  mutating func order(
    _ dependency: DependencyNode, before dependent: DependencyNode, _ first: AsyncOperation, _ second: AsyncOperation
  ) throws(DependencyCycle) {
    guard let upper = dependency.rank else {
      dependency.rank = dependent.rank == nil ? above() : below()
      if dependent.rank == nil { dependent.rank = above() }
      return
    }
    if let rank = dependent.rank, rank > upper { return }
    guard let lower = dependent.rank, !dependent.dependents.isEmpty else {
      dependent.rank = above()
      return
    }
    guard dependency.unfinished > dependency.foreign.count else {
      dependency.rank = below()
      return
    }
    let after = try reach(from: dependent, upTo: upper, dependency, first, second)
    let before = back(from: first, downTo: lower)
    let ranks = (before + after).compactMap(\.rank).sorted()
    let order = before.sorted { $0.rank ?? 0 < $1.rank ?? 0 } + after.sorted { $0.rank ?? 0 < $1.rank ?? 0 }
    for (node, rank) in zip(order, ranks) { node.rank = rank }
  }

  private mutating func above() -> Int {
    highest += 1
    return highest
  }

  private mutating func below() -> Int {
    lowest -= 1
    return lowest
  }

  /// All that depends on `start`, as far as it is ranked up to `upper`.
  private func reach(
    from start: DependencyNode, upTo upper: Int, _ goal: DependencyNode, _ first: AsyncOperation,
    _ second: AsyncOperation
  ) throws(DependencyCycle) -> [DependencyNode] {
    var reachedFrom: [ObjectIdentifier: DependencyNode] = [:]
    var found = [start]
    var next = 0
    while next < found.count {
      let node = found[next]
      next += 1
      for dependent in node.dependents where dependent.rank ?? 0 <= upper {
        guard dependent !== start, reachedFrom[ObjectIdentifier(dependent)] == nil else { continue }
        reachedFrom[ObjectIdentifier(dependent)] = node
        found.append(dependent)
        guard dependent === goal else { continue }
        // Each depends on the next: from the dependency back to the start.
        var path: [Operation] = [second, first]
        var last = goal
        while let previous = reachedFrom[ObjectIdentifier(last)], previous !== start {
          if let operation = previous.operation { path.append(operation) }
          last = previous
        }
        throw DependencyCycle(path + [second])
      }
    }
    return found
  }

  /// All that `start` depends on, itself included, as far as it is ranked down to `lower`.
  private func back(from start: AsyncOperation, downTo lower: Int) -> [DependencyNode] {
    var seen = [ObjectIdentifier(start): start.node]
    var pile = [start]
    while let operation = pile.popLast() {
      for case let dependency as AsyncOperation in operation.node.upstream.items {
        guard let node = dependency.existingNode, !node.isFinished, let rank = node.rank, rank >= lower else {
          continue
        }
        if seen.updateValue(node, forKey: ObjectIdentifier(dependency)) == nil { pile.append(dependency) }
      }
    }
    return Array(seen.values)
  }
}
