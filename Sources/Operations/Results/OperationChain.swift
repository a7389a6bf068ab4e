import Foundation

extension Operation {
  /// This operation and all its direct and indirect dependencies, each once and after its own dependencies.
  ///
  ///     let total = downloads.collected().reduce(0) { $0 + $1.count }
  ///     queue.addOperations(total.withDependencies)
  ///
  /// This includes operations in the middle of a chain, which have no name in the program: an operation that is in no
  /// queue never runs, and all that depends on it waits indefinitely. The dependencies of a group's children count as
  /// its own, except the sources of values that it runs itself. The list leaves out operations that have been started,
  /// are children of a group, or are in a queue or a dependency queue. For an `AsyncOperation`, a reading of `isReady`
  /// counts as being in a queue. For an operation of another class, on systems other than Linux, the queue can't be
  /// detected.
  public final var withDependencies: [Operation] { Self.needed(by: [self], .all) + [self] }

  /// The dependencies that an operation is run with.
  enum DependencyKind {
    case all
    /// Operations whose values are received, and the same kind of dependencies of these.
    case sources
  }

  /// As `needed(by:_:)`, for a caller that runs the operations: no other caller gets the same operation.
  static func takenAlong(by operations: [Operation], _ kind: DependencyKind) -> [Operation] {
    needed(by: operations, kind).filter { operation in
      if let operation = operation as? AsyncOperation { return operation.mayBeInQueue() }
      guard hold(operation) else { return false }
      // The previous holder may have run it meanwhile.
      if operation.isFinished { letGo(operation) }
      return !operation.isFinished
    }
  }

  /// The direct and indirect dependencies of `operations` that no queue runs, each once and after its own dependencies.
  ///
  /// With `sources`, only paths through these are followed, and none into groups.
  static func needed(by operations: [Operation], _ kind: DependencyKind) -> [Operation] {
    enum Step { case find, append, lookInside }
    var found = Set(operations.map(ObjectIdentifier.init))
    var inside: Set<ObjectIdentifier> = []
    var chain: [Operation] = []
    // An explicit stack, because a chain may be longer than the call stack is deep.
    var pile: [(operation: Operation, step: Step)] = []
    func expand(_ operation: Operation, isInside: Bool) {
      // Reversed, so that the first dependency comes first.
      for dependency in operation.dependencies.reversed() where !found.contains(ObjectIdentifier(dependency)) {
        // A group runs the sources of its children.
        let isTaken = isInside && dependency.isSource && dependency.isRunByNobody
        pile.append((dependency, isTaken ? .lookInside : .find))
      }
      guard kind == .all, let operation = operation as? AsyncOperation else { return }
      for child in operation.heldChildren.reversed() { pile.append((child, .lookInside)) }
    }
    for operation in operations.reversed() { expand(operation, isInside: false) }
    while let (operation, step) = pile.popLast() {
      let id = ObjectIdentifier(operation)
      switch step {
      case .append: chain.append(operation)
      case .lookInside: if inside.insert(id).inserted { expand(operation, isInside: true) }
      case .find:
        guard found.insert(id).inserted, kind == .all || operation.isSource, operation.isRunByNobody else { continue }
        pile.append((operation, .append))
        expand(operation, isInside: false)
      }
    }
    return chain
  }

  /// Whether another operation receives the value of this one.
  final var isSource: Bool {
    guard let node = (self as? AsyncOperation)?.parts.existingNode else { return false }
    return DependencyGraph.contents.withLock { _ in node.isSource }
  }

  /// Whether the operation has not been started and has no known holder that will start it.
  package var isRunByNobody: Bool {
    guard !isExecuting, !isFinished else { return false }
    guard let operation = self as? AsyncOperation else {
      return Self.held.withLock { !$0.contains(ObjectIdentifier(self)) } && !isInFoundationsQueue
    }
    let (node, rareState) = (operation.parts.existingNode, operation.parts.existingRareState)
    return !operation.parts.has(.mayBeQueued) && rareState?.group == nil
      && DependencyGraph.contents.withLock { _ in node?.holder == nil }
  }

  /// Operations of other classes that this library holds, to start them when they may run.
  private static let held = Lock<Set<ObjectIdentifier>>([])

  /// Keeps other callers from taking along an operation of another class; false if it was held before.
  @discardableResult
  static func hold(_ operation: Operation) -> Bool { held.withLock { $0.insert(ObjectIdentifier(operation)).inserted } }

  /// Called for each held operation before it is freed.
  static func letGo(_ operation: Operation) { held.withLock { _ = $0.remove(ObjectIdentifier(operation)) } }

  static func isHeld(_ operation: Operation) -> Bool { held.withLock { $0.contains(ObjectIdentifier(operation)) } }

  /// Whether an operation of any class is in an `OperationQueue`, which traps if it is added to another.
  ///
  /// Foundation has no API for that; on Linux the reference to the queue is found by its name among the stored
  /// properties.
  private var isInFoundationsQueue: Bool {
    var mirror = Mirror(reflecting: self)
    while let next = mirror.superclassMirror, mirror.subjectType != Operation.self { mirror = next }
    guard let queue = mirror.children.first(where: { $0.label == "__queue" })?.value else { return false }
    return Mirror(reflecting: queue).children.first != nil
  }
}

extension OperationQueue {
  /// Adds operations, from tasks too: the compiler refuses `addOperations(_:waitUntilFinished:)` there, as it may wait.
  ///
  ///     queue.addOperations(total.withDependencies)
  public func addOperations(_ operations: [Operation]) { addOperations(operations, waitUntilFinished: false) }
}
