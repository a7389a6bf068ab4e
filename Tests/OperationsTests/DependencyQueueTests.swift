import Foundation
import Support
import Synchronization
import Testing

@testable import Operations

@Suite struct DependencyQueueTests {
  let queue = OperationQueue()
  let dependencyQueue: DependencyQueue

  init() {
    queue.maxConcurrentOperationCount = 2
    dependencyQueue = DependencyQueue(feeding: queue)
  }

  /// Finishes at once and keeps its number.
  final class Step: AsyncOperation, @unchecked Sendable {
    // Safe: constants.
    let number: Int
    let journal: Journal<Int>

    init(_ number: Int, _ journal: Journal<Int>) {
      self.number = number
      self.journal = journal
    }

    override func main() {
      journal.add(number)
      finish()
    }
  }

  func steps(_ count: Int, _ journal: Journal<Int>) -> [Step] { (0..<count).map { Step($0, journal) } }

  // MARK: Entering

  @Test func onlyAFewMoreThanTheWidthAreInTheQueue() throws {
    let operations = (0..<100).map { _ in ManualOperation() }
    try dependencyQueue.add(operations)
    #expect(eventually { operations.count(where: \.isExecuting) == 2 })
    #expect(queue.operations.count == 4)
    #expect(dependencyQueue.unfinishedCount == 100)
    for operation in operations {
      #expect(eventually { operation.isExecuting })
      // As fast as this, it is a rush.
      #expect(queue.operations.count <= 2 + PrefetchWindow.largest)
      operation.finish()
    }
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(dependencyQueue.unfinishedCount == 0)
  }

  @Test func whatIsNotReadyIsNotInTheQueue() throws {
    let first = ManualOperation()
    let last = ManualOperation()
    last.addDependency(first)
    try dependencyQueue.add([last, first])
    #expect(eventually { first.isExecuting })
    #expect(queue.operations == [first])
    first.finish()
    #expect(eventually { last.isExecuting })
    last.finish()
    dependencyQueue.waitUntilAllOperationsAreFinished()
  }

  @Test func aSuspendedQueueStartsNothing() throws {
    queue.isSuspended = true
    let journal = Journal<Int>()
    try dependencyQueue.add(steps(10, journal))
    #expect(queue.operations.count == 4 && journal.count == 0)
    queue.isSuspended = false
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(journal.count == 10)
  }

  @Test func aGreaterWidthTakesEffectAtOnce() throws {
    let operations = (0..<20).map { _ in ManualOperation() }
    try dependencyQueue.add(operations)
    #expect(eventually { operations.count(where: \.isExecuting) == 2 })
    dependencyQueue.maxConcurrentOperationCount = 10
    #expect(eventually { operations.count(where: \.isExecuting) == 10 })
    for operation in operations { operation.finish() }
    dependencyQueue.waitUntilAllOperationsAreFinished()
  }

  @Test func aQueueWithoutALimitGetsAllThatIsReady() throws {
    queue.maxConcurrentOperationCount = OperationQueue.defaultMaxConcurrentOperationCount
    let operations = (0..<200).map { _ in ManualOperation() }
    try dependencyQueue.add(operations)
    #expect(eventually { operations.allSatisfy(\.isExecuting) })
    for operation in operations { operation.finish() }
    dependencyQueue.waitUntilAllOperationsAreFinished()
  }

  // MARK: Order

  @Test func equalsRunInTheOrderInWhichTheyWereAdded() throws {
    queue.maxConcurrentOperationCount = 1
    let journal = Journal<Int>()
    try dependencyQueue.add(steps(3000, journal))
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(journal.entries == Array(0..<3000))
  }

