import Foundation
import Support
import Testing

@testable import Operations

/// Operations of a chain that have no name in the program, and are in no queue.
@Suite struct UnnamedDependenciesTests {
  private func chain(_ first: ResultOperation<Int>) -> ResultOperation<Int> {
    first.then { $0 + 1 }.then { $0 + 1 }.then { $0 + 1 }
  }

  @Test func theUnnamedMiddleOfAChainRunsWithItsEndInAQueue() throws {
    let (first, queue) = (ClosureOperation { 1 }, OperationQueue())
    let last = chain(first)
    queue.addOperation(last)
    queue.addOperation(first)
    #expect(eventually { last.isFinished })
    #expect(try last.outcome?.get() == 4)
  }

  @Test func itRunsInTheDependencyQueueOrTheGroupOfTheEnd() throws {
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    let last = chain(ClosureOperation { 1 })
    try dependencyQueue.add(last)
    let child = chain(ClosureOperation { 2 })
    let group = GroupOperation([child])
    dependencyQueue.queue.addOperation(group)
    #expect(eventually { last.isFinished && group.isFinished && dependencyQueue.unfinishedCount == 0 })
    #expect(try last.outcome?.get() == 4 && child.outcome?.get() == 5)
    #expect(group.progress.total == 400)
  }

  @Test func whatTheProgramCanAddYetIsLeftAlone() throws {
    let queue = OperationQueue()
    let middle = ClosureOperation { 1 }.then { $0 + 1 }
    let (last, other) = (middle.then { $0 + 1 }, chain(ClosureOperation { 1 }))
    queue.addOperation(last)
    queue.addOperation(other)
    // Looked at after `last`.
    #expect(eventually { other.isFinished })
    #expect(middle.state == .pending && last.state == .pending)
    queue.addOperation(middle)
    #expect(eventually { last.isFinished })
    #expect(try last.outcome?.get() == 3)
  }

  private typealias ClosureOperation = Operations.ClosureOperation
}
