import Foundation
import Support
import Synchronization
import Testing

@testable import Operations

/// Waiting for operations and queues in tasks.
///
/// Tasks have a high priority, because all other tests stand in the same line.
@Suite struct AwaitedOperationTests {
  struct Fault: Error, Equatable {}

  final class Answer: ResultOperation<Int>, @unchecked Sendable {
    override func main() {}
    override func didCancel() { finish() }
  }

  /// Works on after a cancellation, until the test finishes it.
  final class Stubborn: ResultOperation<Int>, @unchecked Sendable {
    override func main() {}
  }

  /// Counts how often it is asked for its name, as a wait for it does when it begins.
  final class Lost: ResultOperation<Int>, @unchecked Sendable {
    // Safe: atomic.
    let waits = Atomic(0)
    override func main() {}
    override var name: String? {
      get {
        waits.wrappingAdd(1, ordering: .sequentiallyConsistent)
        return "lost"
      }
      set {}
    }
  }

  func failure(of task: Task<some Sendable, any Error>) async -> (any Error)? {
    guard case .failure(let error) = await task.result else { return nil }
    return error
  }

  // MARK: Values

  @Test func aValueIsAwaitedByAnyNumberOfTasks() async throws {
    let answer = Answer()
    let tasks = (0..<10).map { _ in Task(priority: .high) { try await answer.value } }
    answer.start()
    #expect(await soon { answer.isExecuting })
    answer.finish(.success(7))
    for task in tasks { #expect(try await task.value == 7) }
    // At once after the end.
    #expect(try await answer.value == 7)
  }

  @Test func aFailureIsThrownToWhoAwaitsTheValue() async {
    let answer = Answer()
    let task = Task(priority: .high) { try await answer.value }
    answer.start()
    answer.finish(with: Fault())
    #expect(await failure(of: task) is Fault)
    await #expect(throws: Fault.self) { try await answer.value }
  }

  @Test func aReaderThatIsCancelledLeavesTheValueToTheOthers() async throws {
    let answer = Answer()
    let next = answer.then { $0 + 1 }
    let queue = OperationQueue()
    queue.add([answer, next])
    let reader = Task(priority: .high) { try await answer.value }
    let other = Task(priority: .high) { try await answer.value }
    #expect(await soon { answer.isExecuting })
    reader.cancel()
    #expect(await failure(of: reader) is CancellationError)
    #expect(answer.isExecuting && !answer.isCancelled)
    answer.finish(.success(1))
    #expect(try await other.value == 1)
    #expect(try await next.value == 2)
  }

  @Test func cancellingTheTaskCancelsTheOperationThatItAwaits() async {
    let answer = Answer()
    answer.start()
    let task = Task(priority: .high) { try await answer.value(cancellingOperation: true) }
    task.cancel()
    #expect(await failure(of: task) is CancellationError)
    #expect(answer.isCancelled && answer.isFinished)
  }

  @Test func aTaskThatWasCancelledBeforeCancelsWhatItAwaits() async {
    let answer = Answer()
    answer.start()
    let task = Task(priority: .high) {
      while !Task.isCancelled { await Task.yield() }
      return try await answer.value(cancellingOperation: true)
    }
    task.cancel()
    #expect(await failure(of: task) is CancellationError)
    #expect(answer.isFinished)
  }

  @Test func aCancelledWaitEndsWithTheOperationThatIsExecuting() async throws {
    let operation = Stubborn()
    operation.start()
    let task = Task(priority: .high) { try await operation.value(cancellingOperation: true) }
    task.cancel()
    #expect(await soon { operation.isCancelled })
    #expect(operation.isExecuting)
    // A success stands, however late the cancellation was.
    operation.finish(.success(3))
    #expect(try await task.value == 3)
  }

  @Test func aCancelledWaitForWhatHasNotBegunEndsAtOnce() async {
    let queue = OperationQueue()
    queue.isSuspended = true
    let (queued, alone) = (Answer(), Answer())
    queue.addOperation(queued)
    for operation in [queued, alone] {
      let task = Task(priority: .high) { try await operation.value(cancellingOperation: true) }
      task.cancel()
      #expect(await failure(of: task) is CancellationError)
      #expect(operation.isCancelled && !operation.isFinished)
    }
    queue.isSuspended = false
    #expect(await soon { queued.isFinished })
  }

  @Test func anOperationThatIsFreedUnrunEndsTheWaitForItsValue() async {
    weak var freed: Lost?
    var tasks: [Task<Void, any Error>] = []
    do {
      let operation = Lost()
      freed = operation
      tasks.append(Task(priority: .high) { [weak operation] in _ = try await operation?.value })
      tasks.append(Task(priority: .high) { [weak operation] in try await operation?.untilFinished() })
      #expect(await soon { operation.waits.load(ordering: .sequentiallyConsistent) == 2 })
    }
    for task in tasks { #expect(await failure(of: task) as? OperationError == OperationError(.freed, of: "lost")) }
    #expect(freed == nil)
  }

  @Test func aCancelledTaskRacingTheEndGetsOneAnswer() async {
    for round in 0..<500 {
      let answer = Answer()
      answer.start()
      let task = Task(priority: .high) { try await answer.value }
      race([{ task.cancel() }, { answer.finish(.success(round)) }])
      switch await task.result {
      case .success(let value): #expect(value == round)
      case .failure(let error): #expect(error is CancellationError)
      }
    }
  }

  // MARK: Ends

  @Test func theEndOfAnyOperationIsAwaited() async throws {
    let queue = OperationQueue()
    let ours = ManualOperation()
    let foreign = BlockOperation {}
    let last = ManualOperation()
    last.addDependency(ours)
    queue.add([ours, foreign, last])
    try await foreign.untilFinished()
    #expect(foreign.isFinished)
    let task = Task(priority: .high) { try await last.untilFinished() }
    #expect(await soon { ours.isExecuting })
    ours.finish()
    #expect(await soon { last.isExecuting })
    last.finish(with: Fault())
    #expect(await failure(of: task) is Fault)
    // At once after the end.
    try await ours.untilFinished()
    await #expect(throws: Fault.self) { try await last.untilFinished() }
  }

  @Test func aCancelledForeignOperationEndsTheWaitWithACancellationError() async {
    let foreign = BlockOperation {}
    let task = Task(priority: .high) { try await foreign.untilFinished(cancelsOperation: true) }
    task.cancel()
    #expect(await failure(of: task) is CancellationError)
    #expect(foreign.isCancelled)
    foreign.start()
  }

  @Test func aCancelledWaitForAnEndLeavesTheOperationAlone() async {
    let operation = ManualOperation()
    operation.start()
    let task = Task(priority: .high) { try await operation.untilFinished() }
    task.cancel()
    #expect(await failure(of: task) is CancellationError)
    #expect(operation.isExecuting && !operation.isCancelled)
    operation.finish()
  }

  // MARK: Queues

  @Test func aQueueIsAwaitedWithWhatIsAddedMeanwhile() async throws {
    for width in [1, 3] {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = width
      let journal = Journal<Int>()
      for number in 0..<20 {
        queue.addOperation {
          // Each adds another.
          queue.addOperation { journal.add(number) }
          journal.add(number)
        }
        queue.addOperation(Operations.ClosureOperation { journal.add(number) })
      }
      try await queue.untilEmpty()
      #expect(journal.count == 60)
    }
  }

  @Test func anEmptyQueueIsNotWaitedFor() async throws {
    try await OperationQueue().untilEmpty()
    try await DependencyQueue(feeding: OperationQueue()).untilEmpty()
  }

  @Test func aDependencyQueueIsAwaitedWithWhatHasNotEnteredItsQueue() async throws {
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    let journal = Journal<Int>()
    let operations = (0..<500).map { number in Operations.ClosureOperation { journal.add(number) } }
    for (former, latter) in zip(operations, operations.dropFirst()) { latter.addDependency(former) }
    try dependencyQueue.add(operations)
    try await dependencyQueue.untilEmpty()
    #expect(journal.entries == Array(0..<500))
    #expect(dependencyQueue.unfinishedCount == 0)
  }

  @Test func cancellingAWaitForAQueueLeavesItsOperationsAlone() async throws {
    let queue = OperationQueue()
    let (first, second) = (ManualOperation(), ManualOperation())
    queue.addOperation(first)
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    try dependencyQueue.add(second)
    for task in [
      Task(priority: .high) { try await queue.untilEmpty() },
      Task(priority: .high) { try await dependencyQueue.untilEmpty() },
    ] {
      task.cancel()
      #expect(await failure(of: task) is CancellationError)
    }
    #expect(await soon { first.isExecuting && second.isExecuting })
    #expect(!first.isCancelled && !second.isCancelled)
    first.finish()
    second.finish()
    try await queue.untilEmpty()
    try await dependencyQueue.untilEmpty()
  }

  @Test func aQueueThatWasAwaitedHasLetGoOfItsOperations() async throws {
    let queue = OperationQueue()
    for _ in 0..<30 {
      queue.add([Operations.ClosureOperation {}, BlockOperation {}, DelayOperation(.microseconds(20))])
      try await queue.untilEmpty()
      #expect(queue.operationCount == 0)
    }
  }
}
