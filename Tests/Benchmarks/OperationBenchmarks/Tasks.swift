import Foundation
import Operations

/// Linked operations beside tasks that are linked in the same way, and beside Foundation's own in a plain queue.
func measureTasks(_ rounds: Int) throws {
  let count = 100_000
  for round in 0...rounds {
    let times: [(String, Double)] = [
      ("operations, chain", try operations(count) { _, previous, _ in previous }),
      ("tasks, chain", tasks(count) { _, previous, _ in previous }),
      ("operations, fan", try operations(count) { _, _, first in first }),
      ("tasks, fan", tasks(count) { _, _, first in first }),
      ("operations, grid", try valuesOfOperations(count)),
      ("tasks, grid", valuesOfTasks(count)),
      ("operations, plain chain", plainChain { EmptyOperation() }),
      ("Foundation's plain chain", plainChain { BlockOperation {} }),
      ("operations, 100000", try operations(count) { _, _, _ in nil }),
      ("operations, 1000000", try operations(10 * count) { _, _, _ in nil }),
    ]
    if round > 0 { for (name, time) in times { tell(name, time) } }
  }
}

/// Which one it waits for: none, the one before it or the first.
private typealias Link<Node> = (_ number: Int, _ previous: Node?, _ first: Node?) -> Node?

private func operations(_ count: Int, _ link: Link<Operation>) throws -> Double {
  try seconds {
    let dependencyQueue = DependencyQueue(feeding: queue(2))
    do {
      var all: [Operation] = []
      for number in 0..<count {
        let operation = EmptyOperation()
        if let other = link(number, all.last, all.first) { operation.addDependency(other) }
        all.append(operation)
      }
      try dependencyQueue.add(all)
    }
    dependencyQueue.waitUntilAllOperationsAreFinished()
  }
}

private func tasks(
  _ count: Int, _ link: @escaping @Sendable (Int, Task<Void, Never>?, Task<Void, Never>?) -> Task<Void, Never>?
)
  -> Double
{
  blocking {
    await withTaskGroup(of: Void.self) { group in
      var (previous, first): (Task<Void, Never>?, Task<Void, Never>?) = (nil, nil)
      for number in 0..<count {
        let other = link(number, previous, first)
        let task = Task { if let other { await other.value } }
        (previous, first) = (task, first ?? task)
        group.addTask { await task.value }
      }
    }
  }
}

private let columns = 100

/// Values that are passed on, each to the next one of its column.
private func valuesOfOperations(_ count: Int) throws -> Double {
  var sum = 0
  let time = try seconds {
    let dependencyQueue = DependencyQueue(feeding: queue(2))
    var last: [ResultOperation<Int>] = []
    for number in 0..<count {
      guard number >= columns else {
        last.append(ClosureOperation { number })
        try dependencyQueue.add(last[number])
        continue
      }
      last[number % columns] = last[number % columns].then { $0 + 1 }
      try dependencyQueue.add(last[number % columns])
    }
    dependencyQueue.waitUntilAllOperationsAreFinished()
    sum = last.reduce(0) { $0 + ((try? $1.outcome?.get()) ?? 0) }
  }
  check(sum, count)
  return time
}

private func valuesOfTasks(_ count: Int) -> Double {
  blocking {
    var last: [Task<Int, Never>] = []
    for number in 0..<count {
      guard number >= columns else {
        last.append(Task { number })
        continue
      }
      let previous = last[number % columns]
      last[number % columns] = Task { await previous.value + 1 }
    }
    var sum = 0
    for task in last { sum += await task.value }
    check(sum, count)
  }
}

private func check(_ sum: Int, _ count: Int) {
  precondition(sum == columns * (columns - 1) / 2 + (count - columns), "the values are wrong: \(sum)")
}

/// A chain in a queue of Foundation's own, without a dependency queue.
private func plainChain(_ make: () -> Operation) -> Double {
  let all = (0..<40_000).map { _ in make() }
  let time = seconds {
    for (next, previous) in zip(all.dropFirst(), all) { next.addDependency(previous) }
    queue(2).addOperations(all, waitUntilFinished: true)
  }
  // Foundation's own free each other by recursion, which overflows the stack.
  for (next, previous) in zip(all.dropFirst(), all) { next.removeDependency(previous) }
  return time
}

/// Seconds until the tasks of `body` have ended.
private func blocking(_ body: @escaping @Sendable () async -> Void) -> Double {
  seconds {
    let done = DispatchSemaphore(value: 0)
    Task {
      await body()
      done.signal()
    }
    done.wait()
  }
}
