import Foundation

// The middle of `fetch.then { … }.then { … }` has no name in the program. If only the end of the chain is added to a
// queue, nothing but the chain references the middle, so no code can add it any more, and the end would wait
// indefinitely.

extension DependencyGraph {
  private static let adoptions = DispatchQueue(label: "UnnamedDependencies")
  /// The time a program may take from adding an operation to adding operations from its `dependencies`.
  private static let patience = DispatchTimeInterval.milliseconds(50)

  /// Runs, soon, the dependencies of a queued operation that nothing else references, and their dependencies.
  static func runUnnamedDependencies(of operation: AsyncOperation) {
    change { contents, effects in
      guard let node = operation.parts.existingNode, node.unfinished > (node.isGated ? 1 : 0) else { return }
      contents.adopters.append(operation)
      guard contents.adopters.count == 1 else { return }
      effects.actions.append { adoptions.asyncAfter(deadline: .now() + patience) { adopt() } }
    }
  }

  private static func adopt() {
    let adopters = contents.withLock { exchange(&$0.adopters, with: []) }
    for operation in adopters where operation.state < .executing && !operation.isCancelled {
      let (unnamed, holder) = contents.withLock { _ in
        (unnamedDependencies(of: operation), operation.parts.existingNode?.holder)
      }
      if !unnamed.isEmpty { operation.run(unnamed, in: holder) }
    }
  }

  /// Called under the lock; each operation in the result precedes its own dependencies.
  private static func unnamedDependencies(of operation: AsyncOperation) -> [AsyncOperation] {
    var found: [AsyncOperation] = []
    var pile = [operation]
    while let next = pile.popLast() {
      let unshared = next.parts.existingNode?.upstream.findUnshared() ?? []
      let unnamed = unshared.compactMap { $0 as? AsyncOperation }.filter { $0.state < .executing }
      found += unnamed
      pile += unnamed
    }
    return found
  }
}

extension AsyncOperation {
  /// Runs dependencies of this operation, in the dependency queue that holds the operation, if one does.
  fileprivate final func run(_ operations: [AsyncOperation], in holder: (any AdmittingQueue)?) {
    for operation in operations { post(.produced(operation)) }
    do {
      if let group = parts.existingRareState?.group as? GroupOperation {
        try group.add(operations)
      } else if let holder {
        try holder.add(operations)
      } else {
        let queue = parts.existingRareState?.queue ?? OperationQueue()
        queue.addOperations(operations, waitUntilFinished: false)
      }
    } catch {
      cancel(with: error)
    }
  }
}
