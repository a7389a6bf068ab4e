import Foundation

extension Operation {
  /// This operation and all that it depends on, directly or not, each once and behind what it depends on itself.
  ///
  ///     let total = downloads.gathered().reduce(0) { $0 + $1.count }
  ///     queue.addOperations(total.withDependencies, waitUntilFinished: false)
  ///
  /// So the operations in the middle of a chain, which have no name in the program, are added too: an operation that is in
  /// no queue never runs, and all that depends on it waits for ever. Left out are operations that have been started, and
  /// those that are in a queue as far as that is known: members of an `OperationFeeder`, and of any queue those with
  /// conditions, as all have that receive values. In a plain queue the sign of it is that its `isReady` has been read.
  public final var withDependencies: [Operation] {
    var found: Set<ObjectIdentifier> = []
    var chain: [Operation] = []
    // Explicit, because a chain may be longer than the stack is deep.
    var pile = [(operation: self, isExpanded: false)]
    while let (operation, isExpanded) = pile.popLast() {
      if isExpanded {
        chain.append(operation)
        continue
      }
      guard found.insert(ObjectIdentifier(operation)).inserted, operation === self || operation.mayBeAdded else {
        continue
      }
      pile.append((operation, true))
      pile += operation.dependencies.reversed().map { ($0, false) }
    }
    return chain
  }

  private var mayBeAdded: Bool {
    guard !isExecuting, !isFinished else { return false }
    guard let operation = self as? AsyncOperation else { return true }
    let (node, sideState) = (operation.parts.existingNode, operation.parts.existingSideState)
    return DependencyGraph.contents.withLock { _ in node?.holder == nil }
      && sideState?.mayBeQueued.load(ordering: .relaxed) != true
  }
}
