import Foundation
import Support
import Testing

@testable import Operations

/// What an operation produces, or a closure makes for it, is run with all that it depends on and that nobody runs.
@Suite struct ProducedOperationsTests {
  struct Fault: Error {}

  typealias Step = Operations.ClosureOperation
  let queue = OperationQueue()

  func value<Value>(of operation: ResultOperation<Value>) -> Value? {
    queue.addOperation(operation)
    #expect(eventually { operation.isFinished })
    return try? operation.outcome?.get()
  }

  /// The last of a chain of which no other operation has a name.
  @Sendable static func chain(_ value: Int) -> ResultOperation<Int> {
    (0..<value).map { number in Step { number }.then { $0 + 1 } }.collected().reduce(0, +)
  }

  // MARK: Every kind

  @Test func anAttemptIsRunWithWhatItDependsOn() {
    let attempts = Journal<Int>()
    let retry = RetryOperation(retries: 2, backoff: .constant(.zero)) { number in
      Step {
        attempts.add(number)
        if number < 3 { throw Fault() }
        return 4
      }.then { $0 + 6 }
    }
    #expect(value(of: retry) == 10 && attempts.entries == [1, 2, 3])
  }

  @Test func eachTimeOfARepetitionIsRunWithWhatItDependsOn() {
    let repetition = RepeatOperation(times: 3) { number in Self.chain(number) }
    #expect(value(of: repetition) == 6)
  }

  @Test func whatFlatMapMakesIsRunWithWhatItDependsOn() {
    let source = Step { 4 }
    let sum = source.flatMap { Self.chain($0) }
    queue.addOperation(source)
    #expect(value(of: sum) == 10)
  }

  @Test func childrenAreRunWithTheSourcesOfTheirValues() {
    #expect(value(of: ResultGroup([Self.chain(2), Self.chain(3)])) == [3, 6])
    let (early, late) = (Self.chain(2), Self.chain(3))
    let starter = ManualOperation()
    let group = GroupOperation([early, starter])
    queue.addOperation(group)
    #expect(eventually { starter.isExecuting })
    #expect(throws: Never.self) { try group.add(late) }
    #expect(eventually { early.isFinished && late.isFinished })
    starter.finish()
    #expect(eventually { group.isFinished } && group.failure == nil && group.progress.fraction == 1)
  }

  @Test func aProductIsRunWithWhatItDependsOn() throws {
    let inQueue = Self.chain(2)
    queue.addOperation(Step { $0.produce(inQueue) })
    let inDependencyQueue = Self.chain(3)
    let dependencyQueue = DependencyQueue(feeding: queue)
    try dependencyQueue.add(Step { $0.produce(inDependencyQueue) })
    let inGroup = Self.chain(4)
    queue.addOperation(GroupOperation([Step { $0.produce(inGroup) }]))
    let last = [inQueue, inDependencyQueue, inGroup]
    #expect(eventually { last.allSatisfy(\.isFinished) })
    #expect(try last.map { try $0.outcome?.get() } == [3, 6, 10])
  }

  @Test func aProductOfAnOperationThatWaitedAtItsStartIsInItsQueue() async throws {
    let product = Step { OperationQueue.current.map(ObjectIdentifier.init) }
    let operation = Step { $0.produce(product) }
    operation.beforeExecuting { _ in await Task.yield() }
    queue.addOperation(operation)
    #expect(await soon { product.isFinished })
    #expect(try product.outcome?.get() == ObjectIdentifier(queue))
  }

  @Test func whatAConditionNeedsFirstIsRunWithWhatItDependsOn() async throws {
    let (first, second) = (Self.chain(3), Self.chain(4))
    let operation = Step { 1 }
    operation.addCondition(OperationCondition("first", after: { _ in first }) { _ in first.isFinished })
    queue.addOperation(operation)
    #expect(await soon { operation.isFinished } && operation.failure == nil)
    let other = Step { 2 }
    other.addCondition(OperationCondition("second", after: { _ in second }) { _ in second.isFinished })
    let dependencyQueue = DependencyQueue(feeding: queue)
    try dependencyQueue.add(other)
    #expect(await soon { other.isFinished } && other.failure == nil)
  }

  @Test func operationsOfAnyClassAreRunWithTheProduct() {
    let ran = Journal<Int>()
    let retry = RetryOperation(retries: 0) { _ in
      let blocks = (0..<3).map { number in BlockOperation { ran.add(number) } }
      blocks[1].addDependency(blocks[0])
      blocks[2].addDependency(blocks[1])
      let last = Step { ran.count }
      last.addDependency(blocks[2])
      return last
    }
    #expect(value(of: retry) == 3 && ran.entries == [0, 1, 2])
  }

  @Test func theGroupThatAProductIsIsRunWithWhatItsChildrenDependOn() async {
    let ran = Journal<Int>()
    @Sendable func child(_ number: Int) -> ResultOperation<Int> {
      let (block, source) = (BlockOperation { ran.add(number) }, Step { number })
      source.addDependency(block)
      return source.then { $0 + 1 }
    }
    let retry = RetryOperation(retries: 0) { _ in ResultGroup([ResultGroup([child(1)]).map { $0[0] }, child(2)]) }
    #expect(value(of: retry) == [2, 3] && Set(ran.entries) == [1, 2])
    let operation = Step { 1 }
    let group = GroupOperation([child(3), GroupOperation([child(4)])])
    operation.addCondition(OperationCondition("first", after: { _ in group }) { _ in group.failure == nil })
    queue.addOperation(operation)
    #expect(await soon { operation.isFinished } && operation.failure == nil && Set(ran.entries) == [1, 2, 3, 4])
  }

