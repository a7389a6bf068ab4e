import Foundation
import Support
import Synchronization
import Testing

@testable import Operations

/// Conditions, time limits and awaited handlers that come late, never answer or ask the wrong thing; the article Misuse
/// lists them.
struct MisuseConditionTests {
  private let queue = OperationQueue()
  private struct Refused: Error {}

  // MARK: Conditions

  @Test func aLateConditionSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let operation = ManualOperation("late")
      operation.start()
      operation.addCondition(.noFailedDependencies)
    }
    #expect(MisuseRig.text(result).contains("a condition was added to late"))
    #expect(MisuseRig.text(result).contains("after its conditions had been asked"))
  }

  @Test func aConditionThatThrowsFailsTheOperation() async {
    let operation = ManualOperation()
    operation.addCondition(OperationCondition("paper") { _ in throw Refused() })
    queue.addOperation(operation)
    #expect(await soon { operation.isFinished })
    #expect(operation.failure(.conditionFailed)?.underlying.first is Refused && operation.mainCount == 0)
  }

  @Test func aConditionThatNeverAnswersEndsWithTheCancellation() async {
    let wasCancelled = Journal<Bool>()
    let operation = ManualOperation()
    operation.addCondition(
      OperationCondition("never") { _ in
        try? await Task.sleep(for: .seconds(3600))
        wasCancelled.add(Task.isCancelled)
        return true
      })
    queue.addOperation(operation)
    #expect(await soon { operation.withRareState { $0.gate.isStartDeferred } == true })
    operation.cancel()
    #expect(operation.isFinished && operation.mainCount == 0)
    #expect(await soon { wasCancelled.entries == [true] })
  }

  @Test func aConditionThatAnswersAfterTheEndIsIgnored() async {
    let mayAnswer = Lock(false)
    let hasAnswered = Journal<Int>()
    let operation = ManualOperation()
    operation.addCondition(
      OperationCondition("slow") { _ in
        while !mayAnswer.withLock({ $0 }) { await Task.yield() }
        hasAnswered.add(1)
        throw Refused()
      })
    queue.addOperation(operation)
    #expect(await soon { operation.withRareState { $0.gate.isStartDeferred } == true })
    operation.cancel()
    #expect(operation.isFinished)
    mayAnswer.withLock { $0 = true }
    #expect(await soon { hasAnswered.count == 1 })
    #expect(operation.failure is CancellationError)
  }

  @Test func aConditionMayAskAboutItsOperation() async {
    let operation = ManualOperation("asked")
    operation.addCondition(
      OperationCondition("about itself") {
        $0.isReady && !$0.isExecuting && $0.state < .executing && $0.dependencies.isEmpty && $0.conditions.count == 1
      })
    queue.addOperation(operation)
    #expect(await soon { operation.isExecuting })
    operation.finish()
  }

  @Test func aConditionThatCancelsItsOperationEndsIt() async {
    let operation = ManualOperation()
    operation.addCondition(
      OperationCondition("cancels") {
        $0.cancel()
        return true
      })
    queue.addOperation(operation)
    #expect(await soon { operation.isFinished } && operation.isCancelled && operation.mainCount == 0)
  }

  @Test func aConditionThatFinishesItsOperationEndsIt() async {
    let operation = ManualOperation()
    operation.addCondition(
      OperationCondition("finishes") {
        $0.finish()
        return true
      })
    queue.addOperation(operation)
    #expect(await soon { operation.isFinished } && !operation.isCancelled && operation.mainCount == 0)
  }

  @Test func aConditionThatAddsAConditionSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let operation = ManualOperation("asked")
      operation.addCondition(
        OperationCondition("adds") {
          $0.addCondition(.noFailedDependencies)
          return true
        })
      OperationQueue().addOperation(operation)
      MisuseRig.awaitTheEnd()
    }
    #expect(MisuseRig.text(result).contains("after its conditions had been asked"))
  }

  @Test func aDependencyThatAConditionAddsInAPlainQueueIsIgnored() async {
    let (operation, other) = (ManualOperation(), ManualOperation())
    operation.addCondition(
      OperationCondition("adds") {
        $0.addDependency(other)
        return true
      })
    queue.addOperation(operation)
    #expect(await soon { operation.isExecuting })
    #expect(operation.dependencies.isEmpty)
    operation.finish()
  }

  @Test func aDependencyThatAConditionAddsInAQueueHoldsTheOperation() async throws {
    let dependencyQueue = DependencyQueue(feeding: queue)
    let (operation, other) = (ManualOperation(), ManualOperation())
    operation.addCondition(
      OperationCondition("adds") {
        $0.addDependency(other)
        return true
      })
    try dependencyQueue.add(operation)
    #expect(await soon { operation.state == .pending })
    other.start()
    other.finish()
    #expect(await soon { operation.isExecuting })
    operation.finish()
    try await dependencyQueue.untilEmpty()
  }

  @Test func aConditionThatWaitsForItsOperationEndsWithTheCancellation() async {
    let operation = ManualOperation()
    operation.addCondition(
      OperationCondition("waits") {
        try await $0.untilFinished()
        return true
      })
    queue.addOperation(operation)
    #expect(await soon { operation.withRareState { $0.gate.isStartDeferred } == true })
    #expect(!operation.isExecuting)
    operation.cancel()
    #expect(await soon { operation.isFinished } && operation.mainCount == 0)
  }

  @Test func aNegatedExclusionSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = OperationCondition.not(.mutuallyExclusive("printer"))
    }
    #expect(MisuseRig.text(result).contains("a mutual exclusion can be neither negated nor one of several"))
  }

  @Test func anExclusionToChooseFromSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = OperationCondition.any(.noFailedDependencies, .all(.mutuallyExclusive("printer")))
    }
    #expect(MisuseRig.text(result).contains("a mutual exclusion can be neither negated nor one of several"))
  }

  @Test func theSameExclusionTwiceIsOne() async {
    let operation = ManualOperation()
    operation.addCondition(.mutuallyExclusive("misuse, twice"))
    operation.addCondition(.mutuallyExclusive("misuse, twice"))
    queue.addOperation(operation)
    #expect(await soon { operation.isExecuting })
    operation.finish()
    #expect(operation.isFinished)
  }

  // MARK: Time limits

  @Test func aNegativeTimeLimitSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      ManualOperation("limited").setTimeout(.seconds(-1))
    }
    #expect(MisuseRig.text(result).contains("the time limit of limited"))
    #expect(MisuseRig.text(result).contains("is negative: -1.0 seconds"))
  }

  @Test func aTimeLimitOfZeroCancelsWhenItBegins() async {
    let operation = ManualOperation()
    operation.setTimeout(.zero)
    queue.addOperation(operation)
    #expect(await soon { operation.isFinished })
    #expect(operation.failureCode == .timedOut)
  }

  @Test func aLateTimeLimitIsIgnored() async {
    let clock = ManualOperationClock()
    let operation = ManualOperation()
    operation.start()
    operation.setTimeout(.seconds(1), clock: clock)
    clock.advance(by: .seconds(2))
    #expect(clock.due.isEmpty && operation.isExecuting)
    operation.finish()
    operation.setTimeout(.seconds(1), clock: clock)
    #expect(operation.failure == nil)
  }

  @Test func aTimeLimitAtADateThatIsNotANumberSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      ManualOperation("limited").setDeadline(Date(timeIntervalSinceReferenceDate: .nan))
    }
    #expect(MisuseRig.text(result).contains("the date of the time limit of limited"))
  }

  @Test(arguments: [.infinity, -.infinity] as [Double]) func aTimeLimitAtAnInfiniteDateIsNoneOrHasPassed(
    _ seconds: Double
  ) async {
    let operation = ManualOperation()
    operation.setDeadline(Date(timeIntervalSinceReferenceDate: seconds))
    queue.addOperation(operation)
    #expect(await soon { operation.mainCount == 1 })
    // No limit at infinity; a date in the past, however far, cancels at once.
    if seconds < 0 {
      #expect(await soon { operation.failureCode == .timedOut })
    } else {
      operation.finish()
      #expect(operation.failure == nil)
    }
  }

  @Test func aNegativeDelayIsNone() async {
    let delay = DelayOperation(.seconds(-5))
    queue.addOperation(delay)
    #expect(await soon { delay.isFinished } && delay.failure == nil)
  }

  // MARK: Awaited handlers

  @Test func aBeforeExecutingThatCancelsKeepsMainFromBeingCalled() async {
    let operation = ManualOperation()
    operation.beforeExecuting { $0.cancel() }
    queue.addOperation(operation)
    #expect(await soon { operation.isFinished } && operation.isCancelled && operation.mainCount == 0)
  }

  @Test func aBeforeExecutingThatFinishesKeepsMainFromBeingCalled() async {
    let operation = ManualOperation()
    operation.beforeExecuting { $0.finish() }
    queue.addOperation(operation)
    #expect(await soon { operation.isFinished } && !operation.isCancelled && operation.mainCount == 0)
  }

  @Test func aBeforeExecutingThatNeverReturnsEndsWithTheCancellation() async {
    let operation = ManualOperation()
    operation.beforeExecuting { _ in try? await Task.sleep(for: .seconds(3600)) }
    queue.addOperation(operation)
    #expect(await soon { operation.withRareState { $0.gate.isStartDeferred } == true })
    operation.cancel()
    #expect(await soon { operation.isFinished } && operation.mainCount == 0)
  }

  @Test func aLateBeforeExecutingSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let operation = ManualOperation("late")
      operation.start()
      operation.beforeExecuting { _ in }
    }
    #expect(MisuseRig.text(result).contains("was started before its handler for the start was added"))
  }

  @Test func aBeforeFinishingThatFinishesOrCancelsChangesTheStateOnly() async {
    struct Late: Error {}
    let operation = ManualOperation()
    operation.beforeFinishing {
      $0.finish(with: Late())
      $0.cancel()
    }
    queue.addOperation(operation)
    #expect(await soon { operation.isExecuting })
    operation.finish()
    #expect(await soon { operation.isFinished })
    #expect(operation.mainCount == 1 && !(operation.failure is Late))
  }

  @Test func aLateBeforeFinishingIsIgnored() async {
    let calls = Journal<Int>()
    let operation = ManualOperation()
    operation.start()
    operation.finish()
    operation.beforeFinishing { _ in calls.add(1) }
    operation.finish()
    #expect(operation.isFinished && calls.count == 0)
  }
}
