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

  @Test func anOperationInAQueueAndAFeederIsAFaultOfFoundation() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      MisuseRig.giveUpLater()
      let (first, second) = (OperationQueue(), OperationQueue())
      first.isSuspended = true
      let operation = ManualOperation("twice")
      first.addOperation(operation)
      try OperationFeeder(feeding: second).add(operation)
      MisuseRig.awaitTheEnd()
    }
    #expect(MisuseRig.text(result).contains(Self.foundationsWords))
  }

  // MARK: A feeder

  @Test func anOperationTwiceInAFeederSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = OperationQueue()
      queue.isSuspended = true
      let feeder = OperationFeeder(feeding: queue)
      let operation = ManualOperation("twice")
      try feeder.add([operation, operation])
    }
    #expect(MisuseRig.text(result).contains("has been started or added before; an operation runs once"))
  }

  @Test func anOperationInTwoFeedersSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operation = ManualOperation("twice")
      try OperationFeeder(feeding: queue).add(operation)
      try OperationFeeder(feeding: OperationQueue()).add(operation)
    }
    #expect(MisuseRig.text(result).contains("has been started or added before; an operation runs once"))
  }

  @Test(arguments: [false, true]) func aStartedOperationInAFeederSaysSo(_ isFinished: Bool) async {
    let result =
      isFinished
      ? await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let operation = ManualOperation("finished")
        operation.start()
        operation.finish()
        try OperationFeeder(feeding: OperationQueue()).add(operation)
      }
      : await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let operation = ManualOperation("executing")
        operation.start()
        try OperationFeeder(feeding: OperationQueue()).add(operation)
      }
    #expect(MisuseRig.text(result).contains("has been started or added before; an operation runs once"))
  }

  @Test func aFinishedBlockInAFeederSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let block = BlockOperation {}
      block.start()
      try OperationFeeder(feeding: OperationQueue()).add(block)
    }
    #expect(MisuseRig.text(result).contains("has been started or added before; an operation runs once"))
  }

  @Test func additionsDuringCancelAllEnd() {
    let feeder = OperationFeeder(feeding: OperationQueue())
    feeder.maxConcurrentOperationCount = 2
    let operations = (0..<400).map { _ in ManualOperation() }
    feeder.addAll(operations[0], operations[1])
    race([
      { for operation in operations.dropFirst(2) { feeder.addAll(operation) } },
      { for _ in 0..<50 { feeder.cancelAllOperations() } },
    ])
    feeder.cancelAllOperations()
    feeder.waitUntilAllOperationsAreFinished()
    #expect(operations.allSatisfy { $0.isFinished && $0.isCancelled })
  }

  @Test func anOperationThatIsAddedInADidCancelOfCancelAllExecutes() {
    let feeder = OperationFeeder(feeding: OperationQueue())
    let next = ManualOperation()
    let first = ClosureOperation(
      { _ in },
      onCancel: {
        feeder.addAll(next)
        $0.finish()
      })
    feeder.addAll(first)
    #expect(eventually { first.isExecuting })
    feeder.cancelAllOperations()
    #expect(eventually { next.isExecuting })
    next.finish()
    feeder.waitUntilAllOperationsAreFinished()
  }

  @Test func aFeederOfWidthZeroWaitsForAWidth() {
    let feeder = OperationFeeder(feeding: OperationQueue())
    feeder.maxConcurrentOperationCount = 0
    let operation = ManualOperation()
    feeder.addAll(operation)
    #expect(!operation.isExecuting)
    feeder.maxConcurrentOperationCount = 1
    #expect(eventually { operation.isExecuting })
    operation.finish()
    feeder.waitUntilAllOperationsAreFinished()
  }

  @Test func whatWaitsInAFeederOfWidthZeroCanBeCancelled() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 0
    let feeder = OperationFeeder(feeding: queue)
    let operations = (0..<5).map { _ in ManualOperation() }
    for operation in operations { feeder.addAll(operation) }
    feeder.cancelAllOperations()
    queue.maxConcurrentOperationCount = 1
    feeder.waitUntilAllOperationsAreFinished()
    #expect(operations.allSatisfy { $0.isFinished && $0.mainCount == 0 })
  }

  @Test func aNegativeWidthSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      OperationFeeder(feeding: OperationQueue()).maxConcurrentOperationCount = -5
    }
    #expect(MisuseRig.text(result).contains("the width of a feeder is not negative: -5"))
  }

  @Test func aFeederThatIsDroppedEndsItsWork() {
    let operations = (0..<50).map { _ in Operations.ClosureOperation {} }
    for (first, second) in zip(operations, operations.dropFirst()) { second.addDependency(first) }
    weak var gone: OperationFeeder?
    do {
      let feeder = OperationFeeder(feeding: OperationQueue())
      do { try feeder.add(operations) } catch { Issue.record(error) }
      gone = feeder
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
    let feeder = OperationFeeder(feeding: OperationQueue())
    do {
      let delegate = Delegate(calls)
      feeder.setDelegate(delegate, on: .global())
      feeder.addAll(Operations.ClosureOperation {})
    }
    feeder.addAll(Operations.ClosureOperation {})
    feeder.waitUntilAllOperationsAreFinished()
    #expect(calls.entries == ["will"])
  }

  @Test func aDelegateThatAddsInWillAddIsToldOfThatFirst() {
    final class Delegate: OperationQueueDelegate {
      let names = Journal<String>()
      let feeder: OperationFeeder
      let extra = Operations.ClosureOperation {}
      init(_ feeder: OperationFeeder) { self.feeder = feeder }
      func operationQueue(_ queue: OperationQueue, willAdd operation: Operation) {
        names.add(operation.name ?? "extra")
        if operation !== extra { feeder.addAll(extra) }
        operation.cancel()
      }
    }
    let feeder = OperationFeeder(feeding: OperationQueue())
    let delegate = Delegate(feeder)
    feeder.setDelegate(delegate, on: .global())
    let operation = ManualOperation("first")
    feeder.addAll(operation)
    feeder.waitUntilAllOperationsAreFinished()
    #expect(delegate.names.entries == ["first", "extra"] && operation.isCancelled && delegate.extra.isFinished)
  }
}
