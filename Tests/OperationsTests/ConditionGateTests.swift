import Foundation
import Support
import Testing

@testable import Operations

/// The two gates of an operation with conditions, mostly of operations that the test starts by hand: whatever is
/// answered at once then happens on this thread, and what waits for its turn begins on another one.
@Suite struct ConditionGateTests {
  struct Refusal: Error {}

  /// The conditions that were asked.
  let asked = Journal<String>()

  func condition(_ name: String, refusing: OperationCondition.Refusal? = nil) -> OperationCondition {
    OperationCondition(
      name,
      .atOnce { [asked] _ in
        asked.add(name)
        return refusing
      })
  }

  func exclusive(_ category: ExclusionCategory) -> ManualOperation {
    let operation = ManualOperation()
    operation.addCondition(.mutuallyExclusive(category))
    return operation
  }

  /// Whether no operation holds the category or waits for it.
  func isForgotten(_ category: ExclusionCategory) -> Bool {
    DependencyGraph.contents.withLock { !$0.exclusion.has(category) }
  }

  // MARK: Questions

  @Test func conditionsAreAskedInOrderUntilOneFails() {
    let operation = ManualOperation()
    operation.addCondition(condition("a"))
    operation.addCondition(condition("b", refusing: .failure(Refusal())))
    operation.addCondition(condition("c"))
    #expect(operation.isReady && operation.conditions.map(\.name) == ["a", "b", "c"])
    #expect(asked.entries == [])
    operation.start()
    #expect(asked.entries == ["a", "b"])
    #expect(operation.isFinished && operation.mainCount == 0 && operation.conditions.isEmpty)
  }

  @Test func anOperationWhoseConditionsHoldBegins() {
    let operation = ManualOperation()
    for name in ["a", "b"] { operation.addCondition(condition(name)) }
    operation.start()
    #expect(operation.isExecuting && asked.entries == ["a", "b"])
    operation.finish()
    #expect(operation.failure == nil)
  }

  @Test(arguments: [{ $0.cancel() }, { $0.finish() }] as [@Sendable (ManualOperation) -> Void])
  func whatWillNotExecuteIsNotAsked(end: @Sendable (ManualOperation) -> Void) {
    let operation = ManualOperation()
    operation.addCondition(condition("a"))
    operation.addCondition(.mutuallyExclusive("not asked"))
    end(operation)
    operation.start()
    #expect(operation.isFinished && operation.mainCount == 0)
    #expect(asked.entries == [] && isForgotten("not asked"))
  }

  @Test func theErrorOfAConditionIsTheFailure() {
    func failure(_ refusal: OperationCondition.Refusal) -> (any Error)? {
      let operation = ManualOperation()
      operation.addCondition(condition("a", refusing: refusal))
      operation.start()
      let isCancelled = if case .cancellation = refusal { true } else { false }
      #expect(operation.isFinished && operation.isCancelled == isCancelled)
      return operation.failure
    }
    let reason = OperationCondition.Refusal.reason(Refusal(), "a", ManualOperation())
    #expect((failure(reason) as? OperationError)?.underlying.first is Refusal)
    #expect(failure(.failure(Refusal())) is Refusal)
    #expect(failure(.cancellation) is CancellationError)
  }

  /// The conditions of a member of a dependency queue are asked before it has a slot if one of them takes its time.
  @Test func oneSlowConditionMakesADependencyQueueAskFirst() {
    let slow = OperationCondition("slow") { _ in true }
    let quick = condition("quick")
    let orders = [[slow, quick], [quick, slow], [quick, quick], [.mutuallyExclusive("slow"), quick]]
    let mustAsk = orders.map { order in
      let operation = ManualOperation()
      for condition in order { operation.addCondition(condition) }
      return DependencyGraph.contents.withLock { _ in operation.parts.node.mustAsk }
    }
    #expect(mustAsk == [true, true, false, false])
  }

