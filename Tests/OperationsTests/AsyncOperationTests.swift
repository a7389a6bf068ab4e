import Foundation
import Support
import Synchronization
import Testing

@testable import Operations

private final class ResultOperationUnderTest: ResultOperation<Int>, @unchecked Sendable {
  // Safe: it has no state of its own.
  override func main() {}
}

@Suite struct AsyncOperationTests {
  @Test func itExecutesUntilFinishIsCalledNotUntilMainReturns() {
    let operation = ManualOperation()
    #expect(operation.state == .ready)
    operation.start()
    #expect(operation.mainCount == 1)
    #expect(operation.state == .executing && operation.isExecuting && !operation.isFinished)
    operation.finish()
    #expect(operation.state == .finished && !operation.isExecuting && operation.isFinished)
  }

  @Test func itLeavesAPlainQueueWhenItFinishes() {
    let queue = OperationQueue()
    let operation = ManualOperation()
    queue.addOperation(operation)
    #expect(eventually { operation.mainCount == 1 })
    #expect(queue.operations.count == 1)
    operation.finish()
    #expect(eventually { queue.operations.isEmpty })
  }

  @Test func theWidthCountsItUntilItFinishes() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let first = ManualOperation()
    let second = ManualOperation()
    queue.addOperations([first, second], waitUntilFinished: false)
    #expect(eventually { first.isExecuting })
    #expect(second.mainCount == 0)
    first.finish()
    #expect(eventually { second.isExecuting })
    second.finish()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func itsCompletionBlockIsCalled() {
    let journal = Journal<String>()
    let operation = ManualOperation()
    operation.completionBlock = { journal.add("done") }
    operation.start()
    operation.finish()
    #expect(eventually { journal.entries == ["done"] })
  }

  @Test func anOperationThatMayNotBeginFinishesUnexecuted() {
    let queue = OperationQueue()
    let (refused, allowed, later) = (ManualOperation(), ManualOperation(), ManualOperation())
    refused.askAtStart { false }
    allowed.askAtStart { true }
    later.addDependency(refused)
    queue.addOperations([refused, allowed, later], waitUntilFinished: false)
    #expect(eventually { later.isExecuting && allowed.isExecuting })
    #expect(refused.isFinished && refused.isCancelled && refused.mainCount == 0)
    for operation in [allowed, later] { operation.finish() }
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func whatPrecedesTheEndIsDoneOnceBeforeAnybodyKnows() {
    let journal = Journal<String>()
    let operation = ResultOperationUnderTest()
    operation.beforeEnd { journal.add("\($0.isFinished) \($0.claimedFailure.map { "\($0)" } ?? "-")") }
    operation.start()
    operation.finish(.failure(CancellationError()))
    operation.finish(.success(1))
    #expect(operation.isFinished)
    #expect(journal.entries == ["false CancellationError()"])
  }

  @Test func aWithdrawnOperationFinishesUnexecutedWhenItIsStarted() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = ManualOperation()
    queue.addOperation(operation)
    #expect(operation.withdraw() && operation.withdraw())
    #expect(operation.isCancelled && !operation.isFinished)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.isFinished && operation.mainCount == 0 && operation.cancelCount == 0)
    #expect(!operation.withdraw())
  }

  @Test func anOperationWithdrawnFromADependencyQueueFinishesAtOnce() throws {
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    let first = ManualOperation()
    let operation = ManualOperation()
    operation.addDependency(first)
    try dependencyQueue.add([first, operation])
    #expect(operation.withdraw())
    #expect(operation.isFinished && operation.mainCount == 0)
    first.cancel()
    dependencyQueue.waitUntilAllOperationsAreFinished()
  }

  @Test func anOperationThatHasBegunIsNotWithdrawn() {
    let operation = ClosureOperation { #expect(!$0.withdraw()) }
    operation.start()
    #expect(!operation.withdraw())
    #expect(operation.isExecuting && !operation.isCancelled)
    operation.finish()
    #expect(!operation.withdraw() && !operation.isCancelled)
  }

  @Test func anOperationIsEitherWithdrawnOrExecuted() {
    for _ in 0..<2000 {
      let operation = ManualOperation()
      let isWithdrawn = Atomic(false)
      race([
        { operation.start() },
        { isWithdrawn.store(operation.withdraw(), ordering: .sequentiallyConsistent) },
      ])
      #expect((operation.mainCount == 0) == isWithdrawn.load(ordering: .sequentiallyConsistent))
      operation.finish()
      #expect(operation.isFinished)
    }
  }

  @Test func anObserverOfHasBegunReadsWhatMainHasSetUp() {
    let number = Atomic(0)
    let told = Journal<Int>()
    let operation = ClosureOperation { _ in number.store(7, ordering: .sequentiallyConsistent) }
    let token = operation.observe(\.hasBegun, on: DispatchQueue(label: "own")) { _, change in
      #expect(change.oldValue == false && change.newValue)
      told.add(number.load(ordering: .sequentiallyConsistent))
    }
    operation.start()
    #expect(eventually { told.entries == [7] })
    operation.finish()
    withExtendedLifetime(token) {}
  }

  @Test func killingIsCancellingUnlessAClassSaysOtherwise() {
    final class Controllable: AsyncOperation, ControllableOperation, @unchecked Sendable {
      override func main() {}
      override func didCancel() { finish() }
      func pause() {}
      func resume() {}
    }
    let operation = Controllable()
    operation.start()
    operation.kill()
    #expect(operation.isCancelled && operation.isFinished)
  }

  @Test func finishingTwiceIsHarmless() {
    let queue = OperationQueue()
    let operation = ManualOperation()
    queue.addOperation(operation)
    #expect(eventually { operation.isExecuting })
    operation.finish()
    operation.finish()
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.isFinished)
  }

