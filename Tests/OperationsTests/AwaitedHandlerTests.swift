import Foundation
import Support
import Testing

@testable import Operations

/// Handlers that an operation waits for before it executes and before it has finished.
@Suite struct AwaitedHandlerTests {
  struct Fault: Error {}

  /// A gate that the test opens.
  final class Gate: Sendable {
    private let waiting = Lock<[CheckedContinuation<Void, Never>]>([])

    func wait() async { await withCheckedContinuation { continuation in waiting.withLock { $0.append(continuation) } } }
    var isAwaited: Bool { waiting.withLock { !$0.isEmpty } }
    func open() {
      for continuation in waiting.withLock({ waiting in
        defer { waiting = [] }
        return waiting
      }) { continuation.resume() }
    }
  }

  let queue = OperationQueue()

  @Test func mainIsCalledAfterTheHandlersInTheirOrder() async {
    let gate = Gate()
    let seen = Journal<String>()
    let operation = ManualOperation()
    operation.beforeExecuting { operation in
      await gate.wait()
      seen.add("first \(operation.mainCount)")
    }
    operation.beforeExecuting { seen.add("second \($0.mainCount)") }
    queue.addOperation(operation)
    #expect(await soon { gate.isAwaited })
    #expect(!operation.isExecuting)
    gate.open()
    #expect(await soon { operation.mainCount == 1 })
    #expect(seen.entries == ["first 0", "second 0"])
    operation.finish()
    #expect(operation.isFinished)
  }

  @Test func anOperationThatIsCancelledMeanwhileFinishesWithoutExecuting() async {
    let gate = Gate()
    let operation = ManualOperation()
    operation.beforeExecuting { _ in await gate.wait() }
    queue.addOperation(operation)
    #expect(await soon { gate.isAwaited })
    operation.cancel()
    #expect(await soon { operation.isFinished })
    gate.open()
    #expect(operation.mainCount == 0 && operation.failure is CancellationError)
  }

  @Test func aSecondStartByHandMeanwhileChangesNothing() async {
    let gate = Gate()
    let operation = ManualOperation()
    operation.beforeExecuting { _ in await gate.wait() }
    operation.start()
    #expect(await soon { gate.isAwaited })
    operation.start()
    #expect(operation.mainCount == 0)
    gate.open()
    #expect(await soon { operation.mainCount == 1 })
    operation.finish()
  }

  @Test func anOperationThatConditionsStopHasNoHandlersCalled() async {
    let seen = Journal<String>()
    let operation = ManualOperation()
    operation.beforeExecuting { _ in seen.add("execute") }
    operation.beforeFinishing { _ in seen.add("finish") }
    operation.addCondition(OperationCondition("no") { _ in false })
    queue.addOperation(operation)
    #expect(await soon { operation.isFinished })
    #expect(seen.entries == [])
  }

  @Test func theEndWaitsForTheHandlers() async {
    let gate = Gate()
    let operation = ManualOperation()
    operation.beforeFinishing { operation in
      await gate.wait()
      #expect(operation.isExecuting && !operation.isFinished)
    }
    let next = ManualOperation()
    next.addDependency(operation)
    queue.add([operation, next])
    #expect(await soon { operation.isExecuting })
    operation.finish(with: Fault())
    #expect(await soon { gate.isAwaited })
    operation.finish()
    #expect(operation.isExecuting && operation.failure == nil && next.state == .pending)
    gate.open()
    #expect(await soon { operation.isFinished && next.isExecuting })
    #expect(operation.failure is Fault)
    next.finish()
  }

  @Test func aCancellationWhileTheEndIsAwaitedDoesNotTakeTheResult() async {
    let gate = Gate()
    let operation = TaskOperation { 7 }
    operation.beforeFinishing { _ in await gate.wait() }
    queue.addOperation(operation)
    #expect(await soon { gate.isAwaited })
    operation.cancel()
    gate.open()
    #expect(await soon { operation.isFinished })
    #expect(throws: Never.self) { try #require(operation.outcome).get() }
  }

  @Test(arguments: [nil, Fault()] as [Fault?])
  func aCancellationWhileTheEndIsAwaitedDoesNotChangeTheFailure(of fault: Fault?) async {
    let operations = [ManualOperation(), ResultOperationTests.Answer()]
    for operation in operations {
      operation.beforeFinishing { $0.cancel(with: CancellationError()) }
      operation.start()
      if let fault { operation.finish(with: fault) } else { operation.finish() }
      #expect(await soon { operation.isFinished })
      #expect(operation.isCancelled && !operation.isCancelledWithError)
    }
    #expect(operations.map { $0.failure is CancellationError } == [false, false])
    #expect(operations.map { $0.failure is Fault } == [fault != nil, fault != nil])
  }

  @Test func aCancellationBeforeTheEndIsTheFailureAfterTheHandlers() async {
    let operations = [ManualOperation(), ResultOperationTests.Answer()]
    for operation in operations {
      operation.beforeFinishing { _ in await Task.yield() }
      operation.start()
      operation.cancel(with: Fault())
      operation.finish()
      #expect(await soon { operation.isFinished })
    }
    #expect(operations.map { $0.failure is Fault } == [true, true])
  }

  // MARK: Limits

  @Test func theTimeOfTheHandlersDoesNotCountForTheLimit() async {
    let gate = Gate()
    let clock = ManualOperationClock()
    let operation = ManualOperation()
    operation.setTimeout(.seconds(1), clock: clock)
    operation.beforeFinishing { _ in await gate.wait() }
    operation.start()
    operation.finish()
    #expect(await soon { gate.isAwaited })
    clock.advance(by: .seconds(2))
    gate.open()
    #expect(await soon { operation.isFinished })
    #expect(!operation.isCancelled && operation.failure == nil)
  }

  @Test func atItsDateAnOperationIsCancelled() {
    let clock = ManualOperationClock()
    let operation = ManualOperation()
    operation.setDeadline(Date(timeIntervalSinceNow: 1_000_000), clock: clock)
    operation.start()
    clock.advance(by: .seconds(900_000))
    #expect(!operation.isCancelled)
    clock.advance(by: .seconds(100_001))
    #expect(operation.isFinished && operation.failureCode == .timedOut)
    let late = ManualOperation("late")
    late.setDeadline(Date(timeIntervalSinceNow: -1), clock: clock)
    late.start()
    clock.advance(by: .zero)
    #expect(late.isFinished && late.failureCode == .timedOut)
    #expect(late.failure.map { "\($0)" } == "late was cancelled because its deadline had passed")
  }

  @Test func aNegativeLimitIsAFault() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      ManualOperation().setTimeout(.seconds(-1))
    }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(words.contains("is negative"))
  }

  // MARK: Products

  @Test(arguments: [false, true]) func whatIsProducedAfterMainRunsWhetherObservedOrNot(_ isObserved: Bool) async {
    let operation = ManualOperation()
    let product = ManualOperation()
    let token = isObserved ? operation.observe(\.state) { _, _ in } : nil
    queue.maxConcurrentOperationCount = 1
    queue.addOperation(operation)
    #expect(await soon { operation.mainCount == 1 && operation.parts.lifecycle.hasBegun })
    operation.produce(product)
    #expect(await soon { product.isExecuting })
    product.finish()
    operation.finish()
    token?.cancel()
  }
}
