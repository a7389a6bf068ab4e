import Foundation
import Support
import Testing

@testable import Operations

/// Errors, time limits, delays.
@Suite struct OperationEndingTests {
  struct Fault: Error, Equatable { var number = 0 }

  final class Answer: ResultOperation<Int>, @unchecked Sendable {
    override func main() {}
    override func didCancel() { finish() }
  }

  let clock = ManualOperationClock()

  // MARK: Errors

  @Test func anErrorThatItFinishesWithIsItsFailure() {
    let operation = ManualOperation()
    operation.start()
    #expect(operation.failure == nil)
    operation.finish(with: Fault(number: 1))
    operation.finish(with: Fault(number: 2))
    #expect(operation.failure as? Fault == Fault(number: 1))
    #expect(!operation.isCancelled)
  }

  @Test func oneThatFinishesWithoutAnErrorHasNoFailure() {
    let operation = ManualOperation()
    operation.start()
    operation.finish()
    operation.finish(with: Fault())
    operation.cancel(with: Fault())
    #expect(operation.failure == nil && !operation.isCancelled)
  }

  @Test func cancelledWithAnErrorThatIsItsFailure() throws {
    for isStarted in [false, true] {
      let plain = ManualOperation()
      let answer = Answer()
      for operation in [plain, answer] as [AsyncOperation] {
        if isStarted { operation.start() }
        operation.cancel(with: Fault(number: 1))
        operation.cancel(with: Fault(number: 2))
        if !isStarted { operation.start() }
        #expect(operation.isFinished && operation.isCancelled)
        #expect(operation.failure as? Fault == Fault(number: 1))
      }
      #expect(throws: Fault(number: 1)) { try answer.outcome?.get() }
    }
  }

  @Test func ofErrorsBeforeTheStartTheFirstCounts() {
    let operation = ManualOperation()
    operation.finish(with: Fault(number: 1))
    operation.finish(with: Fault(number: 2))
    operation.start()
    #expect(operation.isFinished && operation.failure as? Fault == Fault(number: 1))
  }

  @Test func theErrorOfASecondCancellationDoesNotCount() {
    for isStarted in [false, true] {
      let operation = Slow()
      if isStarted { operation.start() }
      operation.cancel()
      operation.cancel(with: Fault())
      if isStarted { operation.finish() } else { operation.start() }
      #expect(operation.isFinished && operation.failure is CancellationError)
    }
  }

  /// Takes its time to obey a cancellation: until `finish()`.
  final class Slow: AsyncOperation, @unchecked Sendable {
    override func main() {}
  }

  @Test func aCancelledOperationThatFinishesWithAnErrorFailedWithIt() {
    let operation = Slow()
    operation.start()
    operation.cancel()
    #expect(!operation.isFinished)
    operation.finish(with: Fault(number: 3))
    #expect(operation.isFinished && operation.isCancelled)
    #expect(operation.failure as? Fault == Fault(number: 3))
  }

  @Test func theErrorOfItsCancellationGoesBeforeTheOneItFinishesWith() {
    for isStarted in [false, true] {
      let operation = Slow()
      if isStarted { operation.start() }
      operation.cancel(with: Fault(number: 1))
      operation.finish(with: Fault(number: 2))
      if !isStarted { operation.start() }
      #expect(operation.isFinished && operation.failure as? Fault == Fault(number: 1))
    }
  }

  @Test func cancelledAndFinishedInItsMainItIsCancelledForGood() {
    let operation = ClosureOperation { operation in
      operation.cancel()
      operation.finish()
    }
    operation.start()
    #expect(operation.isFinished && operation.isCancelled && operation.failure is CancellationError)
  }

  @Test func cancelledWithoutAnErrorItFailsWithCancellation() {
    let operation = ManualOperation()
    operation.start()
    operation.cancel()
    #expect(operation.failure is CancellationError)
  }

  @Test func theErrorOfTheCancellationGoesBeforeThatOfTheWork() throws {
    final class Stubborn: ResultOperation<Int>, @unchecked Sendable {
      override func main() {}
    }
    let failing = Stubborn()
    let succeeding = Stubborn()
    for operation in [failing, succeeding] {
      operation.start()
      operation.cancel(with: Fault(number: 1))
    }
    failing.finish(with: Fault(number: 2))
    succeeding.finish(.success(3))
    #expect(failing.failure as? Fault == Fault(number: 1))
    // The work was done all the same.
    #expect(try succeeding.outcome?.get() == 3)
    #expect(succeeding.failure == nil)
  }

