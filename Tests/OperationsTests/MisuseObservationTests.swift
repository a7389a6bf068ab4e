import Foundation
import Support
import Synchronization
import Testing

@testable import Operations

/// Observers, reports, values and waits at the wrong time; the article Misuse lists them.
struct MisuseObservationTests {
  private let queue = OperationQueue()
  private let deliveries = DispatchQueue(label: "MisuseObservationTests")

  // MARK: Observers

  @Test func aHandlerMayDropItsOwnToken() {
    let token = Lock<ObservationToken?>(nil)
    let calls = Journal<Int>()
    let operation = ManualOperation()
    let observation = operation.observe(\.state, on: deliveries) { _, _ in
      calls.add(1)
      token.withLock { $0.take() }?.cancel()
    }
    token.withLock { $0 = observation }
    operation.start()
    operation.finish()
    deliveries.sync {}
    #expect(calls.count == 1)
  }

  @Test func aHandlerMayObserve() {
    let tokens = Lock<[ObservationToken]>([])
    let seen = Journal<AsyncOperation.State>()
    let operation = ManualOperation()
    let deliveries = deliveries
    let token = operation.observe(\.state, on: deliveries) { operation, _ in
      let inner = operation.observe(\.state, on: deliveries, options: .initial) { _, change in
        seen.add(change.newValue)
      }
      tokens.withLock { $0.append(inner) }
    }
    operation.start()
    #expect(eventually { seen.entries == [.executing] })
    operation.finish()
    #expect(eventually { seen.entries.filter { $0 == .finished }.count == 2 })
    token.cancel()
  }

  @Test func aHandlerMayMoveTheOperation() {
    let calls = Journal<AsyncOperation.State>()
    let operation = ManualOperation()
    let token = operation.observe(\.state, on: deliveries) { operation, change in
      calls.add(change.newValue)
      operation.report(completed: 1)
      operation.cancel()
      operation.finish()
    }
    operation.start()
    #expect(eventually { calls.entries == [.executing, .finished] })
    token.cancel()
    token.cancel()
  }

  @Test func aSuspendedDispatchQueueKeepsTheChanges() {
    let suspended = DispatchQueue(label: "suspended")
    suspended.suspend()
    let calls = Journal<AsyncOperation.State>()
    let operation = ManualOperation()
    let token = operation.observe(\.state, on: suspended) { calls.add($1.newValue) }
    operation.start()
    operation.finish()
    #expect(operation.isFinished && calls.count == 0)
    suspended.resume()
    suspended.sync {}
    #expect(eventually { calls.entries == [.executing, .finished] })
    token.cancel()
  }

  @Test func aConcurrentDispatchQueueGetsOneChangeAtATime() {
    let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
    let values = Journal<Int64>()
    let operation = ManualOperation()
    let isInside = Atomic(false)
    let overlaps = Atomic(0)
    let token = operation.observe(\.progress, on: concurrent) { _, change in
      if isInside.exchange(true, ordering: .sequentiallyConsistent) {
        overlaps.wrappingAdd(1, ordering: .sequentiallyConsistent)
      }
      values.add(change.newValue.completed)
      isInside.store(false, ordering: .sequentiallyConsistent)
    }
    operation.start()
    for number in 1...500 { operation.report(completed: Int64(number)) }
    #expect(eventually { values.count == 500 })
    #expect(values.entries == Array(1...500) && overlaps.load(ordering: .sequentiallyConsistent) == 0)
    operation.finish()
    token.cancel()
  }

  @Test func changesReadByTwoAreSharedOrEnd() async {
    let operation = ManualOperation()
    let changes = operation.changes(\.state)
    async let first = changes.reduce(into: 0) { count, _ in count += 1 }
    async let second = changes.reduce(into: 0) { count, _ in count += 1 }
    operation.start()
    operation.finish()
    let (one, two) = await (first, second)
    #expect(one + two > 0)
  }

  // MARK: Reports and lines

  @Test func reportsAndLinesAfterTheEndAreIgnored() {
    let calls = Journal<String>()
    let operation = ManualOperation()
    let log = operation.observeLog(on: deliveries) { calls.add($1.text) }
    operation.log("before")
    operation.start()
    operation.report(completed: 1, total: 2)
    operation.finish()
    operation.report(completed: 2, total: 2)
    operation.log("after")
    deliveries.sync {}
    #expect(calls.entries == ["before"] && operation.progress == OperationProgress(completed: 1, total: 2))
    log.cancel()
  }

  @Test(arguments: [(-5, 10), (5, 0), (20, 10), (.max, .max), (.min, .min), (.max, 1), (0, -1)] as [(Int64, Int64)])
  func aReportOfNonsenseHasAFractionFrom0To1OrNone(_ completed: Int64, _ total: Int64) {
    let operation = ManualOperation()
    let group = GroupOperation([operation])
    queue.addOperation(group)
    #expect(eventually { operation.isExecuting })
    operation.report(completed: completed, total: total)
    let fraction = operation.progress.fraction
    #expect(fraction.map { (0...1).contains($0) } ?? (total <= 0))
    operation.finish()
    #expect(eventually { group.isFinished } && group.progress.fraction == 1)
  }

  @Test func aPriorityThatIsSetDuringTheExecutionChangesNothing() throws {
    let dependencyQueue = DependencyQueue(feeding: queue)
    let operation = ManualOperation()
    try dependencyQueue.add(operation)
    #expect(eventually { operation.isExecuting })
    operation.queuePriority = .veryLow
    operation.queuePriority = .veryHigh
    #expect(operation.isExecuting)
    operation.finish()
    operation.queuePriority = .low
    dependencyQueue.waitUntilAllOperationsAreFinished()
  }

  // MARK: Waiting

  @Test func aValueAwaitedBeforeItIsAddedAndByTwoIsGivenToBoth() async throws {
    let operation = Operations.ClosureOperation { 5 }
    async let first = operation.value
    async let second = operation.value
    queue.addOperation(operation)
    let (one, two, three) = try await (first, second, operation.value)
    #expect(one == 5 && two == 5 && three == 5)
  }

  @Test func untilEmptyOfASuspendedQueueEndsWithItsTask() async {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = ManualOperation()
    queue.addOperation(operation)
    let wait = Task { try await queue.untilEmpty() }
    wait.cancel()
    await #expect(throws: CancellationError.self) { try await wait.value }
    #expect(!operation.isCancelled)
    // What is cancelled there is waited for until the queue is resumed.
    operation.cancel()
    let second = Task { try await queue.untilEmpty() }
    queue.isSuspended = false
    await #expect(throws: Never.self) { try await second.value }
  }

  @Test func anOperationThatWaitsForItselfEndsThatWaitWithItsTask() async {
    let operation = TaskOperation { operation in try await operation.untilFinished(cancelsOperation: false) }
    queue.addOperation(operation)
    #expect(await soon { operation.isExecuting })
    operation.cancel()
    #expect(await soon { operation.isFinished })
    #expect(operation.failure is CancellationError)
  }

  @Test func anOperationThatWaitsForItsOwnValueEndsWithTheCancellation() async {
    let own = Lock<TaskOperation<Int>?>(nil)
    let operation = TaskOperation<Int> {
      guard let operation = own.withLock({ $0.take() }) else { return 0 }
      return try await operation.value
    }
    own.withLock { $0 = operation }
    queue.addOperation(operation)
    #expect(await soon { operation.isExecuting })
    operation.cancel()
    #expect(await soon { operation.isFinished })
    if !operation.isFinished { operation.finish(.success(0)) }
  }
}