  @Test func aQueueAsksOnlyWhatBeforeExecutingAndExcludesNoOther() {
    func mustAsk(_ prepare: (ManualOperation) -> Void) -> Bool {
      let operation = ManualOperation()
      operation.addCondition(OperationCondition("slow") { _ in true })
      prepare(operation)
      return DependencyGraph.contents.withLock { _ in DependencyGraph.mustAsk(operation) }
    }
    #expect(mustAsk { _ in })
    #expect(!mustAsk { $0.cancel() })
    #expect(!mustAsk { $0.finish() })
    #expect(!mustAsk { $0.addCondition(.mutuallyExclusive("must ask")) })
    let free = ManualOperation()
    #expect(!DependencyGraph.contents.withLock { _ in DependencyGraph.mustAsk(free) })
  }

  @Test func aNewWaitMakesAnAnswerVoid() {
    let operation = ManualOperation()
    operation.addCondition(condition("a"))
    _ = operation.withRareState { $0.gate.ask() }
    DependencyGraph.contents.withLock { _ in DependencyGraph.forgetAnswer(operation) }
    #expect(operation.withRareState { $0.gate.answer } == .unasked)
  }

  @Test(arguments: [false, true]) func anAnswerToAnEarlierQuestionIsIgnored(holds: Bool) async throws {
    let waiting = Lock<[CheckedContinuation<Bool, Never>]>([])
    let operation = ManualOperation()
    let late = ManualOperation()
    operation.addCondition(
      OperationCondition("slow") { _ in
        await withCheckedContinuation { continuation in waiting.withLock { $0.append(continuation) } }
      })
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    try dependencyQueue.add(operation)
    #expect(await soon { waiting.withLock(\.count) == 1 })
    operation.addDependency(late)
    late.start()
    late.finish()
    #expect(await soon { waiting.withLock(\.count) == 2 })
    let continuations = waiting.withLock(\.self)
    continuations[0].resume(returning: !holds)
    // Whatever the first answer led to would have happened before this operation has gone through the dependency queue.
    let other = ManualOperation()
    other.addCondition(OperationCondition("slow") { _ in true })
    try dependencyQueue.add(other)
    #expect(await soon { other.isExecuting })
    other.finish()
    continuations[1].resume(returning: holds)
    #expect(await soon { operation.isExecuting || operation.isFinished })
    #expect(operation.isExecuting == holds && operation.mainCount == (holds ? 1 : 0))
    operation.finish()
  }

  // MARK: Turns

  @Test func ofACategoryOneExecutesAndTheNextFollows() {
    let operations = [exclusive("one"), exclusive("one")]
    for operation in operations { operation.start() }
    #expect(operations.map(\.isExecuting) == [true, false])
    operations[0].finish()
    #expect(eventually { operations[1].isExecuting })
    operations[1].finish()
    #expect(isForgotten("one"))
  }

  @Test func theEndOfAHolderDoesNotRunTheNextOne() {
    let finishing = Lock<pthread_t?>(nil)
    let isInTheEnd = Journal<Bool>()
    let holder = exclusive("end")
    let next = ClosureOperation { operation in
      isInTheEnd.add(finishing.withLock { $0 == pthread_self() })
      operation.finish()
    }
    next.addCondition(.mutuallyExclusive("end"))
    holder.start()
    next.start()
    finishing.withLock { $0 = pthread_self() }
    holder.finish()
    finishing.withLock { $0 = nil }
    #expect(eventually { next.isFinished } && isInTheEnd.entries == [false])
  }

  @Test func aSecondStartDoesNotChangeTheQueueOfTheFirst() {
    let (first, second) = (OperationQueue(), OperationQueue())
    let holder = exclusive("queue")
    let next = exclusive("queue")
    holder.start()
    for queue in [first, second] { queue.addOperations([BlockOperation { next.start() }], waitUntilFinished: true) }
    #expect(next.parts.existingRareState?.startQueue === first)
    holder.finish()
    #expect(eventually { next.isExecuting })
    next.finish()
  }

  @Test func categoriesOfSeveralConditionsAreTakenTogether() {
    let both = ManualOperation()
    both.addCondition(.mutuallyExclusive("left hand"))
    both.addCondition(.mutuallyExclusive("right hand"))
    let sides = [exclusive("left hand"), exclusive("right hand")]
    both.start()
    #expect(both.isExecuting)
    for side in sides { side.start() }
    #expect(sides.map(\.state) == [.pending, .pending])
    both.finish()
    #expect(eventually { sides.allSatisfy(\.isExecuting) })
    for side in sides { side.finish() }
    #expect(isForgotten("left hand") && isForgotten("right hand"))
  }