  @Test(arguments: [true, false])
  func endedWhileItWaitsItNeverExecutesAndStillFinishes(_ isCancelled: Bool) {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = ManualOperation()
    queue.addOperation(operation)
    if isCancelled { operation.cancel() } else { operation.finish() }
    #expect(operation.isCancelled == isCancelled && !operation.isFinished)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(operation.isFinished)
    #expect(operation.mainCount == 0 && operation.cancelCount == 0)
  }

  @Test func cancelledWhileItExecutesItIsToldOnce() {
    let operation = ManualOperation()
    operation.start()
    operation.cancel()
    operation.cancel()
    #expect(operation.cancelCount == 1)
    #expect(operation.isCancelled && operation.isFinished)
  }

  @Test func cancelledAfterItsEndItIsNotCancelled() {
    let operation = ManualOperation()
    operation.start()
    operation.finish()
    operation.cancel()
    #expect(!operation.isCancelled && operation.cancelCount == 0)
  }

  @Test func cancelledInsideMainItIsToldAfterMainHasReturned() {
    let journal = Journal<String>()
    let operation = ClosureOperation(
      { operation in
        operation.cancel()
        journal.add("main ends")
      },
      onCancel: { operation in
        journal.add("didCancel")
        operation.finish()
        journal.add(operation.isFinished ? "finished" : "not yet finished")
      })
    operation.start()
    #expect(journal.entries == ["main ends", "didCancel", "not yet finished"])
    #expect(operation.isFinished)
  }

  @Test func aSecondStartOfAFinishedOperationDoesNothing() {
    let operation = ManualOperation()
    operation.start()
    operation.finish()
    operation.start()
    #expect(operation.mainCount == 1)
  }

  @Test func aClassWithoutMainIsNamed() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      ForgetfulOperation().start()
    }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(words.contains("ForgetfulOperation must override main(), and not call super.main()"))
  }

  @Test(arguments: [false, true]) func aStartByHandBeforeItsDependenciesIsAFaultOnTheMainThreadToo(
    _ isInAnOtherOperation: Bool
  ) async {
    let result =
      isInAnOtherOperation
      ? await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let first = ManualOperation("first")
        let second = ManualOperation("second")
        second.addDependency(first)
        OperationQueue().addOperation { second.start() }
        try await Task.sleep(for: .seconds(Patience.seconds))
      }
      : await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let first = ManualOperation("first")
        let second = ManualOperation("second")
        second.addDependency(first)
        DispatchQueue.main.async { second.start() }
        try await Task.sleep(for: .seconds(Patience.seconds))
      }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(words.contains("started by hand before all that it depends on has finished"))
  }

  @Test func aSecondStartWhileItExecutesIsAFault() async {
    await #expect(processExitsWith: .failure) {
      let operation = ManualOperation()
      operation.start()
      operation.start()
    }
  }

  /// Foundation prints to standard output, which a dashboard would paint over, when an operation in its queue finishes
  /// without having been started.
  @Test func foundationPrintsNothingAboutAnEndBeforeTheStart() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      let queue = OperationQueue()
      queue.isSuspended = true
      let cancelled = ManualOperation()
      let finished = ManualOperation()
      queue.addOperation(cancelled)
      queue.addOperation(finished)
      cancelled.cancel()
      finished.finish()
      queue.isSuspended = false
      precondition(eventually { cancelled.isFinished && finished.isFinished })
      fflush(nil)
    }
    let words = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(!words.contains("isFinished=YES"), "\(words)")
  }

  /// The same watch on a class that gets it wrong sees the line: the test above can fail.
  @Test func theWatchForFoundationsLineSeesIt() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      final class Hasty: Operation, @unchecked Sendable {
        override var isFinished: Bool { true }
      }
      let queue = OperationQueue()
      queue.isSuspended = true
      let hasty = Hasty()
      queue.addOperation(hasty)
      hasty.didChangeValue(forKey: "isFinished")
      fflush(nil)
    }
    let words = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(words.contains("isFinished=YES"))
  }
}