  // MARK: Time limits

  @Test func whatExecutesLongerThanItsLimitIsCancelledWithTimedOut() {
    let operation = ManualOperation("slow")
    operation.setTimeout(.seconds(5), clock: clock)
    #expect(clock.due == [])
    clock.advance(by: .seconds(60))
    operation.start()
    #expect(clock.due == [.seconds(65)])
    clock.advance(by: .seconds(4.9))
    #expect(!operation.isCancelled)
    clock.advance(by: .seconds(0.1))
    #expect(operation.isFinished && operation.cancelCount == 1)
    #expect(operation.failure as? OperationError == OperationError(.timedOut, of: "slow", limit: .seconds(5)))
    #expect(
      operation.failure.map { "\($0)" } == "slow was cancelled because it executed for longer than 5.0 seconds")
  }

  @Test func whatFinishesInTimeLeavesNoTimer() {
    let operation = ManualOperation()
    operation.setTimeout(.seconds(5), clock: clock)
    operation.start()
    operation.finish()
    #expect(clock.due == [] && operation.failure == nil)
  }

  @Test func aLimitByTheSystemsClockWorks() {
    let operation = ManualOperation()
    operation.setTimeout(.milliseconds(1))
    operation.start()
    #expect(eventually { operation.isFinished })
    #expect(operation.failureCode == .timedOut)
  }

  @Test func aTimeoutRacingTheEndAgreesOnOneOutcome() {
    for round in 0..<3000 {
      let clock = ManualOperationClock()
      let answer = Answer()
      answer.setTimeout(.seconds(1), clock: clock)
      answer.start()
      race([{ clock.advance(by: .seconds(1)) }, { answer.finish(.success(round)) }])
      #expect(answer.isFinished)
      switch answer.outcome {
      case .success(round): #expect(answer.failure == nil)
      case .failure(let error):
        #expect((error as? OperationError)?.code == .timedOut && answer.failureCode == .timedOut && answer.isCancelled)
      default: Issue.record("\(String(describing: answer.outcome))")
      }
      #expect(clock.due == [])
    }
  }

  @Test func aTimeoutRacingTheStartAgreesOnOneOutcome() {
    let queue = OperationQueue()
    for _ in 0..<2000 {
      let operation = ManualOperation()
      operation.setTimeout(.zero)
      race([{ queue.addOperation(operation) }, { operation.cancel() }])
      #expect(eventually { operation.isFinished })
      #expect(operation.failureCode == .timedOut || operation.failure is CancellationError)
    }
  }

  // MARK: Delays

  @Test func aDelayFinishesWhenItsTimeHasCome() {
    let delay = DelayOperation(.seconds(3), clock: clock)
    delay.start()
    clock.advance(by: .seconds(2))
    #expect(delay.isExecuting)
    clock.advance(by: .seconds(1))
    #expect(delay.isFinished && delay.failure == nil)
  }

  @Test func aCancelledDelayEndsAtOnce() {
    let delay = DelayOperation(.seconds(3), clock: clock)
    delay.start()
    delay.cancel()
    #expect(delay.isFinished && clock.due == [])
  }

  @Test func delaysHoldNoThreads() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 2000
    let delays = (0..<1000).map { _ in DelayOperation(.seconds(1), clock: clock) }
    queue.addOperations(delays, waitUntilFinished: false)
    #expect(eventually { clock.due.count == 1000 })
    clock.advance(by: .seconds(1))
    #expect(eventually { delays.allSatisfy(\.isFinished) })
  }

  @Test func aManualClockFiresInOrderEachAtItsInstant() {
    let journal = Journal<String>()
    _ = clock.schedule(after: .seconds(2)) { journal.add("b \(clock.now)") }
    _ = clock.schedule(after: .seconds(1)) {
      journal.add("a \(clock.now)")
      _ = clock.schedule(after: .seconds(1)) { journal.add("c \(clock.now)") }
    }
    clock.schedule(after: .seconds(1)) { journal.add("never") }.cancel()
    clock.advance(by: .seconds(10))
    #expect(journal.entries == ["a 1.0 seconds", "b 2.0 seconds", "c 2.0 seconds"])
    #expect(clock.now == .seconds(10))
  }

  @Test func aManualClockThatItsOwnCallMovesNeverGoesBack() {
    let clock = clock
    _ = clock.schedule(after: .seconds(1)) { clock.advance(by: .seconds(10)) }
    clock.advance(by: .seconds(2))
    #expect(clock.now == .seconds(11))
  }
}
