import Foundation
import Support
import Testing

@testable import Operations

/// Operations made of the values of others.
@Suite struct ReceivedValuesTests {
  struct Fault: Error, Equatable { var number = 0 }

  typealias Source = Operations.ClosureOperation
  let queue = OperationQueue()

  func run(_ operations: [Operation]) { queue.addOperations(operations, waitUntilFinished: true) }

  @Test func whatFollowsWorksOnTheValue() throws {
    let source = Source { 3 }
    let doubled = source.then { $0 * 2 }
    let text = doubled.map { "\($0)" }
    #expect(doubled.dependencies == [source])
    run([text, doubled, source])
    #expect(try doubled.outcome?.get() == 6)
    #expect(try text.outcome?.get() == "6")
  }

  @Test func anAsynchronousClosureMayFollowAndIsCancelledWithItsOperation() async throws {
    let source = Source { 3 }
    let squared = source.then { value in
      await Task.yield()
      return value * value
    }
    let slow = squared.then { value in
      try await Task.sleep(for: .seconds(3600))
      return value
    }
    queue.add([slow, squared, source])
    #expect(try await squared.value == 9)
    #expect(await soon { slow.isExecuting })
    slow.cancel()
    await #expect(throws: CancellationError.self) { try await slow.value }
  }

  @Test func valuesPassThroughADependencyQueue() throws {
    let dependencyQueue = DependencyQueue(feeding: queue)
    let source = Source { [5, 6, 7, 8] }
    let even = source.filter { $0 % 2 == 0 }
    let sum = even.reduce(100, +)
    try dependencyQueue.add([sum, even, source])
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(try even.outcome?.get() == [6, 8])
    #expect(try sum.outcome?.get() == 114)
  }

