import Foundation
import Support
import Synchronization
import Testing

@testable import Operations

/// Calls of `start`, `finish` and `cancel` at the wrong time, in the wrong place, or twice; the article Misuse lists
/// them.
struct MisuseLifecycleTests {
  private let queue = OperationQueue()

  // MARK: finish

  @Test func aFinishBeforeTheStartIsRemembered() {
    let operation = ManualOperation()
    operation.finish()
    #expect(!operation.isFinished)
    queue.addOperation(operation)
    #expect(eventually { operation.isFinished })
    #expect(operation.mainCount == 0 && operation.failure == nil)
  }

  @Test func aSecondFinishIsIgnored() {
    struct Late: Error {}
    let operation = ManualOperation()
    operation.start()
    operation.finish()
    operation.finish()
    operation.finish(with: Late())
    #expect(operation.isFinished && operation.failure == nil)
  }

  @Test func ofFinishesOfManyThreadsOneCounts() {
    struct Number: Error { let value: Int }
    for _ in 0..<200 {
      let operation = Operations.ClosureOperation<Int> { 0 }
      race((0..<4).map { number in { operation.finish(number == 0 ? .failure(Number(value: 0)) : .success(number)) } })
      operation.start()
      let first = operation.outcome
      operation.finish(.success(9))
      #expect(operation.isFinished && (try? first?.get()) == (try? operation.outcome?.get()))
    }
  }

  @Test func aFinishInDidCancelTakesEffectWhenItReturns() {
    let wasFinished = Journal<Bool>()
    let operation = ClosureOperation(
      { _ in },
      onCancel: {
        $0.finish()
        $0.finish()
        wasFinished.add($0.isFinished)
      })
    operation.start()
    operation.cancel()
    #expect(wasFinished.entries == [false] && operation.isFinished && operation.isCancelled)
  }

  @Test func aDidCancelThatForgetsToFinishMayBeMadeUpFor() {
    let operation = ClosureOperation({ _ in }, onCancel: { _ in })
    queue.addOperation(operation)
    #expect(eventually { operation.isExecuting })
    operation.cancel()
    #expect(operation.isExecuting && operation.isCancelled)
    operation.finish()
    #expect(operation.isFinished)
  }

  @Test func aMainThatFinishesTwiceFinishesOnce() {
    let ends = Journal<Int>()
    let operation = ClosureOperation {
      $0.finish()
      $0.finish()
      $0.cancel()
    }
    operation.completionBlock = { ends.add(1) }
    queue.addOperation(operation)
    queue.waitUntilAllOperationsAreFinished()
    #expect(eventually { ends.count == 1 } && !operation.isCancelled)
  }

  @Test func aResultHandlerThatFinishesAgainChangesNothing() {
    let seen = Journal<Int>()
    let operation = Operations.ClosureOperation { 1 }
    operation.whenDone { [weak operation] result in
      operation?.finish(.success(2))
      operation?.cancel()
      seen.add((try? result.get()) ?? 0)
    }
    operation.start()
    #expect(seen.entries == [1] && (try? operation.outcome?.get()) == 1 && !operation.isCancelled)
  }

  // MARK: cancel

  @Test func aCancellationInMainWaitsForMainToReturn() {
    let cancels = Journal<Bool>()
    let hasReturned = Atomic(false)
    let operation = ClosureOperation(
      {
        $0.cancel()
        $0.cancel()
        hasReturned.store(true, ordering: .sequentiallyConsistent)
      },
      onCancel: {
        cancels.add(hasReturned.load(ordering: .sequentiallyConsistent))
        $0.finish()
      })
    operation.start()
    #expect(cancels.entries == [true] && operation.isFinished && operation.isCancelled)
  }

  @Test func aCancellationInDidCancelIsIgnored() {
    let calls = Journal<Int>()
    let operation = ClosureOperation(
      { _ in },
      onCancel: {
        calls.add(1)
        $0.cancel()
        $0.cancel(with: CancellationError())
        $0.finish()
      })
    operation.start()
    operation.cancel()
    #expect(calls.count == 1 && operation.isFinished)
  }

  @Test func aCancellationInAnObserverComesAfterTheChange() {
    let tokens = Lock<[ObservationToken]>([])
    for _ in 0..<20 {
      let operation = ManualOperation()
      let token = operation.observe(\.state, on: .global(), options: .initial) { operation, _ in operation.cancel() }
      tokens.withLock { $0.append(token) }
      queue.addOperation(operation)
      #expect(eventually { operation.isFinished && operation.isCancelled })
    }
  }

