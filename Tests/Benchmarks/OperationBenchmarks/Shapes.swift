import Foundation
import Operations

/// Linked operations in four shapes: whole lives of ours in two sizes, and of Foundation's own in smaller ones.
func measureShapes(_ rounds: Int) throws {
  let shapes: [(String, ([Operation]) -> Void)] = [
    ("chain", { all in for (next, previous) in zip(all.dropFirst(), all) { next.addDependency(previous) } }),
    ("fan-out", { all in for operation in all.dropFirst() { operation.addDependency(all[0]) } }),
    ("fan-in", { all in for operation in all.dropLast() { all[all.count - 1].addDependency(operation) } }),
    ("layers", link),
  ]
  for (name, link) in shapes {
    for round in 0...rounds {
      for count in [10_000, 100_000] {
        let time = try seconds {
          let dependencyQueue = DependencyQueue(feeding: queue(2))
          do {
            let all = (0..<count).map { _ in EmptyOperation() }
            link(all)
            try dependencyQueue.add(all)
          }
          dependencyQueue.waitUntilAllOperationsAreFinished()
        }
        if round > 0 { tell("\(name) \(count)", time) }
      }
    }
    for count in [2_000, 8_000] {
      let time = seconds {
        let all = (0..<count).map { _ in BareOperation() }
        link(all)
        queue(2).addOperations(all, waitUntilFinished: true)
      }
      tell("Foundation's \(name) \(count)", time)
    }
  }
  try measureCancelling(rounds)
  try measureGroups(rounds)
}

/// Groups whose children are added one by one and wait for one operation, and groups in each other.
private func measureGroups(_ rounds: Int) throws {
  for round in 0...rounds {
    for count in [10_000, 100_000] {
      let gate = EmptyOperation()
      let group = GroupOperation(width: 2)
      let queue = queue(2)
      let time = try seconds {
        for _ in 0..<count {
          let child = EmptyOperation()
          child.addDependency(gate)
          try group.add(child)
        }
        queue.addOperations([gate, group], waitUntilFinished: true)
      }
      if round > 0 { tell("group \(count)", time) }
    }
    for depth in [10_000, 100_000] {
      let time = seconds {
        let nest = (0..<depth).reduce(GroupOperation()) { inner, _ in GroupOperation([inner]) }
        queue(2).addOperations([nest], waitUntilFinished: true)
      }
      if round > 0 { tell("nest \(depth)", time) }
    }
  }
  for count in [2_000, 8_000] {
    let gate = BareOperation()
    let queue = queue(2)
    let time = seconds {
      for _ in 0..<count {
        let operation = BareOperation()
        operation.addDependency(gate)
        queue.addOperation(operation)
      }
      queue.addOperation(gate)
      queue.waitUntilAllOperationsAreFinished()
    }
    tell("Foundation's group \(count)", time)
  }
}

/// The end of all that wait for one that executes.
private func measureCancelling(_ rounds: Int) throws {
  for round in 0...rounds {
    for count in [10_000, 100_000] {
      let dependencyQueue = DependencyQueue(feeding: queue(2))
      let gate = EmptyOperation()
      let all = (0..<count).map { _ in EmptyOperation() }
      for operation in all { operation.addDependency(gate) }
      try dependencyQueue.add(all)
      let time = seconds {
        dependencyQueue.cancelAllOperations()
        dependencyQueue.waitUntilAllOperationsAreFinished()
      }
      if round > 0 { tell("cancelled \(count)", time) }
    }
  }
  for count in [2_000, 8_000] {
    let queue = queue(2)
    let gate = Operation()
    let all = (0..<count).map { _ in BareOperation() }
    for operation in all { operation.addDependency(gate) }
    queue.addOperations(all, waitUntilFinished: false)
    let time = seconds {
      queue.cancelAllOperations()
      queue.waitUntilAllOperationsAreFinished()
    }
    tell("Foundation's cancelled \(count)", time)
  }
}

/// Layers of a hundredth of the whole, each operation behind three of the layer before.
private func link(_ all: [Operation]) {
  let width = all.count / 100
  for index in width..<all.count {
    let row = (index / width - 1) * width
    for step in 0..<3 {
      let dependency = all[row + (index + step * 37) % width]
      if !all[index].dependencies.contains(dependency) { all[index].addDependency(dependency) }
    }
  }
}
