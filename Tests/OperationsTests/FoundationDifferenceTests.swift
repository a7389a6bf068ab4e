import Foundation
import Support
import Synchronization
import Testing

@testable import Operations

/// Where our operations differ from Foundation's on purpose; the article Differences gives the reasons.
struct FoundationDifferenceTests {
  @Test(arguments: FoundationRig.all) func mainByHandRunsTheWorkAndChangesNoState(_ rig: FoundationRig) {
    let ran = Journal<Int>()
    let operation = rig.operation { ran.add(1) }
    operation.main()
    #expect(ran.count == 1 && !operation.isExecuting && !operation.isFinished)
    // The work has called finish(), which takes effect at the start.
    operation.start()
    #expect(operation.isFinished && ran.count == 1)
  }

  @Test func aWaitingMemberOfADependencyQueueFinishesWhenItIsCancelled() throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    let dependencyQueue = DependencyQueue(feeding: queue)
    let (first, second) = (ManualOperation(), ManualOperation())
    second.addDependency(first)
    try dependencyQueue.add([first, second])
    second.cancel()
    #expect(second.isFinished && !first.isFinished)
    // The one that has entered the queue is started by it.
    first.cancel()
    #expect(!first.isFinished)
    queue.isSuspended = false
    dependencyQueue.waitUntilAllOperationsAreFinished()
  }

  @Test func theDependenciesAreReleasedAtTheEnd() {
    let (first, second) = (ManualOperation(), ManualOperation())
    second.addDependency(first)
    first.start()
    first.finish()
    #expect(second.dependencies == [first])
    second.start()
    second.finish()
    #expect(second.dependencies.isEmpty)
  }

  @Test func aLateDependencyIsIgnored() {
    let (first, second) = (ManualOperation(), ManualOperation())
    second.start()
    second.addDependency(first)
    #expect(second.isReady && second.dependencies.isEmpty)
    second.finish()
    second.addDependency(first)
    #expect(second.isReady && second.isFinished && second.dependencies.isEmpty)
  }

  @Test func anOperationThatHasFinishedCannotBeCancelled() {
    let (ours, block) = (ManualOperation(), BlockOperation {})
    ours.start()
    ours.finish()
    block.start()
    ours.cancel()
    block.cancel()
    #expect(!ours.isCancelled)
    // Foundation's says so although its work was done.
    #expect(block.isCancelled || block.isFinished)
  }

  @Test func theQueuesProgressDoesNotCountOurs() {
    let queue = OperationQueue()
    queue.progress.totalUnitCount = 2
    queue.addOperations([BlockOperation {}, BlockOperation {}], waitUntilFinished: true)
    let ofBlocks = queue.progress.completedUnitCount
    let other = OperationQueue()
    other.progress.totalUnitCount = 2
    let operations = (0..<2).map { _ in Operations.ClosureOperation {} }
    other.addOperations(operations, waitUntilFinished: true)
    #expect(eventually { other.operationCount == 0 })
    #expect(ofBlocks == 2 && other.progress.completedUnitCount == 0)
  }

  @Test func oursMayBeAddedToADependencyQueueInAnyOrder() throws {
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    let (first, second) = (Operations.ClosureOperation {}, Operations.ClosureOperation {})
    second.addDependency(first)
    try dependencyQueue.add(second)
    #expect(dependencyQueue.queue.operationCount == 0 && dependencyQueue.unfinishedCount == 1)
    try dependencyQueue.add(first)
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(second.isFinished)
  }

  @Test func aDependencyQueuesBarrierHoldsOnlyWhatHasEnteredTheQueue() throws {
    let queue = OperationQueue()
    let dependencyQueue = DependencyQueue(feeding: queue)
    let journal = Journal<String>()
    let held = ManualOperation()
    let second = Operations.ClosureOperation { journal.add("member") }
    second.addDependency(held)
    try dependencyQueue.add([held, second])
    #expect(eventually { held.isExecuting })
    queue.addBarrierBlock { journal.add("barrier") }
    held.finish()
    dependencyQueue.waitUntilAllOperationsAreFinished()
    queue.waitUntilAllOperationsAreFinished()
    // `second` enters the queue behind the barrier, although it was added to the dependency queue before it.
    #expect(journal.entries == ["barrier", "member"])
  }

  @Test func waitingForAllInADependencyQueueIncludesWhatIsInNoQueueYet() throws {
    let queue = OperationQueue()
    let dependencyQueue = DependencyQueue(feeding: queue)
    let outside = ManualOperation()
    let member = Operations.ClosureOperation {}
    member.addDependency(outside)
    try dependencyQueue.add(member)
    queue.waitUntilAllOperationsAreFinished()
    #expect(!member.isFinished)
    outside.start()
    outside.finish()
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(member.isFinished)
  }
}
