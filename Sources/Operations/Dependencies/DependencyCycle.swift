import Foundation

/// Searches for cycles of dependencies, through operations of any class.
enum DependencyCycle {
  /// A path from `start` to `goal` along dependencies of any class: the operations on it, both ends included.
  static func path(from start: Operation, to goal: Operation) -> [Operation]? {
    var reachedFrom: [ObjectIdentifier: Operation] = [:]
    var pile = [start]
    while let operation = pile.popLast() {
      for dependency in operation.dependencies where reachedFrom[ObjectIdentifier(dependency)] == nil {
        reachedFrom[ObjectIdentifier(dependency)] = operation
        if dependency !== goal {
          pile.append(dependency)
          continue
        }
        var path = [goal]
        var last = operation
        while last !== start {
          path.append(last)
          guard let previous = reachedFrom[ObjectIdentifier(last)] else { break }
          last = previous
        }
        return [start] + path.reversed()
      }
    }
    return nil
  }

  /// A cycle that can be reached from `operations`; the last operation is the first again.
  ///
  /// `descend` decides whether to search the dependencies of an operation.
  static func find(from operations: [Operation], descend: (Operation) -> Bool) -> [Operation]? {
    var isOnPath: Set<ObjectIdentifier> = []
    var isDone: Set<ObjectIdentifier> = []
    for operation in operations where !isDone.contains(ObjectIdentifier(operation)) {
      // An explicit stack, because a chain may be longer than the call stack is deep.
      var path = [(operation: operation, rest: operation.dependencies[...])]
      isOnPath = [ObjectIdentifier(operation)]
      while let top = path.last {
        guard let next = top.rest.first else {
          isDone.insert(ObjectIdentifier(top.operation))
          isOnPath.remove(ObjectIdentifier(top.operation))
          path.removeLast()
          continue
        }
        path[path.count - 1].rest.removeFirst()
        let id = ObjectIdentifier(next)
        if isOnPath.contains(id) {
          return path.map(\.operation).drop { $0 !== next } + [next]
        }
        guard !isDone.contains(id), descend(next) else { continue }
        path.append((next, next.dependencies[...]))
        isOnPath.insert(id)
      }
    }
    return nil
  }
}
