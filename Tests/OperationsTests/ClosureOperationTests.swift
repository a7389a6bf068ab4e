import Foundation
import Support
import Testing

@testable import Operations

/// Operations around closures, and values passed between operations.
@Suite struct ClosureOperationTests {
  struct Fault: Error {}

  let queue = OperationQueue()

  // MARK: Closures

  @Test func aClosuresValueIsTheResult() throws {
    let sum = Operations.ClosureOperation { 1 + 2 }
    let failing = Operations.ClosureOperation<Int> { throw Fault() }
    queue.addOperations([sum, failing], waitUntilFinished: true)
    #expect(try sum.outcome?.get() == 3)
    #expect(failing.failure is Fault)
  }

  @Test func aClosureMayLookAtItsOperation() throws {
    let begun = DispatchSemaphore(value: 0)
    let goOn = DispatchSemaphore(value: 0)
    let operation = Operations.ClosureOperation { operation in
      operation.report(completed: 1, total: 2)
      begun.signal()
      goOn.wait()
      return operation.isCancelled
    }
    queue.addOperation(operation)
    begun.wait()
    #expect(operation.progress.fraction == 0.5)
    operation.cancel()
    goOn.signal()
    queue.waitUntilAllOperationsAreFinished()
    #expect(try operation.outcome?.get() == true)
  }

  @Test func aClosureIsLetGoOfWhenItHasRun() {
    weak var kept: ManualOperation?
    let operation: Operations.ClosureOperation<String>
    do {
      let capture = ManualOperation("capture")
      kept = capture
      operation = Operations.ClosureOperation { capture.name ?? "" }
    }
    #expect(kept != nil)
    operation.start()
    #expect(kept == nil)
  }

  // MARK: Tasks: of a high priority, because all other tests stand in the same line

  @Test func aTasksValueIsTheResult() async throws {
    let operation = TaskOperation(priority: .high) { operation in
      await Task.yield()
      operation.report(completed: 2, total: 2)
      return 7
    }
    let failing = TaskOperation<Int>(priority: .high) {
      await Task.yield()
      throw Fault()
    }
    queue.add([operation, failing])
    #expect(await soon { operation.isFinished && failing.isFinished })
    #expect(try operation.outcome?.get() == 7)
    #expect(operation.progress.fraction == 1 && failing.failure is Fault)
  }

  @Test func cancelCancelsTheTask() async {
    let operation = TaskOperation(priority: .high) { try await Task.sleep(for: .seconds(3600)) }
    let other = TaskOperation(priority: .high) { try await Task.sleep(for: .seconds(3600)) }
    queue.add([operation, other])
    #expect(await soon { operation.isExecuting && other.isExecuting })
    operation.cancel()
    other.cancel(with: Fault())
    #expect(await soon { operation.isFinished && other.isFinished })
    #expect(operation.failure is CancellationError && other.failure is Fault)
  }

  @Test func aTaskThatIgnoresCancellationKeepsTheOperationExecuting() async {
    let gate = Lock<CheckedContinuation<Void, Never>?>(nil)
    let operation = TaskOperation(priority: .high) {
      await withCheckedContinuation { continuation in gate.withLock { $0 = continuation } }
    }
    queue.addOperation(operation)
    #expect(await soon { gate.withLock { $0 != nil } })
    operation.cancel()
    #expect(operation.isExecuting)
    gate.withLock { $0 }?.resume()
    #expect(await soon { operation.isFinished })
    #expect(operation.failure == nil)
  }

  @TaskLocal private static var request = 0

  @Test func aTaskReadsTheTaskLocalsOfTheOneThatMadeIt() async throws {
    let source = Self.$request.withValue(7) { TaskOperation(priority: .high) { Self.request } }
    let next = Self.$request.withValue(8) { source.then { value async in value * 10 + Self.request } }
    queue.addOperations(next.withDependencies)
    #expect(try await next.value == 78)
    weak var unrun: TaskOperation<Int>?
    do {
      let operation = TaskOperation { 1 }
      unrun = operation
    }
    #expect(unrun == nil)
  }

  @Test func aTaskOperationThatHasEndedIsFreed() async throws {
    weak var first: ResultOperation<Int>?
    weak var second: ResultOperation<Int>?
    do {
      let source = TaskOperation(priority: .high) { 1 }
      let next = source.then { value async in value + 1 }
      (first, second) = (source, next)
      queue.addOperations(next.withDependencies)
      #expect(try await next.value == 2)
    }
    #expect(await soon { first == nil && second == nil })
  }

