import Foundation
import Support
import Testing

@testable import Operations

/// Retrying, repeating, and the waits between.
@Suite struct RetryTests {
  struct Fault: Error, Equatable { var number: Int }

  let clock = ManualOperationClock()
  let queue = OperationQueue()

  /// Fails until attempt `good`; keeps which attempts there were.
  func attempts(until good: Int, _ journal: Journal<Int>) -> @Sendable (Int) -> ResultOperation<Int> {
    { number in
      Operations.ClosureOperation {
        journal.add(number)
        guard number >= good else { throw Fault(number: number) }
        return number
      }
    }
  }

  /// Lets the time come of each wait in turn.
  func pass(_ waits: [Duration], _ journal: Journal<Int>) {
    for (index, wait) in waits.enumerated() {
      #expect(eventually { journal.count == index + 1 && clock.due.count == 1 })
      #expect(clock.due == [clock.now + wait])
      clock.advance(by: wait)
    }
  }

  // MARK: Waits

  @Test func waitsGrowAsTheirKindSays() {
    let cases: [(Backoff, [Double])] = [
      (.constant(.seconds(3)), [3, 3, 3, 3, 3, 3]),
      (.incrementing(.seconds(1), by: .seconds(2)), [1, 3, 5, 7, 9, 11]),
      (.exponential(.seconds(1)), [1, 2, 4, 8, 16, 32]),
      (.exponential(.milliseconds(100), factor: 3).capped(at: .seconds(2)), [0.1, 0.3, 0.9, 2, 2, 2]),
      (.fibonacci(.seconds(1)), [1, 1, 2, 3, 5, 8]),
      (.fibonacci(.seconds(2)).capped(at: .seconds(7)), [2, 2, 4, 6, 7, 7]),
      (.incrementing(.seconds(2), by: .seconds(-1)), [2, 1, 0, 0, 0, 0]),
      (.constant(.seconds(-1)), [0, 0, 0, 0, 0, 0]),
    ]
    for (backoff, waits) in cases {
      for (index, wait) in waits.enumerated() {
        let seconds = backoff.delay(beforeRetry: index + 1) / .seconds(1)
        #expect(abs(seconds - wait) < 1e-9, "\(backoff) \(index + 1)")
      }
    }
  }

  @Test func noWaitIsLongerThanItsCapHoweverLateItIs() {
    let cap = Duration.seconds(30)
    for backoff in [
      Backoff.exponential(.seconds(1), factor: 10), .fibonacci(.seconds(1)), .incrementing(.zero, by: .seconds(1)),
    ] {
      for number in [1_000, 1_000_000, Int.max] {
        #expect(backoff.capped(at: cap).delay(beforeRetry: number) == cap)
        #expect(backoff.delay(beforeRetry: number) <= .seconds(1e9))
      }
    }
    #expect(Backoff.exponential(.zero).delay(beforeRetry: Int.max) == .zero)
  }

