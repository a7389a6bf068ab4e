import Foundation
import Support
import Synchronization
import Testing

@testable import Operations

/// Groups of the wrong children, retries without new attempts, productions at the wrong time; the article Misuse lists
/// them.
struct MisuseGroupTests {
  private let queue = OperationQueue()

  // MARK: Groups

  @Test func aGroupOfWidthZeroSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = GroupOperation(width: 0)
    }
    #expect(MisuseRig.text(result).contains("a group of width 0 would never end: its width is at least 1"))
  }

  @Test func aChildOfTwoGroupsSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let child = ManualOperation("child")
      let (first, second) = (GroupOperation([child]), GroupOperation([child]))
      OperationQueue().add([first, second])
      MisuseRig.awaitTheEnd()
    }
    #expect(MisuseRig.text(result).contains("has been started or added before; an operation runs once"))
  }

  @Test func aChildTwiceInAGroupSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let child = ManualOperation("child")
      OperationQueue().addOperation(GroupOperation([child, child]))
      MisuseRig.awaitTheEnd()
    }
    #expect(MisuseRig.text(result).contains("has been started or added before; an operation runs once"))
  }

  @Test func aChildThatIsAddedToAQueueItselfSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let child = ManualOperation("child")
      let group = GroupOperation([child])
      let queue = OperationQueue()
      queue.addOperation(child)
      guard eventually({ child.isExecuting }) else { exit(EXIT_SUCCESS) }
      queue.addOperation(group)
      MisuseRig.awaitTheEnd()
    }
    #expect(MisuseRig.text(result).contains("has been started or added before; an operation runs once"))
  }

  @Test func aChildThatHasFinishedSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let child = ManualOperation("child")
      child.start()
      child.finish()
      OperationQueue().addOperation(GroupOperation([child]))
      MisuseRig.awaitTheEnd()
    }
    #expect(MisuseRig.text(result).contains("has been started or added before; an operation runs once"))
  }

  @Test func aChildAddedAfterTheEndIsRefused() {
    let group = GroupOperation()
    group.start()
    #expect(eventually { group.isFinished })
    let child = ManualOperation()
    #expect(codeOfError { try group.add(child) } == .groupHasFinished)
    #expect(!child.isCancelled && child.state == .ready)
  }

  @Test func aChildAddedToACancelledGroupIsCancelled() throws {
    let held = ClosureOperation({ _ in }, onCancel: { _ in })
    let group = GroupOperation([held])
    queue.addOperation(group)
    #expect(eventually { held.isExecuting })
    group.cancel()
    let child = ManualOperation()
    try group.add(child)
    #expect(eventually { child.isFinished } && child.mainCount == 0)
    held.finish()
    #expect(eventually { group.isFinished })
  }

  @Test func aGroupInItselfIsRefused() async {
    await #expect(processExitsWith: .success) {
      MisuseRig.giveUpLater()
      let group = GroupOperation()
      group.name = "group"
      do {
        try group.add(group)
        exit(1)
      } catch {
        exit("\(error)".contains("group -> group") ? EXIT_SUCCESS : 2)
      }
    }
  }

  @Test func groupsInEachOtherAreRefused() async {
    await #expect(processExitsWith: .success) {
      MisuseRig.giveUpLater()
      let inner = GroupOperation()
      inner.name = "inner"
      let outer = GroupOperation([inner])
      outer.name = "outer"
      do {
        try inner.add(outer)
        exit(1)
      } catch {
        exit("\(error)".contains("inner -> outer -> inner") ? EXIT_SUCCESS : 2)
      }
    }
  }

  @Test func aChildThatTheGroupDependsOnIsRefused() {
    let child = ManualOperation("child")
    let group = GroupOperation()
    group.addDependency(child)
    #expect(codeOfError { try group.add(child) } == .dependencyCycle)
  }

  @Test func aChildThatCancelsItsGroupEndsIt() throws {
    let group = GroupOperation()
    let child = ClosureOperation { [weak group] in
      group?.cancel()
      group?.finish()
      $0.finish()
    }
    try group.add([child, ManualOperation()])
    queue.addOperation(group)
    #expect(eventually { group.isFinished })
  }

  @Test func childDidFinishMayAddAndCancel() {
    final class Growing: GroupOperation, @unchecked Sendable {
      // Safe: atomic.
      let count = Atomic(0)
      override func childDidFinish(_ child: Operation, failure: (any Error)?) {
        let number = count.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
        if number < 5 {
          do { try add(Operations.ClosureOperation {}) } catch { Issue.record(error) }
        } else {
          cancel()
        }
      }
    }
    let group = Growing([Operations.ClosureOperation {}])
    queue.addOperation(group)
    #expect(eventually { group.isFinished })
    #expect(group.count.load(ordering: .sequentiallyConsistent) == 5)
  }

  // MARK: Retries and repetitions

  @Test func theSameAttemptAgainSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      struct Failed: Error {}
      let attempt = Operations.ClosureOperation<Int> { throw Failed() }
      OperationQueue().addOperation(RetryOperation(retries: 3, backoff: .constant(.zero)) { _ in attempt })
      MisuseRig.awaitTheEnd()
    }
    #expect(MisuseRig.text(result).contains("has been started before: make a new one each time"))
  }

  @Test func aNegativeNumberOfRetriesIsNone() {
    struct Failed: Error {}
    let count = Atomic(0)
    let retry = RetryOperation(retries: -3) { _ in
      count.wrappingAdd(1, ordering: .relaxed)
      return Operations.ClosureOperation<Int> { throw Failed() }
    }
    queue.addOperation(retry)
    #expect(eventually { retry.isFinished })
    #expect(count.load(ordering: .relaxed) == 1 && retry.failure is Failed)
  }

  @Test func anAttemptThatEndsWithoutAResultFailsTheRetry() {
    final class Empty: ResultOperation<Int>, @unchecked Sendable {
      override func main() { finish() }
    }
    let retry = RetryOperation(retries: 2, backoff: .constant(.zero)) { _ in Empty() }
    queue.addOperation(retry)
    #expect(eventually { retry.isFinished })
    #expect(retry.failureCode == .missingResult)
  }

  @Test func aMakeThatCancelsTheRetryEndsIt() {
    let own = Lock<RetryOperation<Int>?>(nil)
    let retry = RetryOperation<Int>(retries: 2, backoff: .constant(.zero)) { _ in
      own.withLock { $0.take() }?.cancel()
      return Operations.ClosureOperation { 1 }
    }
    own.withLock { $0 = retry }
    queue.addOperation(retry)
    #expect(eventually { retry.isFinished && retry.isCancelled })
  }

  @Test func aRepetitionZeroTimesSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = RepeatOperation(times: 0) { _ in Operations.ClosureOperation { 1 } }
    }
    #expect(MisuseRig.text(result).contains("an operation is repeated at least once, not 0 times"))
  }

  @Test func aShareOfJitterThatIsNoneSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Backoff.constant(.seconds(1)).jittered(.nan)
    }
    #expect(MisuseRig.text(result).contains("the share of jitter is between 0 and 1, not nan"))
  }

  @Test(arguments: [5, -5, .nan, .infinity] as [Double]) func aShareOfJitterSetAfterwardsMakesNoWaitNegative(
    _ share: Double
  ) {
    var backoff = Backoff.constant(.seconds(1)).jittered(0.5, seed: 1)
    backoff.jitter?.share = share
    for number in 1..<20 {
      let delay = backoff.delay(beforeRetry: number)
      #expect(delay >= .zero && delay <= .seconds(1))
    }
  }

  @Test func theWaitBeforeRetryZeroSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Backoff.constant(.seconds(1)).delay(beforeRetry: 0)
    }
    #expect(MisuseRig.text(result).contains("retries are counted from 1; there is no retry 0"))
  }

  // MARK: Productions

  @Test func aProductionOfAnUnstartedOperationExecutes() {
    let (operation, produced) = (ManualOperation(), ManualOperation())
    operation.produce(produced)
    #expect(eventually { produced.isExecuting })
    produced.finish()
    #expect(eventually { produced.isFinished })
  }

  @Test func aProductionOfAFinishedOperationExecutes() {
    let (operation, produced) = (ManualOperation(), ManualOperation())
    operation.start()
    operation.finish()
    operation.produce(produced)
    #expect(eventually { produced.isExecuting })
    produced.finish()
    #expect(eventually { produced.isFinished })
  }

  @Test func aProductionOfItselfSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = OperationQueue()
      try DependencyQueue(feeding: queue).add(ClosureOperation { $0.produce($0) })
      MisuseRig.awaitTheEnd()
    }
    #expect(MisuseRig.text(result).contains("has been started or added before; an operation runs once"))
  }

  @Test func aProductionOfItselfInAPlainQueueSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      OperationQueue().addOperation(ClosureOperation { $0.produce($0) })
      MisuseRig.awaitTheEnd()
    }
    #expect(MisuseRig.text(result).contains("operations finished, executing or already in a queue"))
  }

  @Test func aProductionOfAnOperationInAQueueSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let produced = ManualOperation("produced")
      let queue = OperationQueue()
      queue.addOperation(produced)
      queue.addOperation(ClosureOperation { $0.produce(produced) })
      MisuseRig.awaitTheEnd()
    }
    #expect(MisuseRig.text(result).contains("operations finished, executing or already in a queue"))
  }
}
