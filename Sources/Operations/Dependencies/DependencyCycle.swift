import Foundation

/// Searches for cycles of dependencies, through operations of any class.
package enum DependencyCycle {
  /// A path from `start` to `goal` along dependencies of any class: the operations on it, both ends included.
  package static func path(from start: Operation, to goal: Operation) -> [Operation]? {
    GraphWalk.path(from: [start], key: \.identity, next: \.dependencies, to: { $0 === goal })
  }

  /// Cycles of unfinished operations that can be reached from `operations`, at most `limit`; the last operation of each is
  /// the first again.
  ///
  /// One walk, which reads the dependencies of each operation once.
  package static func all(from operations: [Operation], limit: Int) -> [[Operation]] {
    var cycles: [[Operation]] = []
    _ = GraphWalk.cycle(
      from: operations, key: \.identity, next: { $0.dependencies.filter { !$0.isFinished } },
      where: { cycle in
        cycles.append(cycle)
        return cycles.count == limit
      })
    return cycles
  }

  /// A cycle that can be reached from `operations`; the last operation is the first again.
  ///
  /// `descend` decides whether to search the dependencies of an operation.
  static func find(from operations: [Operation], descend: (Operation) -> Bool) -> [Operation]? {
    let first = Set(operations.map(\.identity))
    return GraphWalk.cycle(
      from: operations, key: \.identity,
      next: { first.contains($0.identity) || descend($0) ? $0.dependencies : [] }, where: { _ in true })
  }
}