  @Test func aFailureOrACancellationPassesThroughWithoutExecuting() {
    let journal = Journal<Int>()
    let failing = Source<Int> { throw Fault(number: 1) }
    let cancelled = Source { 1 }
    cancelled.cancel()
    let operations = [failing, cancelled].map { source -> [AsyncOperation] in
      let next = source.then { value in journal.add(value) }
      let all = [source].collected()
      return [source, next, next.map { journal.add(0) }, all, all.reduce(0, +)]
    }
    run(operations.flatMap { $0 })
    #expect(journal.count == 0)
    for operation in operations[0] { #expect(operation.failure as? Fault == Fault(number: 1)) }
    for operation in operations[1] { #expect(operation.failure is CancellationError) }
  }

  @Test func whatAClosureThrowsFailsItsOperation() {
    let source = Source { 1 }
    let next = source.then { _ -> Int in throw Fault(number: 2) }
    let inner = source.flatMap { _ -> ResultOperation<Int> in throw Fault(number: 3) }
    run([source, next, inner])
    #expect(next.failure as? Fault == Fault(number: 2))
    #expect(inner.failure as? Fault == Fault(number: 3))
  }

  @Test func valuesAreGatheredInTheOrderOfTheirOperations() throws {
    let clock = ManualOperationClock()
    // The later, the earlier it ends.
    let delays = (0..<4).map { DelayOperation(.seconds(4 - $0), clock: clock) }
    let sources = delays.indices.map { number in
      let source = Source { number }
      source.addDependency(delays[number])
      return source
    }
    let all = sources.collected()
    let sum = sources.collected().reduce(0, +)
    let none = [Source<Int>]().collected()
    queue.addOperations([all, none] + sum.withDependencies, waitUntilFinished: false)
    #expect(eventually { clock.due.count == 4 })
    for _ in 0..<4 { clock.advance(by: .seconds(1)) }
    #expect(eventually { all.isFinished && sum.isFinished && none.isFinished })
    #expect(try all.outcome?.get() == [0, 1, 2, 3])
    #expect(try sum.outcome?.get() == 6)
    #expect(try none.outcome?.get() == [])
  }

  @Test func gatheringFailsWithTheFirstFailureInTheirOrder() {
    let sources = (0..<4).map { number in
      Source {
        if number > 1 { throw Fault(number: number) }
        return number
      }
    }
    let all = sources.collected()
    run([all] + sources.reversed())
    #expect(all.failure as? Fault == Fault(number: 2))
  }

  @Test func valuesOfTwoTypesAreGivenTogether() throws {
    let (number, text) = (Source { 3 }, Source { "x" })
    let both = number.zip(text).then { number, text in String(repeating: text, count: number) }
    queue.addOperations(both.withDependencies, waitUntilFinished: true)
    #expect(try both.outcome?.get() == "xxx")
    let (failing, other) = (Source<Int> { throw Fault(number: 1) }, Source<String> { throw Fault(number: 2) })
    let pair = failing.zip(other)
    run([pair, failing, other])
    #expect(pair.failure as? Fault == Fault(number: 1))
  }

  @Test func theSameSourceMayBeGatheredTwice() throws {
    let source = Source { 1 }
    let both = [source, source].collected()
    run([both, source])
    #expect(try both.outcome?.get() == [1, 1])
  }

  @Test func aValueIsForwardedAfterItsSourceHasFinished() throws {
    let source = Source { 4 }
    run([source])
    let next = source.then { $0 + 1 }
    run([next])
    #expect(try next.outcome?.get() == 5)
  }

  @Test func aRemovedDependencyIsMissed() {
    let source = Source { 4 }
    let next = source.then { $0 + 1 }
    next.removeDependency(source)
    run([next])
    #expect(next.failure(.missingResult) != nil)
  }

  @Test func aChainIsAddedWithTheOperationsInItsMiddle() throws {
    let source = Source { [1, 2, 3] }
    let other = ManualOperation()
    source.addDependency(other)
    let even = source.filter { $0 % 2 == 1 }
    let sum = even.map { $0.map { $0 * 10 } }.reduce(0, +)
    let chain = sum.withDependencies
    #expect(chain.count == 5 && chain.first === other && chain.last === sum)
    queue.addOperations(chain, waitUntilFinished: false)
    // Another branch: what is in the queue already is left out.
    let count = even.map(\.count)
    #expect(count.withDependencies == [count])
    queue.addOperation(count)
    #expect(eventually { other.isExecuting })
    other.finish()
    #expect(eventually { sum.isFinished && count.isFinished })
    #expect(try sum.outcome?.get() == 40)
    #expect(try count.outcome?.get() == 2)
    #expect(sum.withDependencies == [sum])
  }

  // MARK: Retries, repetitions and groups with input

  @Test func eachAttemptOfARetryIsGivenTheValue() throws {
    let seen = Journal<[Int]>()
    let source = Source { 7 }
    let operation = source.flatMap { value in
      RetryOperation(retries: 2, backoff: .constant(.zero)) { attempt in
        Source {
          seen.add([value, attempt])
          if attempt < 3 { throw Fault() }
          return "\(value)"
        }
      }
    }
    run([operation, source])
    #expect(try operation.outcome?.get() == "7")
    #expect(seen.entries == [[7, 1], [7, 2], [7, 3]])
  }

  @Test func aRepetitionIsGivenTheValue() throws {
    let operation = Source { 3 }
    let repeated = operation.flatMap { value in RepeatOperation(times: value) { number in Source { number * 10 } } }
    run([operation, repeated])
    #expect(try repeated.outcome?.get() == 30)
  }

  @Test func aGroupTakesAndGivesValues() throws {
    let source = Source { [1, 2, 3] }
    let pages = source.flatMap { numbers in
      ResultGroup(width: 2, numbers.map { number in Source { number * number } })
    }
    let sum = pages.reduce(0, +)
    run([sum, pages, source])
    #expect(try pages.outcome?.get() == [1, 4, 9])
    #expect(try sum.outcome?.get() == 14)
  }

  @Test func cancellingTheOuterOperationCancelsTheInner() {
    final class Inner: ResultOperation<Int>, @unchecked Sendable {
      override func main() { report(completed: 1, total: 4) }
      override func didCancel() { finish() }
    }
    let inner = Inner()
    let source = Source { 1 }
    let outer = source.flatMap { _ in inner }
    queue.add([source, outer])
    #expect(eventually { outer.progress == OperationProgress(completed: 1, total: 4) })
    outer.cancel()
    #expect(eventually { outer.isFinished })
    #expect(inner.isFinished && inner.isCancelled && outer.failure is CancellationError)
  }

  // MARK: Lifetimes

  @Test func aChainOfTenThousandIsFreedUnrunWithoutRecursion() {
    weak var first: Source<Int>?
    weak var last: ResultOperation<Int>?
    do {
      let source = Source { 0 }
      first = source
      var operation: ResultOperation<Int> = source
      for _ in 0..<10_000 { operation = operation.then { $0 + 1 } }
      last = operation
      #expect(operation.withDependencies.count == 10_001)
    }
    #expect(first == nil && last == nil)
  }

  @Test func aChainOfTenThousandPassesItsValueOnAndIsFreed() throws {
    let dependencyQueue = DependencyQueue(feeding: queue)
    weak var first: ResultOperation<Int>?
    var last: ResultOperation<Int>?
    do {
      var chain: [ResultOperation<Int>] = [Source { 0 }]
      for _ in 0..<10_000 { chain.append(chain[chain.count - 1].then { $0 + 1 }) }
      first = chain[0]
      last = chain.last
      try dependencyQueue.add(chain)
      dependencyQueue.waitUntilAllOperationsAreFinished()
    }
    #expect(try last?.outcome?.get() == 10_000)
    #expect(eventually { first == nil })
  }
}