  @Test func aTaskHasThePriorityOfTheOperationsQuality() async throws {
    let qualities: [(QualityOfService, TaskPriority)] = [
      (.userInteractive, .high), (.userInitiated, .high), (.utility, .low), (.background, .background),
    ]
    for (quality, priority) in qualities {
      let operation = TaskOperation { withUnsafeCurrentTask { $0?.priority } }
      operation.qualityOfService = quality
      queue.addOperation(operation)
      // Not awaited, which would raise it.
      #expect(await soon { operation.isFinished })
      #expect(try operation.outcome?.get() == priority)
    }
  }

  @Test func tasksThatWaitHoldNoThread() async {
    let begun = Journal<Int>()
    let operations = (0..<200).map { number in
      TaskOperation(priority: .high) {
        begun.add(number)
        try await Task.sleep(for: .seconds(3600))
      }
    }
    queue.maxConcurrentOperationCount = operations.count
    queue.add(operations)
    #expect(await soon { begun.count == operations.count })
    for operation in operations { operation.cancel() }
    #expect(await soon { operations.allSatisfy(\.isFinished) })
  }

  @Test func aCancelRacingATaskEndsItOnce() async {
    for round in 0..<500 {
      let operation = TaskOperation(priority: .high) {
        try Task.checkCancellation()
        return round
      }
      race([{ self.queue.addOperation(operation) }, { operation.cancel() }])
      #expect(await soon { operation.isFinished })
      switch operation.outcome {
      case .success(round): break
      case .failure(let error): #expect(error is CancellationError)
      default: Issue.record("no result")
      }
    }
  }

  // MARK: Input

  final class Square: ResultOperation<Int>, InputReceiving, @unchecked Sendable {
    // Safe: behind a lock.
    private let inputs = Lock<[Int]>([])
    func receive(_ input: Int) { inputs.withLock { $0.append(input) } }
    override func main() { finish(.success(inputs.withLock { $0 }.reduce(0) { $0 + $1 * $1 })) }
  }

  @Test func anOperationReceivesWhatAnotherHasMade() throws {
    let source = Operations.ClosureOperation { 3 }
    let text = Operations.ClosureOperation { "4" }
    let square = Square()
    square.takeInput(from: source)
    square.takeInput(from: text) { Int($0) ?? 0 }
    let dependencyQueue = DependencyQueue(feeding: queue)
    try dependencyQueue.add([square, source, text])
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(try square.outcome?.get() == 25)
  }

  @Test func ifTheSourceFailsSoDoesTheReceiverWithoutExecuting() {
    let source = Operations.ClosureOperation<Int> { throw Fault() }
    let first = Square()
    let second = Square()
    first.takeInput(from: source)
    second.takeInput(from: first)
    let journal = Journal<String>()
    var tokens: [ObservationToken] = []
    for operation in [first, second] {
      tokens.append(operation.events(on: .global()) { _, _, _ in })
      operation.whenDone { journal.add("\($0)") }
    }
    queue.addOperations([second, first, source], waitUntilFinished: true)
    #expect(first.failure is Fault && second.failure is Fault)
    #expect(eventually { journal.count == 2 })
    withExtendedLifetime(tokens) {}
  }

  @Test func whatATransformThrowsFailsTheReceiver() {
    let source = Operations.ClosureOperation { "x" }
    let square = Square()
    square.takeInput(from: source) { _ in throw Fault() }
    queue.addOperations([square, source], waitUntilFinished: true)
    #expect(square.failure is Fault)
  }

  @Test func aChainOfThousandsPassesItsValueOn() throws {
    final class Next: ResultOperation<Int>, InputReceiving, @unchecked Sendable {
      // Safe: behind a lock.
      private let input = Lock(0)
      func receive(_ input: Int) { self.input.withLock { $0 = input } }
      override func main() { finish(.success(input.withLock { $0 } + 1)) }
    }
    let dependencyQueue = DependencyQueue(feeding: queue)
    queue.maxConcurrentOperationCount = 2
    let chain = (0..<5000).map { _ in Next() }
    for (former, latter) in zip(chain, chain.dropFirst()) { latter.takeInput(from: former) }
    try dependencyQueue.add(chain)
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(try chain.last?.outcome?.get() == 5000)
  }
}