  @Test func aCancellationInACompletionBlockIsIgnored() {
    let operation = ManualOperation()
    let called = Journal<Int>()
    operation.completionBlock = { [weak operation] in
      operation?.cancel()
      operation?.finish()
      called.add(1)
    }
    queue.addOperation(operation)
    #expect(eventually { operation.isExecuting })
    operation.finish()
    #expect(eventually { called.count == 1 } && !operation.isCancelled)
  }

  @Test func aSecondErrorOfACancellationIsIgnored() {
    struct First: Error {}
    struct Second: Error {}
    let operation = ManualOperation()
    operation.cancel(with: First())
    operation.cancel(with: Second())
    operation.start()
    operation.cancel(with: Second())
    #expect(operation.failure is First)
  }

  // MARK: start

  @Test func aSecondStartWhileItExecutesSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let operation = ManualOperation("twice")
      operation.start()
      operation.start()
    }
    #expect(MisuseRig.text(result).contains("was started again while it executes; an operation runs once"))
  }

  @Test func aStartInMainOfItselfSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      ClosureOperation { $0.start() }.start()
    }
    #expect(MisuseRig.text(result).contains("was started again while it executes"))
  }

  @Test func aStartByHandOfWhatAQueueHoldsTakesPlaceOnce() {
    let suspended = OperationQueue()
    suspended.isSuspended = true
    let operation = ManualOperation()
    suspended.addOperation(operation)
    operation.start()
    operation.finish()
    #expect(operation.mainCount == 1 && operation.isFinished)
    suspended.isSuspended = false
    suspended.waitUntilAllOperationsAreFinished()
    #expect(operation.mainCount == 1)
  }

  @Test func aStartByHandOfAMemberOfADependencyQueueTakesPlaceOnce() {
    let suspended = OperationQueue()
    suspended.isSuspended = true
    let dependencyQueue = DependencyQueue(feeding: suspended)
    let (first, second) = (ManualOperation(), ManualOperation())
    dependencyQueue.addAll(first, second)
    second.start()
    second.finish()
    suspended.isSuspended = false
    #expect(eventually { first.isExecuting })
    first.finish()
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(first.mainCount == 1 && second.mainCount == 1)
  }

  @Test func startsOfManyThreadsCallMainOnce() async {
    // The other threads say that it executes.
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      for _ in 0..<1000 {
        let operation = ManualOperation()
        race([{ operation.start() }, { operation.start() }])
      }
    }
    #expect(MisuseRig.text(result).contains("was started again while it executes"))
  }

  @Test func aStartOnTheMainQueueByHandExecutesThere() async {
    let operation = Operations.ClosureOperation {
      dispatchPrecondition(condition: .onQueue(.main))
      return true
    }
    DispatchQueue.main.async { operation.start() }
    #expect(await soon { operation.isFinished })
    #expect((try? operation.outcome?.get()) == true)
  }

  @Test func aStartWithinAnotherOperationTakesPlaceThere() {
    let inner = Operations.ClosureOperation { OperationQueue.current }
    let queue = queue
    queue.addOperation { inner.start() }
    #expect(eventually { inner.isFinished })
    #expect((try? inner.outcome?.get()) === queue)
  }

  @Test func aStartByHandAsksTheConditions() async {
    let operation = ManualOperation()
    let mayAnswer = Lock(false)
    operation.addCondition(OperationCondition("answered") { _ in await soon { mayAnswer.withLock { $0 } } })
    operation.start()
    operation.start()
    #expect(operation.mainCount == 0 && !operation.isFinished)
    mayAnswer.withLock { $0 = true }
    #expect(await soon { operation.isExecuting })
    operation.finish()
    #expect(operation.mainCount == 1)
  }

  // MARK: main

  @Test func superMainSaysSo() async {
    final class CallsSuper: AsyncOperation, @unchecked Sendable {
      override func main() { super.main() }
    }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      CallsSuper().start()
    }
    #expect(MisuseRig.text(result).contains("CallsSuper must override main(), and not call super.main()"))
  }

  @Test func mainByHandOfAGroupIsEndedByTheStart() {
    let child = ManualOperation()
    let group = GroupOperation([child])
    group.main()
    #expect(eventually { child.isExecuting })
    child.finish()
    #expect(eventually { child.isFinished } && !group.isFinished)
    #expect(
      eventually {
        group.parts.lifecycle.isEndRequested
      })
    group.start()
    #expect(group.isFinished)
  }

  @Test func waitingForItselfInMainReturnsIfAnotherThreadFinishesIt() {
    let operation = ClosureOperation { $0.waitUntilFinished() }
    queue.addOperation(operation)
    #expect(eventually { operation.isExecuting })
    operation.finish()
    #expect(eventually { operation.isFinished })
    queue.waitUntilAllOperationsAreFinished()
  }
}
