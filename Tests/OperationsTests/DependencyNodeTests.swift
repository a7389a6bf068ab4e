import Foundation
import Testing

@testable import Operations

@Suite struct DependencyNodeTests {
  @Test func aDependencyThatIsAddedTwiceCountsOnce() {
    let dependencies = (0..<12).map { _ in ManualOperation() }
    let operation = ManualOperation()
    for (count, dependency) in dependencies.enumerated() {
      operation.addDependency(dependency)
      operation.addDependency(dependency)
      #expect(operation.dependencies == Array(dependencies[...count]))
    }
    #expect(DependencyGraph.contents.withLock { _ in operation.parts.node.unfinished } == 12)
    for dependency in dependencies {
      #expect(!operation.isReady)
      dependency.start()
      dependency.finish()
    }
    #expect(operation.isReady)
  }

  /// Foundation reads an operation of another class that has finished, cancelled, until its dependencies have.
  @Test func anOperationOfAnotherClassIsKeptWhileItWaits() {
    func keeps(isOurs: Bool, unfinished: Int) -> Bool {
      let node = DependencyNode(isOurs: isOurs)
      (node.held, node.unfinished) = (Operation(), unfinished)
      node.letGo()
      return node.operation != nil
    }
    #expect(keeps(isOurs: false, unfinished: 1))
    #expect(!keeps(isOurs: false, unfinished: 0))
    #expect(!keeps(isOurs: true, unfinished: 1))
  }

  @Test func aNodeIsLinkedToItsFirstOperationWithoutKeepingIt() {
    let node = DependencyNode(isOurs: true)
    var first: Operation? = Operation()
    let second = Operation()
    if let first { node.link(to: first) }
    node.link(to: second)
    #expect(node.operation === first)
    first = nil
    #expect(node.operation == nil)
  }

  @Test func theMostUrgentLevelIsTheFirst() {
    let priorities: [Operation.QueuePriority] = [.veryHigh, .high, .normal, .low, .veryLow]
    #expect(priorities.map(PriorityLevel.init) == PriorityLevel.allCases)
  }
}
