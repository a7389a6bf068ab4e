import Foundation
import Testing

@testable import Operations

struct DependencyCycleTests {
  private func chain(_ count: Int) -> [Operation] {
    let operations = (0..<count).map { number in
      let operation = BlockOperation {}
      operation.name = "\(number)"
      return operation
    }
    for (last, next) in zip(operations, operations.dropFirst()) { last.addDependency(next) }
    return operations
  }

  @Test func aWayIsFoundWithItsEnds() {
    let operations = chain(4)
    let other = BlockOperation {}
    operations[0].addDependency(other)
    let path = DependencyCycle.path(from: operations[0], to: operations[3])
    #expect(path == operations)
    #expect(DependencyCycle.path(from: operations[2], to: operations[3]) == [operations[2], operations[3]])
    #expect(DependencyCycle.path(from: operations[3], to: operations[0]) == nil)
    #expect(DependencyCycle.path(from: other, to: operations[3]) == nil)
  }

  @Test func aCycleIsFoundBehindWhatLeadsToIt() {
    let operations = chain(4)
    operations[3].addDependency(operations[1])
    defer { operations[3].removeDependency(operations[1]) }
    let alone = BlockOperation {}
    #expect(DependencyCycle.find(from: [alone, operations[0]]) { _ in true }?.map(\.name) == ["1", "2", "3", "1"])
    #expect(DependencyCycle.find(from: [operations[0]]) { $0 !== operations[2] } == nil)
    #expect(DependencyCycle.find(from: [alone]) { _ in true } == nil)
  }

  /// What two operations depend on is no cycle.
  @Test func aDependencyOfTwoIsNoCycle() {
    let operations = chain(3)
    operations[0].addDependency(operations[2])
    #expect(DependencyCycle.find(from: operations) { _ in true } == nil)
  }

  @Test func allCyclesAreFoundInOneWalk() {
    let operations = (0..<9).map { Counting("\($0)") }
    for (from, to) in [(0, 1), (1, 2), (2, 1), (3, 4), (4, 3), (5, 6), (6, 7), (0, 5), (3, 5)] {
      operations[from].addDependency(operations[to])
    }
    let cycles = DependencyCycle.all(from: operations, limit: 10).map { $0.map(\.name) }
    #expect(cycles == [["1", "2", "1"], ["3", "4", "3"]])
    #expect(operations.map(\.reads) == Array(repeating: 1, count: 9))
    #expect(DependencyCycle.all(from: operations, limit: 1).count == 1)
    for operation in operations { for other in operations { operation.removeDependency(other) } }
  }
}

/// Counts how often its dependencies are read.
private final class Counting: Operation, @unchecked Sendable {
  // Safe: used on one thread.
  private(set) var reads = 0

  init(_ name: String) {
    super.init()
    self.name = name
  }

  override var dependencies: [Operation] {
    reads += 1
    return super.dependencies
  }
}
