import Foundation
import Support
import Synchronization
import Testing

@testable import Operations

/// Operations added where they cannot be, or twice; the article Misuse lists them.
struct MisuseAddingTests {
  // MARK: Foundation's own queue

  private static let foundationsWords = "operations finished, executing or already in a queue cannot be enqueued"

  /// What a plain queue says of an operation that it cannot take is Foundation's.
  @Test func anOperationInTwoPlainQueuesIsAFaultOfFoundation() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      MisuseRig.giveUpLater()
      let (first, second) = (OperationQueue(), OperationQueue())
      first.isSuspended = true
      let operation = ManualOperation("twice")
      first.addOperation(operation)
      second.addOperation(operation)
    }
    #expect(MisuseRig.text(result).contains(Self.foundationsWords))
  }

  @Test func aFinishedOperationInAPlainQueueIsAFaultOfFoundation() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      MisuseRig.giveUpLater()
      let operation = ManualOperation("finished")
      operation.start()
      operation.finish()
      let queue = OperationQueue()
      queue.addOperation(operation)
      MisuseRig.awaitTheEnd()
    }
    #expect(MisuseRig.text(result).contains(Self.foundationsWords))
  }

  @Test func anExecutingOperationInAPlainQueueIsAFaultOfFoundation() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      MisuseRig.giveUpLater()
      let operation = ManualOperation("executing")
      operation.start()
      let queue = OperationQueue()
      queue.addOperation(operation)
      MisuseRig.awaitTheEnd()
    }
    #expect(MisuseRig.text(result).contains(Self.foundationsWords))
  }

  @Test func anOperationInAQueueAndADependencyQueueIsAFaultOfFoundation() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      MisuseRig.giveUpLater()
      let (first, second) = (OperationQueue(), OperationQueue())
      first.isSuspended = true
      let operation = ManualOperation("twice")
      first.addOperation(operation)
      try DependencyQueue(feeding: second).add(operation)
      MisuseRig.awaitTheEnd()
    }
    #expect(MisuseRig.text(result).contains(Self.foundationsWords))
  }

  // MARK: A dependency queue

  @Test func anOperationTwiceInADependencyQueueSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = OperationQueue()
      queue.isSuspended = true
      let dependencyQueue = DependencyQueue(feeding: queue)
      let operation = ManualOperation("twice")
      try dependencyQueue.add([operation, operation])
    }
    #expect(MisuseRig.text(result).contains("has been started or added before; an operation runs once"))
  }

  @Test func anOperationInTwoDependencyQueuesSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operation = ManualOperation("twice")
      try DependencyQueue(feeding: queue).add(operation)
      try DependencyQueue(feeding: OperationQueue()).add(operation)
    }
    #expect(MisuseRig.text(result).contains("has been started or added before; an operation runs once"))
  }

  @Test(arguments: [false, true]) func aStartedOperationInADependencyQueueSaysSo(_ isFinished: Bool) async {
    let result =
      isFinished
      ? await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let operation = ManualOperation("finished")
        operation.start()
        operation.finish()
        try DependencyQueue(feeding: OperationQueue()).add(operation)
      }
      : await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let operation = ManualOperation("executing")
        operation.start()
        try DependencyQueue(feeding: OperationQueue()).add(operation)
      }
    #expect(MisuseRig.text(result).contains("has been started or added before; an operation runs once"))
  }

  @Test func aFinishedBlockInADependencyQueueSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let block = BlockOperation {}
      block.start()
      try DependencyQueue(feeding: OperationQueue()).add(block)
    }
    #expect(MisuseRig.text(result).contains("has been started or added before; an operation runs once"))
  }

  @Test func additionsDuringCancelAllEnd() {
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    dependencyQueue.maxConcurrentOperationCount = 2
    let operations = (0..<400).map { _ in ManualOperation() }
    dependencyQueue.addAll(operations[0], operations[1])
    race([
      { for operation in operations.dropFirst(2) { dependencyQueue.addAll(operation) } },
      { for _ in 0..<50 { dependencyQueue.cancelAllOperations() } },
    ])
    dependencyQueue.cancelAllOperations()
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(operations.allSatisfy { $0.isFinished && $0.isCancelled })
  }

  @Test func anOperationThatIsAddedInADidCancelOfCancelAllExecutes() {
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    let next = ManualOperation()
    let first = ClosureOperation(
      { _ in },
      onCancel: {
        dependencyQueue.addAll(next)
        $0.finish()
      })
    dependencyQueue.addAll(first)
    #expect(eventually { first.isExecuting })
    dependencyQueue.cancelAllOperations()
    #expect(eventually { next.isExecuting })
    next.finish()
    dependencyQueue.waitUntilAllOperationsAreFinished()
  }

  @Test func aDependencyQueueOfWidthZeroWaitsForAWidth() {
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    dependencyQueue.maxConcurrentOperationCount = 0
    let operation = ManualOperation()
    dependencyQueue.addAll(operation)
    #expect(!operation.isExecuting)
    dependencyQueue.maxConcurrentOperationCount = 1
    #expect(eventually { operation.isExecuting })
    operation.finish()
    dependencyQueue.waitUntilAllOperationsAreFinished()
  }

  @Test func whatWaitsInADependencyQueueOfWidthZeroCanBeCancelled() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 0
    let dependencyQueue = DependencyQueue(feeding: queue)
    let operations = (0..<5).map { _ in ManualOperation() }
    for operation in operations { dependencyQueue.addAll(operation) }
    dependencyQueue.cancelAllOperations()
    queue.maxConcurrentOperationCount = 1
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(operations.allSatisfy { $0.isFinished && $0.mainCount == 0 })
  }

  @Test func aNegativeWidthSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      DependencyQueue(feeding: OperationQueue()).maxConcurrentOperationCount = -5
    }
    #expect(MisuseRig.text(result).contains("the width of a dependency queue is not negative: -5"))
  }

  @Test func aDependencyQueueThatIsDroppedEndsItsWork() {
    let operations = (0..<50).map { _ in Operations.ClosureOperation {} }
    for (first, second) in zip(operations, operations.dropFirst()) { second.addDependency(first) }
    weak var gone: DependencyQueue?
    do {
      let dependencyQueue = DependencyQueue(feeding: OperationQueue())
      do { try dependencyQueue.add(operations) } catch { Issue.record(error) }
      gone = dependencyQueue
    }
    #expect(eventually { operations.allSatisfy(\.isFinished) && gone == nil })
  }

  @Test func aQueueThatIsDroppedEndsItsWork() {
    let operation = ManualOperation()
    do { OperationQueue().addOperation(operation) }
    #expect(eventually { operation.isExecuting })
    operation.finish()
    #expect(operation.isFinished)
  }

  @Test func aDelegateThatIsFreedIsToldNoMore() {
    final class Delegate: OperationQueueDelegate {
      let calls: Journal<String>
      init(_ calls: Journal<String>) { self.calls = calls }
      func operationQueue(_ queue: OperationQueue, willAdd operation: Operation) { calls.add("will") }
    }
    let calls = Journal<String>()
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    do {
      let delegate = Delegate(calls)
      dependencyQueue.setDelegate(delegate, on: .global())
      dependencyQueue.addAll(Operations.ClosureOperation {})
    }
    dependencyQueue.addAll(Operations.ClosureOperation {})
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(calls.entries == ["will"])
  }

  @Test func aDelegateThatAddsInWillAddIsToldOfThatFirst() {
    final class Delegate: OperationQueueDelegate {
      let names = Journal<String>()
      let dependencyQueue: DependencyQueue
      let extra = Operations.ClosureOperation {}
      init(_ dependencyQueue: DependencyQueue) { self.dependencyQueue = dependencyQueue }
      func operationQueue(_ queue: OperationQueue, willAdd operation: Operation) {
        names.add(operation.name ?? "extra")
        if operation !== extra { dependencyQueue.addAll(extra) }
        operation.cancel()
      }
    }
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    let delegate = Delegate(dependencyQueue)
    dependencyQueue.setDelegate(delegate, on: .global())
    let operation = ManualOperation("first")
    dependencyQueue.addAll(operation)
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(delegate.names.entries == ["first", "extra"] && operation.isCancelled && delegate.extra.isFinished)
  }
}