  @Test func theMoreUrgentRunFirstThoughTheyComeLast() throws {
    queue.maxConcurrentOperationCount = 1
    queue.isSuspended = true
    let journal = Journal<Int>()
    let priorities: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]
    for (number, priority) in priorities.enumerated() {
      for _ in 0..<20 {
        let step = Step(number, journal)
        step.queuePriority = priority
        try dependencyQueue.add(step)
      }
    }
    queue.isSuspended = false
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(journal.entries == (0..<5).reversed().flatMap { Array(repeating: $0, count: 20) })
  }

  @Test func aPriorityMayChangeUntilItEnters() throws {
    queue.maxConcurrentOperationCount = 1
    let holder = ManualOperation()
    let journal = Journal<Int>()
    let operations = steps(10, journal)
    try dependencyQueue.add([holder] + operations)
    #expect(eventually { holder.isExecuting })
    // 0 and 1 have entered behind the holder. A more urgent operation enters at once, others stay in line.
    operations[9].queuePriority = .high
    operations[8].queuePriority = .veryHigh
    operations[2].queuePriority = .low
    operations[3].queuePriority = .veryLow
    operations[3].queuePriority = .normal
    holder.finish()
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(journal.entries == [8, 9, 0, 1, 4, 5, 6, 7, 3, 2])
  }

  // MARK: Cancelling

  @Test func whatIsCancelledWhileItWaitsEndsAlsoInASuspendedQueue() throws {
    queue.isSuspended = true
    let first = ManualOperation("first")
    let middle = ManualOperation("middle")
    let last = ManualOperation("last")
    middle.addDependency(first)
    last.addDependency(middle)
    try dependencyQueue.add([first, middle, last])
    middle.cancel()
    #expect(middle.isFinished && middle.mainCount == 0)
    #expect(last.state == .ready)
    queue.isSuspended = false
    for operation in [first, last] {
      #expect(eventually { operation.isExecuting })
      operation.finish()
    }
    dependencyQueue.waitUntilAllOperationsAreFinished()
  }

  @Test func cancellingAHundredThousandThatWaitEndsThemAll() throws {
    let holder = ManualOperation()
    try dependencyQueue.add(holder)
    let operations = (0..<100_000).map { _ in ManualOperation() }
    for operation in operations { operation.addDependency(holder) }
    try dependencyQueue.add(operations)
    #expect(eventually { holder.isExecuting })
    dependencyQueue.cancelAllOperations()
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(operations.allSatisfy { $0.isFinished && $0.mainCount == 0 })
    #expect(holder.isFinished)
  }

  /// The end of a cancelled operation makes its dependents ready; they must be cancelled before they begin.
  @Test func whenAllAreCancelledNothingThatWaitsForAnotherBegins() throws {
    for _ in 0..<1000 {
      let first = ManualOperation()
      let middle = ManualOperation()
      let began = Journal<Bool>()
      let last = BlockOperation { began.add(true) }
      middle.addDependency(first)
      last.addDependency(middle)
      try dependencyQueue.add([first, middle, last])
      #expect(eventually { first.isExecuting })
      dependencyQueue.cancelAllOperations()
      dependencyQueue.waitUntilAllOperationsAreFinished()
      #expect(last.isCancelled && began.count == 0 && middle.mainCount == 0)
    }
  }

  @Test func cancelRacingTheDependencyQueueLosesNothing() throws {
    for _ in 0..<100 {
      let operations = (0..<30).map { _ in ManualOperation() }
      for (index, operation) in operations.enumerated().dropFirst() where index % 3 == 0 {
        operation.addDependency(operations[index - 1])
      }
      let dependencyQueue = dependencyQueue
      race([
        { try? dependencyQueue.add(operations) },
        { for operation in operations { operation.cancel() } },
        { for operation in operations.reversed() { operation.cancel() } },
        { for operation in operations { operation.queuePriority = .high } },
        { for operation in operations { operation.finish() } },
      ])
      #expect(eventually { operations.allSatisfy(\.isFinished) && dependencyQueue.unfinishedCount == 0 })
    }
  }

  // MARK: Foreign operations

  @Test func aBlockOperationWaitsForOurs() throws {
    let journal = Journal<String>()
    let fetch = ManualOperation()
    let parse = BlockOperation { journal.add("parse") }
    parse.addDependency(fetch)
    try dependencyQueue.add([parse, fetch])
    #expect(eventually { fetch.isExecuting })
    #expect(queue.operations == [fetch])
    fetch.finish()
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(journal.entries == ["parse"])
  }

  @Test func oursAndForeignRunInOneGraph() throws {
    let journal = Journal<Int>()
    var previous: Operation?
    var all: [Operation] = []
    for number in 0..<200 {
      let operation: Operation =
        number % 2 == 0 ? Step(number, journal) : BlockOperation { journal.add(number) }
      if let previous { operation.addDependency(previous) }
      previous = operation
      all.append(operation)
    }
    try dependencyQueue.add(all)
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(journal.entries == Array(0..<200))
  }

  @Test func aForeignDependencyMayStandOutsideTheDependencyQueue() throws {
    let outside = BlockOperation {}
    let block = BlockOperation {}
    block.addDependency(outside)
    let ours = ManualOperation()
    ours.addDependency(outside)
    try dependencyQueue.add([block, ours])
    #expect(queue.operations.isEmpty)
    outside.start()
    #expect(eventually { ours.isExecuting && block.isFinished })
    ours.finish()
    dependencyQueue.waitUntilAllOperationsAreFinished()
  }

  @Test func aCancelledForeignOperationIsKeptWhileFoundationReadsIt() throws {
    let first = ManualOperation()
    queue.addOperation(first)
    weak var block: BlockOperation?
    do {
      let cancelled = BlockOperation {}
      block = cancelled
      cancelled.addDependency(first)
      cancelled.cancel()
      try dependencyQueue.add(cancelled)
      #expect(eventually { cancelled.isFinished })
    }
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(block != nil)
    first.finish()
    #expect(eventually { block == nil })
  }

  @Test func aCycleOfForeignOperationsIsRefusedAndNothingIsAdded() {
    let a = BlockOperation {}
    let b = BlockOperation {}
    let c = BlockOperation {}
    for (operation, name) in [(a, "a"), (b, "b"), (c, "c")] { operation.name = name }
    a.addDependency(b)
    b.addDependency(c)
    c.addDependency(a)
    do {
      try dependencyQueue.add([a, b, c])
      Issue.record("the cycle was added")
    } catch {
      #expect(error.names == ["a", "b", "c", "a"])
    }
    #expect(dependencyQueue.unfinishedCount == 0)
    // A cycle is never freed by itself.
    c.removeDependency(a)
  }

  @Test func aCycleThatForeignLinksCloseLaterIsRefusedWhenItEnters() {
    let ours = ManualOperation("ours")
    let block = BlockOperation {}
    block.name = "block"
    ours.addDependency(block)
    block.addDependency(ours)
    #expect(codeOfError { try dependencyQueue.add([ours, block]) } == .dependencyCycle)
    #expect(dependencyQueue.unfinishedCount == 0)
    // Nothing of a cycle is freed before it has finished.
    ours.cancel()
    queue.addOperations([ours, block], waitUntilFinished: true)
  }

  // MARK: A hundred thousand

  static let many = 100_000

  @Test func aChainOfAHundredThousandRunsInOrder() throws {
    let journal = Journal<Int>()
    do {
      let operations = steps(Self.many, journal)
      for (next, previous) in zip(operations.dropFirst(), operations) { next.addDependency(previous) }
      try dependencyQueue.add(operations.reversed())
    }
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(journal.entries == Array(0..<Self.many))
  }

  @Test func aFanOutToAHundredThousandRuns() throws {
    let journal = Journal<Int>()
    let operations = steps(Self.many, journal)
    for operation in operations.dropFirst() { operation.addDependency(operations[0]) }
    try dependencyQueue.add(operations)
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(journal.count == Self.many && journal.entries[0] == 0)
  }

  @Test func aFanInFromAHundredThousandRuns() throws {
    let journal = Journal<Int>()
    let operations = steps(Self.many, journal)
    let last = operations[Self.many - 1]
    for operation in operations.dropLast() { last.addDependency(operation) }
    try dependencyQueue.add(operations)
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(journal.count == Self.many && journal.entries.last == Self.many - 1)
  }

  @Test func aLayeredGraphOfAHundredThousandRunsLayerByLayer() throws {
    let journal = Journal<Int>()
    let width = 1000
    let operations = steps(Self.many, journal)
    for index in width..<Self.many {
      let row = (index / width - 1) * width
      for step in 0..<3 { operations[index].addDependency(operations[row + (index + step * 37) % width]) }
    }
    try dependencyQueue.add(operations.reversed())
    dependencyQueue.waitUntilAllOperationsAreFinished()
    var place = [Int](repeating: 0, count: Self.many)
    for (position, number) in journal.entries.enumerated() { place[number] = position }
    #expect(Set(journal.entries).count == Self.many)
    for index in width..<Self.many {
      let row = (index / width - 1) * width
      for step in 0..<3 where place[row + (index + step * 37) % width] > place[index] {
        Issue.record("\(index) ran before what it depends on")
      }
    }
  }

  @Test func twoDependencyQueuesShareOneGraph() throws {
    let other = DependencyQueue(feeding: OperationQueue())
    let journal = Journal<Int>()
    let operations = steps(2000, journal)
    for (next, previous) in zip(operations.dropFirst(), operations) { next.addDependency(previous) }
    for (index, operation) in operations.enumerated() { try (index % 2 == 0 ? dependencyQueue : other).add(operation) }
    dependencyQueue.waitUntilAllOperationsAreFinished()
    other.waitUntilAllOperationsAreFinished()
    #expect(journal.entries == Array(0..<2000))
  }

  // MARK: Ends

  @Test func itTellsWhenItIsEmpty() throws {
    let journal = Journal<String>()
    dependencyQueue.whenEmpty(on: .global()) { journal.add("empty from the beginning") }
    #expect(eventually { journal.count == 1 })
    let operation = ManualOperation()
    try dependencyQueue.add(operation)
    dependencyQueue.whenEmpty(on: .global()) { journal.add("empty again") }
    #expect(eventually { operation.isExecuting })
    #expect(journal.count == 1)
    operation.finish()
    #expect(eventually { journal.entries == ["empty from the beginning", "empty again"] })
  }

  @Test func itKeepsNeitherOperationsNorItselfAfterTheEnd() throws {
    weak var goneOperation: ManualOperation?
    weak var goneDependencyQueue: DependencyQueue?
    do {
      let dependencyQueue = DependencyQueue(feeding: OperationQueue())
      let operation = ManualOperation()
      let block = BlockOperation {}
      block.addDependency(operation)
      goneDependencyQueue = dependencyQueue
      goneOperation = operation
      try dependencyQueue.add([operation, block])
      #expect(eventually { operation.isExecuting })
      operation.finish()
      dependencyQueue.waitUntilAllOperationsAreFinished()
    }
    #expect(eventually { goneOperation == nil && goneDependencyQueue == nil })
  }

  @Test func anOperationIsAddedOnce() async {
    await #expect(processExitsWith: .failure) {
      let dependencyQueue = DependencyQueue(feeding: OperationQueue())
      let operation = ManualOperation()
      try dependencyQueue.add(operation)
      try dependencyQueue.add(operation)
    }
  }
}

extension DependencyQueueTests {
  @Test func theOperationsOfADependencyQueueAreThoseThatHaveNotFinished() throws {
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    let first = ManualOperation()
    let second = ManualOperation()
    let foreign = BlockOperation {}
    second.addDependency(first)
    foreign.addDependency(second)
    try dependencyQueue.add([first, second, foreign])
    #expect(Set(dependencyQueue.operations) == [first, second, foreign])
    #expect(eventually { first.isExecuting })
    first.finish()
    #expect(eventually { Set(dependencyQueue.operations) == [second, foreign] && second.isExecuting })
    second.finish()
    #expect(eventually { dependencyQueue.operations.isEmpty })
  }

  @Test func aMemberThatWaitsAgainIsCountedEachTime() throws {
    queue.isSuspended = true
    let (gate, operation) = (ManualOperation("gate"), ManualOperation("operation"))
    try dependencyQueue.add([operation])
    for _ in 0..<3 {
      #expect(!dependencyQueue.mayBeStuckNow)
      operation.addDependency(gate)
      #expect(dependencyQueue.mayBeStuckNow)
      operation.removeDependency(gate)
    }
    operation.cancel()
    queue.isSuspended = false
    dependencyQueue.waitUntilAllOperationsAreFinished()
  }
}
