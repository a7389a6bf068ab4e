import Foundation

extension Operation {
  /// This operation and all that it depends on, directly or not, each once and behind what it depends on itself.
  ///
  ///     let total = downloads.gathered().reduce(0) { $0 + $1.count }
  ///     queue.addOperations(total.withDependencies)
  ///
  /// So the operations in the middle of a chain, which have no name in the program, are added too: an operation that is in
  /// no queue never runs, and all that depends on it waits for ever. Left out are operations that have been started, that
  /// are children of a group, and that are in a queue or a feeder. An `AsyncOperation` takes it for the sign of a queue
  /// that its `isReady` has been read. Of another class than that, on another system than Linux, a queue is not known.
  public final var withDependencies: [Operation] { Self.needed(by: [self]) { _ in true } + [self] }

  /// As `needed(by:_:)`, for a caller that runs what it gets: nobody else gets the same operation.
  static func takenAlong(by operations: [Operation], _ isIncluded: (Operation) -> Bool) -> [Operation] {
    needed(by: operations, isIncluded).filter { operation in
      if let operation = operation as? AsyncOperation { return operation.mayBeInQueue() }
      guard hold(operation) else { return false }
      // Whoever held it before may have run it meanwhile.
      if operation.isFinished { letGo(operation) }
      return !operation.isFinished
    }
  }

  /// What `operations` depend on, directly or not, and nobody runs: each once, and behind what it depends on itself.
  ///
  /// Only ways along operations for which `isIncluded` returns true are followed.
  static func needed(by operations: [Operation], _ isIncluded: (Operation) -> Bool) -> [Operation] {
    var found = Set(operations.map(ObjectIdentifier.init))
    var chain: [Operation] = []
    // Explicit, because a chain may be longer than the stack is deep.
    var pile: [(operation: Operation, isExpanded: Bool)] = []
    func expand(_ operation: Operation) {
      // Reversed, so that the first dependency stands first.
      for dependency in operation.dependencies.reversed() where !found.contains(ObjectIdentifier(dependency)) {
        pile.append((dependency, false))
      }
    }
    for operation in operations.reversed() { expand(operation) }
    while let (operation, isExpanded) = pile.popLast() {
      if isExpanded {
        chain.append(operation)
      } else if found.insert(ObjectIdentifier(operation)).inserted, isIncluded(operation), operation.isRunByNobody {
        pile.append((operation, true))
        expand(operation)
      }
    }
    return chain
  }

  /// Whether another operation receives the value of this one.
  final var isSource: Bool {
    guard let node = (self as? AsyncOperation)?.parts.existingNode else { return false }
    return DependencyGraph.contents.withLock { _ in node.isSource }
  }

  /// Whether nobody has started the operation, or holds it to start it, as far as that can be known.
  private var isRunByNobody: Bool {
    guard !isExecuting, !isFinished else { return false }
    guard let operation = self as? AsyncOperation else {
      return Self.held.withLock { !$0.contains(ObjectIdentifier(self)) } && !isInFoundationsQueue
    }
    let (node, sideState) = (operation.parts.existingNode, operation.parts.existingSideState)
    return !operation.parts.has(.mayBeQueued) && sideState?.group == nil
      && DependencyGraph.contents.withLock { _ in node?.holder == nil }
  }

  /// Operations of other classes than ours that somebody of us holds, to start them when they may run.
  private static let held = Lock<Set<ObjectIdentifier>>([])

  /// Keeps others from taking an operation of another class along; false if it was held before.
  @discardableResult
  static func hold(_ operation: Operation) -> Bool { held.withLock { $0.insert(ObjectIdentifier(operation)).inserted } }

  /// Called for each that was held, before it is freed.
  static func letGo(_ operation: Operation) { held.withLock { _ = $0.remove(ObjectIdentifier(operation)) } }

  /// Whether an operation of any class is in an `OperationQueue`, which traps if it is added to another.
  ///
  /// Foundation has no call that tells; on Linux the reference to the queue is found by its name among the stored properties.
  private var isInFoundationsQueue: Bool {
    var mirror = Mirror(reflecting: self)
    while let next = mirror.superclassMirror, mirror.subjectType != Operation.self { mirror = next }
    guard let queue = mirror.children.first(where: { $0.label == "__queue" })?.value else { return false }
    return Mirror(reflecting: queue).children.first != nil
  }
}

extension OperationQueue {
  /// Adds operations, from tasks too: `addOperations(_:waitUntilFinished:)` may wait, which the compiler refuses there.
  ///
  ///     queue.addOperations(total.withDependencies)
  public func addOperations(_ operations: [Operation]) { addOperations(operations, waitUntilFinished: false) }
}