  @Test func conditionsAreAskedWhenTheTurnHasCome() {
    let holder = exclusive("turn")
    let second = exclusive("turn")
    second.addCondition(condition("a"))
    holder.start()
    second.start()
    #expect(asked.entries == [])
    holder.finish()
    #expect(eventually { second.isExecuting } && asked.entries == ["a"])
    second.finish()
  }

  /// It occupies a slot of its queue, which may be the last one.
  @Test(arguments: [false, true]) func aStartedOperationGoesBeforeThoseThatOnlyWait(wasInLine: Bool) {
    let category = ExclusionCategory("started \(wasInLine)")
    let holder = exclusive(category)
    let first = exclusive(category)
    let second = exclusive(category)
    holder.start()
    // As a queue does, to which it is added.
    #expect(!first.isReady)
    if wasInLine { #expect(!second.isReady) }
    second.start()
    holder.finish()
    #expect(eventually { second.isExecuting } && first.state == .pending)
    second.finish()
    #expect(first.state == .ready)
    first.start()
    first.finish()
    #expect(isForgotten(category))
  }

  @Test func anOperationStandsInLineOnceOnlyTheTurnIsMissing() {
    func stands(_ operation: ManualOperation) -> Bool { operation.withRareState { $0.request != nil } ?? false }
    let dependency = ManualOperation()
    let operation = exclusive("in line")
    #expect(!stands(operation))
    operation.addDependency(dependency)
    #expect(!operation.isReady)
    #expect(!stands(operation))
    dependency.start()
    dependency.finish()
    #expect(stands(operation) && operation.isReady)
    let another = exclusive("in line")
    another.addDependency(ManualOperation())
    #expect(!another.isReady)
    for dependency in another.dependencies { another.removeDependency(dependency) }
    #expect(stands(another))
    for operation in [operation, another] {
      operation.start()
      operation.finish()
    }
  }

  @Test func aConditionMayComeAfterTheDependencyQueue() throws {
    let dependency = ManualOperation()
    let operation = ManualOperation()
    operation.addDependency(dependency)
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    try dependencyQueue.add(operation)
    operation.addCondition(.mutuallyExclusive("late"))
    dependency.start()
    dependency.finish()
    #expect(eventually { operation.isExecuting })
    operation.finish()
    #expect(eventually { isForgotten("late") })
  }

  // MARK: Cancellation

  @Test func aCancelledOperationLeavesTheLineAndEndsAtOnce() {
    let operations = (0..<3).map { _ in exclusive("leaving") }
    for operation in operations { operation.start() }
    operations[1].cancel()
    #expect(operations[1].isFinished && operations[1].mainCount == 0)
    #expect(operations.map(\.isExecuting) == [true, false, false])
    operations[0].finish()
    #expect(eventually { operations[2].isExecuting })
    operations[2].finish()
    #expect(isForgotten("leaving"))
  }

  /// In a queue, it finishes only when the queue starts it.
  @Test func aCancelledOperationThatWasNotStartedIsInNobodysWay() {
    let holder = exclusive("not started")
    let waiting = exclusive("not started")
    holder.start()
    #expect(!waiting.isReady)
    waiting.cancel()
    holder.finish()
    #expect(!waiting.isFinished && isForgotten("not started"))
    waiting.start()
    #expect(waiting.isFinished && waiting.mainCount == 0)
  }

  @Test(arguments: [false, true]) func aCancelledHolderKeepsItsCategoryUntilItHasFinished(isInMain: Bool) {
    let category = ExclusionCategory("winding down \(isInMain)")
    let holder = ClosureOperation({ if isInMain { $0.cancel() } }, onCancel: { _ in })
    holder.addCondition(.mutuallyExclusive(category))
    let next = exclusive(category)
    holder.start()
    holder.cancel()
    next.start()
    #expect(holder.isExecuting && next.state == .pending)
    holder.finish()
    #expect(eventually { next.isExecuting })
    next.finish()
  }
}