  @Test func jitterTakesFromTheWaitAndRepeatsWithItsSeed() {
    let backoff = Backoff.constant(.seconds(10)).jittered(0.3, seed: 7)
    let waits = (1...1000).map { backoff.delay(beforeRetry: $0) / .seconds(1) }
    #expect(waits.allSatisfy { $0 > 7 && $0 <= 10 })
    #expect(waits.min() ?? 10 < 7.1 && waits.max() ?? 7 > 9.9)
    #expect(
      waits
        == (1...1000).map { Backoff.constant(.seconds(10)).jittered(0.3, seed: 7).delay(beforeRetry: $0) / .seconds(1) }
    )
    #expect(waits[0] != Backoff.constant(.seconds(10)).jittered(0.3, seed: 8).delay(beforeRetry: 1) / .seconds(1))
  }

  // MARK: Retrying

  @Test func aFailedAttemptIsFollowedByANewOneAfterItsWait() throws {
    let journal = Journal<Int>()
    let operation = RetryOperation(
      retries: 5, backoff: .exponential(.seconds(1)), clock: clock, attempts(until: 4, journal))
    queue.addOperation(operation)
    pass([.seconds(1), .seconds(2), .seconds(4)], journal)
    #expect(eventually { operation.isFinished })
    #expect(journal.entries == [1, 2, 3, 4] && clock.due == [])
    #expect(try operation.outcome?.get() == 4)
  }

  @Test func theLastAttemptsErrorIsTheResult() {
    let journal = Journal<Int>()
    let operation = RetryOperation(
      retries: 2, backoff: .constant(.zero), clock: clock, attempts(until: 100, journal))
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(journal.entries == [1, 2, 3])
    #expect(operation.failure as? Fault == Fault(number: 3))
  }

  @Test func anErrorThatIsNotWorthRetryingEndsIt() {
    let journal = Journal<Int>()
    let operation = RetryOperation(
      retries: 9, backoff: .constant(.zero), clock: clock, when: { error, _ in (error as? Fault)?.number != 2 },
      attempts(until: 100, journal))
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(journal.entries == [1, 2])
  }

  @Test func observersAreToldOfEachAttemptAndProgressIsPassedOn() {
    let journal = Journal<String>()
    let operation = RetryOperation(retries: 1, backoff: .constant(.zero)) { number in
      let attempt = Operations.ClosureOperation<Int> { operation in
        operation.report(completed: Int64(number), total: 2)
        throw Fault(number: number)
      }
      attempt.name = "attempt \(number)"
      return attempt
    }
    let token = operation.events(.produced, on: .global()) { event, _, _ in
      if case .produced(let attempt) = event { journal.add(attempt.name ?? "") }
    }
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(eventually { journal.entries == ["attempt 1", "attempt 2"] })
    token.cancel()
  }

  @Test func theLastProgressOfAnAttemptIsPassedOn() {
    for _ in 0..<100 {
      let make: @Sendable (Int) -> ResultOperation<Int> = { number in
        Operations.ClosureOperation { operation in
          operation.report(completed: Int64(number), total: 3)
          return number
        }
      }
      let retry = RetryOperation(retries: 1, make)
      let repetition = RepeatOperation(times: 2, make)
      queue.addOperations([retry, repetition], waitUntilFinished: true)
      #expect(retry.progress == OperationProgress(completed: 1, total: 3))
      #expect(repetition.progress == OperationProgress(completed: 2, total: 3))
    }
  }

  @Test func anAttemptWithoutProgressLeavesTheLastOne() {
    let operation = RepeatOperation(times: 2) { number in
      Operations.ClosureOperation { attempt in if number == 1 { attempt.report(completed: 1, total: 2) } }
    }
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(operation.progress == OperationProgress(completed: 1, total: 2))
  }

  @Test func cancelledInAWaitItEndsAtOnce() {
    let journal = Journal<Int>()
    let operation = RetryOperation(
      retries: 5, backoff: .constant(.seconds(60)), clock: clock, attempts(until: 9, journal))
    queue.addOperation(operation)
    #expect(eventually { clock.due.count == 1 })
    operation.cancel()
    #expect(eventually { operation.isFinished })
    #expect(operation.failure is CancellationError && journal.entries == [1])
    // The thread that has just set the timer may have been overtaken by the cancellation; then it ends the timer.
    #expect(eventually { clock.due == [] })
  }

  @Test func cancelledInAnAttemptItCancelsThat() {
    let attempt = Lock<ResultOperationTests.Answer?>(nil)
    let operation = RetryOperation<Int>(retries: 5, clock: clock) { _ in
      let new = ResultOperationTests.Answer()
      attempt.withLock { $0 = new }
      return new
    }
    queue.addOperation(operation)
    #expect(eventually { attempt.withLock { $0 }?.isExecuting == true })
    operation.cancel(with: Fault(number: 0))
    #expect(eventually { operation.isFinished })
    #expect(attempt.withLock { $0 }?.isCancelled == true && operation.failure as? Fault == Fault(number: 0))
  }

  @Test func cancelledWhileAnAttemptIsMadeItCancelsThat() {
    let owner = Lock<RetryOperation<Int>?>(nil)
    let made = Lock<ResultOperationTests.Answer?>(nil)
    // The second, because the first is made before `main` has returned.
    let operation = RetryOperation<Int>(retries: 5, backoff: .constant(.zero), clock: clock) { number in
      guard number > 1 else { return Operations.ClosureOperation { throw Fault(number: number) } }
      owner.withLock { $0 }?.cancel()
      let new = ResultOperationTests.Answer()
      made.withLock { $0 = new }
      return new
    }
    owner.withLock { $0 = operation }
    queue.addOperation(operation)
    #expect(eventually { operation.isFinished })
    #expect(made.withLock { $0 }?.isCancelled == true && operation.failure is CancellationError)
    owner.withLock { $0 = nil }
  }

  @Test func cancelledWhileAnErrorIsJudgedItWaitsForNothing() {
    let owner = Lock<RetryOperation<Int>?>(nil)
    let operation = RetryOperation<Int>(
      retries: 5, backoff: .constant(.seconds(60)), clock: clock,
      when: { _, _ in
        owner.withLock { $0 }?.cancel()
        return true
      }, { number in Operations.ClosureOperation { throw Fault(number: number) } })
    owner.withLock { $0 = operation }
    queue.addOperation(operation)
    #expect(eventually { operation.isFinished })
    #expect(operation.failure is CancellationError && clock.due == [])
    owner.withLock { $0 = nil }
  }

  @Test func anAttemptThatSucceedsInSpiteOfTheCancellationIsTheResult() throws {
    final class Stubborn: ResultOperation<Int>, @unchecked Sendable {
      override func main() {}
      override func didCancel() { finish(.success(7)) }
    }
    let made = Journal<Stubborn>()
    let operation = RepeatOperation<Int>(times: 3, clock: clock) { _ in
      let new = Stubborn()
      made.add(new)
      return new
    }
    queue.addOperation(operation)
    #expect(eventually { made.entries.first?.isExecuting == true })
    operation.cancel()
    #expect(eventually { operation.isFinished })
    #expect(try operation.outcome?.get() == 7)
    #expect(made.count == 1)
  }

  @Test func aCancelRacingAttemptsAndWaitsEndsItOnce() {
    for round in 0..<1500 {
      let clock = ManualOperationClock()
      let journal = Journal<Int>()
      let operation = RetryOperation(
        retries: 3, backoff: .constant(round % 2 == 0 ? .zero : .seconds(1)), clock: clock, attempts(until: 9, journal))
      race([
        { self.queue.addOperation(operation) },
        { operation.cancel() },
        { for _ in 0..<4 { clock.advance(by: .seconds(1)) } },
      ])
      #expect(
        eventually {
          clock.advance(by: .seconds(1))
          return operation.isFinished
        })
      #expect(operation.failure is CancellationError || operation.failure is Fault)
      #expect(clock.due == [])
    }
  }

  @Test func anAttemptSharesWhatTheRetryHasToItself() {
    let operation = RetryOperation(retries: 0) { _ in
      let attempt = Operations.ClosureOperation { 1 }
      attempt.addCondition(.mutuallyExclusive("retry"))
      return attempt
    }
    operation.addCondition(.mutuallyExclusive("retry"))
    queue.addOperation(operation)
    #expect(eventually { operation.isFinished })
    #expect(operation.failure == nil)
  }

  // MARK: Repeating

  @Test func itIsRepeatedAsOftenAsItIsAskedForWithWaitsBetween() throws {
    let journal = Journal<Int>()
    let operation = RepeatOperation(
      times: 3, every: .incrementing(.seconds(1), by: .seconds(1)), clock: clock, attempts(until: 0, journal))
    queue.addOperation(operation)
    pass([.seconds(1), .seconds(2)], journal)
    #expect(eventually { operation.isFinished })
    #expect(try operation.outcome?.get() == 3)
    #expect(journal.entries == [1, 2, 3])
  }

  @Test func itIsRepeatedUntilItsValueIsEnough() throws {
    let journal = Journal<Int>()
    let operation = RepeatOperation(clock: clock, until: { value, _ in value == 50 }, attempts(until: 0, journal))
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(try operation.outcome?.get() == 50)
  }

  @Test func aFailureEndsTheRepeating() {
    let operation = RepeatOperation(clock: clock) { number in
      Operations.ClosureOperation { if number == 3 { throw Fault(number: 3) } }
    }
    queue.addOperations([operation], waitUntilFinished: true)
    #expect(operation.failure as? Fault == Fault(number: 3))
  }
}