  @Test func aGroupNeedsWhatItsChildrenDependOnButTheirSources() {
    let (first, second, source) = (ManualOperation(), BlockOperation {}, Step { 1 })
    source.addDependency(first)
    let (child, sibling) = (source.then { $0 + 1 }, Step { 2 })
    child.addDependency(second)
    child.addDependency(sibling)
    let group = GroupOperation([child, GroupOperation([Step { 3 }]), sibling])
    #expect(group.withDependencies == [first, second, group])
    group.cancel()
  }

  // MARK: What others run

  @Test func whatIsInAQueueIsLeftToIt() {
    let elsewhere = OperationQueue()
    elsewhere.isSuspended = true
    let (block, step) = (BlockOperation {}, Step { 1 })
    elsewhere.add([block, step])
    let last = step.then { $0 + 1 }
    last.addDependency(block)
    #expect(last.withDependencies == [last])
    let retry = RetryOperation(retries: 0) { _ in last }
    queue.addOperation(retry)
    #expect(eventually { last.withRareState { _ in last.parts.existingNode?.holder != nil } == true })
    #expect(elsewhere.operationCount == 2)
    elsewhere.isSuspended = false
    #expect(eventually { retry.isFinished } && (try? retry.outcome?.get()) == 2)
  }

  @Test func theChildOfAGroupThatHasNotBegunIsLeftToIt() {
    let source = Step { 1 }
    let group = GroupOperation([source])
    let last = source.then { $0 + 1 }
    #expect(last.withDependencies == [last])
    queue.addOperation(RetryOperation(retries: 0) { _ in last })
    queue.addOperation(group)
    #expect(eventually { last.isFinished && group.isFinished } && group.failure == nil)
  }

  @Test func whatADependencyQueueOrAnAdapterHoldsIsLeftToIt() throws {
    let (gate, first) = (ManualOperation(), ManualOperation())
    let (member, adapted) = (BlockOperation {}, BlockOperation {})
    member.addDependency(gate)
    let adapter = AdaptedOperation(adapted)
    adapter.addDependency(gate)
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    try dependencyQueue.add([member, adapter])
    let last = Step { 1 }
    for dependency in [first, member, adapted] { last.addDependency(dependency) }
    #expect(last.withDependencies == [first, last])
    queue.addOperation(RetryOperation(retries: 0) { _ in last })
    #expect(eventually { first.isExecuting })
    first.finish()
    queue.addOperation(gate)
    #expect(eventually { gate.isExecuting })
    gate.finish()
    #expect(eventually { last.isFinished } && adapter.isFinished && member.isFinished)
  }

  @Test func whatSeveralProductsDependOnIsRunOnce() {
    for _ in 0..<200 {
      let ran = Journal<Int>()
      let login = Step { ran.add(1) }
      let block = BlockOperation { ran.add(2) }
      login.addDependency(block)
      let fetches = (0..<4).map { number in
        RetryOperation(retries: 0) { _ in
          let fetch = Step { number }
          fetch.addDependency(login)
          return fetch
        }
      }
      race(fetches.map { fetch in { self.queue.addOperation(fetch) } })
      #expect(eventually { fetches.allSatisfy(\.isFinished) })
      #expect(ran.entries == [2, 1])
    }
  }

  // MARK: Ends

  @Test func aCancellationReachesWhatTheAttemptDependsOn() {
    let first = ClosureOperation({ _ in }, onCancel: { _ in })
    let last = Step { 1 }
    last.addDependency(first)
    let retry = RetryOperation(retries: 3) { _ in last }
    queue.addOperation(retry)
    #expect(eventually { first.isExecuting })
    retry.cancel()
    #expect(eventually { first.isCancelled && last.isFinished })
    // It ends after all that it has begun.
    #expect(!retry.isFinished)
    first.finish()
    #expect(eventually { retry.isFinished } && retry.failure is CancellationError)
  }

  @Test func aProductOfAHundredThousandIsRunAndFreedFlat() async {
    await #expect(processExitsWith: .success) {
      try Self.runProducts(of: 100_000)
    }
  }

  private static func runProducts(of count: Int) throws {
    let retry = RetryOperation(retries: 0) { _ in
      var last: ResultOperation<Int> = Step { 0 }
      for _ in 0..<count { last = last.then { $0 + 1 } }
      return last
    }
    let queue = OperationQueue()
    queue.addOperations([retry], waitUntilFinished: true)
    let gathered = Step { count }.flatMap { count in (0..<count).map { number in Step { number } }.collected() }
    queue.addOperations(gathered.withDependencies, waitUntilFinished: true)
    let isRight = try retry.outcome?.get() == count && gathered.outcome?.get().count == count
    exit(isRight ? EXIT_SUCCESS : 2)
  }
}
