import Foundation

/// A topological order of the nodes, updated at each link (Pearce and Kelly).
///
/// In a graph that is built from either end, no node ever has to move; otherwise only the nodes between the two ranks
/// are visited.
struct DependencyRanks {
  private var lowest = 0
  private var highest = 0

  /// Ranks the node of `upper` below the node of `lower`, which depends on it, and moves other nodes if necessary.
  ///
  /// Returns the cycle that the link would close, with nothing changed: each operation depends on the next, the last is
  /// the first again.
  mutating func link(_ lower: AsyncOperation, to upper: AsyncOperation) -> [Operation]? {
    let (dependent, dependency) = (lower.parts.node, upper.parts.node)
    guard let highRank = dependency.rank else {
      dependency.rank = dependent.rank == nil ? above() : below()
      if dependent.rank == nil { dependent.rank = above() }
      return nil
    }
    if let rank = dependent.rank, rank > highRank { return nil }
    guard let lowRank = dependent.rank, !dependent.dependents.isEmpty else {
      dependent.rank = above()
      return nil
    }
    guard dependency.unfinished > dependency.foreign.count else {
      dependency.rank = below()
      return nil
    }
    let (after, path) = reach(from: dependent, upTo: highRank, goal: dependency)
    if let path { return [lower, upper] + path.dropFirst().dropLast().reversed().compactMap(\.operation) + [lower] }
    let before = back(from: upper, downTo: lowRank)
    let ranks = (before + after).compactMap(\.rank).sorted()
    let order = before.sorted { $0.rank ?? 0 < $1.rank ?? 0 } + after.sorted { $0.rank ?? 0 < $1.rank ?? 0 }
    for (node, rank) in zip(order, ranks) { node.rank = rank }
    return nil
  }

  private mutating func above() -> Int {
    highest += 1
    return highest
  }

  private mutating func below() -> Int {
    lowest -= 1
    return lowest
  }

  /// Visits all dependents of `start` with ranks up to `upper`, until one is the goal.
  ///
  /// `path` then has the nodes from the start to the goal; each depends on the one before.
  private func reach(
    from start: DependencyNode, upTo upper: Int, goal: DependencyNode
  ) -> (found: [DependencyNode], path: [DependencyNode]?) {
    var found: [DependencyNode] = []
    let path = GraphWalk.path(
      from: [start], key: \.identity,
      next: { node in
        found.append(node)
        return node.dependents.items.filter { $0.rank ?? 0 <= upper }
      }, to: { $0 === goal })
    return (found, path)
  }

  /// All dependencies of `start` with ranks down to `lower`, and `start` itself.
  private func back(from start: AsyncOperation, downTo lower: Int) -> [DependencyNode] {
    var seen = [ObjectIdentifier(start): start.parts.node]
    var pile = [start]
    while let operation = pile.popLast() {
      for case let dependency as AsyncOperation in operation.parts.node.upstream.items {
        guard let node = dependency.parts.existingNode, !node.isFinished, let rank = node.rank, rank >= lower else {
          continue
        }
        if seen.updateValue(node, forKey: ObjectIdentifier(dependency)) == nil { pile.append(dependency) }
      }
    }
    return Array(seen.values)
  }
}
