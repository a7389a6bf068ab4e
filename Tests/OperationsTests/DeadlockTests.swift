import Foundation
import Support
import Synchronization
import Testing

@testable import Operations

/// A queue that does not answer whether it is suspended while it is closed.
private final class GatedQueue: OperationQueue, @unchecked Sendable {
  // Safe: atomics.
  let isClosed = Atomic(false)
  let isAsked = Atomic(false)

  override var isSuspended: Bool {
    get {
      if isClosed.load(ordering: .relaxed) {
        isAsked.store(true, ordering: .relaxed)
        _ = eventually { !isClosed.load(ordering: .relaxed) }
      }
      return super.isSuspended
    }
    set { super.isSuspended = newValue }
  }
}

/// Operations that would wait for each other for ever are refused when that can be known, else found and broken.
@Suite struct DeadlockTests {
  let queue = OperationQueue()

  func exclusive(_ operation: AsyncOperation, _ category: ExclusionCategory) -> AsyncOperation {
    operation.addCondition(.mutuallyExclusive(category))
    return operation
  }

  func named(_ name: String, _ children: [Operation]) -> GroupOperation {
    let group = GroupOperation(children)
    group.name = name
    return group
  }

  func awaitCount(of operation: AsyncOperation) -> Int {
    DependencyGraph.contents.withLock { $0.awaits.ends(before: operation).count }
  }

  // MARK: Refused

  @Test func aChildCannotWaitForItsGroup() {
    let child = ManualOperation("child")
    let group = named("group", [child])
    #expect(codeOfError { try child.addDependencyOrThrow(group) } == .dependencyCycle)
    let other = ManualOperation("other")
    other.addDependency(group)
    do {
      try child.addDependencyOrThrow(other)
      Issue.record("it was added")
    } catch {
      #expect(error.names == ["child", "other", "group", "child"])
    }
  }

  @Test func aGroupCannotWaitForItsChild() {
    let child = ManualOperation("child")
    let group = named("group", [child])
    let other = ManualOperation("other")
    other.addDependency(child)
    #expect(codeOfError { try group.addDependencyOrThrow(child) } == .dependencyCycle)
    #expect(codeOfError { try group.addDependencyOrThrow(other) } == .dependencyCycle)
    // Of a group in a group likewise.
    let outer = named("outer", [group])
    #expect(codeOfError { try outer.addDependencyOrThrow(child) } == .dependencyCycle)
    #expect(codeOfError { try child.addDependencyOrThrow(outer) } == .dependencyCycle)
  }

  @Test func whatWaitsForAGroupCannotBecomeItsChild() {
    let group = named("group", [])
    let child = ManualOperation("child")
    child.addDependency(group)
    let next = ManualOperation("next")
    next.addDependency(child)
    for late in [child, next] { #expect(codeOfError { try group.add(late) } == .dependencyCycle) }
    let awaited = ManualOperation("awaited")
    let after = named("after", [])
    after.addDependency(awaited)
    do {
      try after.add(awaited)
      Issue.record("it was added")
    } catch {
      #expect("\(error)".contains("after -> awaited -> after"))
    }
  }

  @Test func linksAmongChildrenAndToOthersAreAllowed() throws {
    let outside = ManualOperation("outside")
    let children = (0..<3).map { ManualOperation("\($0)") }
    children[1].addDependency(children[0])
    let group = named("group", [children[0], children[1]])
    try group.add(children[2])
    try children[2].addDependencyOrThrow(children[1])
    try children[0].addDependencyOrThrow(outside)
    try group.addDependencyOrThrow(outside)
    let next = ManualOperation("next")
    try next.addDependencyOrThrow(group)
    try next.addDependencyOrThrow(children[0])
  }

  @Test(arguments: [0, -2]) func aGroupWithoutWidthIsAFault(_ width: Int) async {
    let result =
      width == 0
      ? await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = GroupOperation(width: 0) }
      : await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { GroupOperation().width = -2 }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(words.contains("its width is at least 1"))
  }

  // MARK: Found

  @Test func twoGroupsWhoseChildrenWantTheCategoryOfTheOtherEnd() {
    for _ in 0..<50 {
      let (p, q) = (ExclusionCategory("p"), ExclusionCategory("q"))
      let first = exclusive(named("first", [exclusive(Quick("a"), q)]), p)
      let second = exclusive(named("second", [exclusive(Quick("b"), p)]), q)
      queue.add([first, second])
      #expect(eventually { first.isFinished && second.isFinished })
      for group in [first, second] {
        guard let failure = group.failure as? OperationError else { continue }
        let deadlock = failure.underlying.first as? OperationError
        #expect(deadlock?.code == .deadlock && deadlock?.names.count == 5)
      }
    }
  }

  @Test func itIsFoundWhenTheFirstGroupWasAdmittingItsChildMeanwhile() {
    let (p, q) = (ExclusionCategory("admitted p"), ExclusionCategory("admitted q"))
    let holder = exclusive(ManualOperation("holder"), q)
    queue.addOperation(holder)
    #expect(eventually { holder.isExecuting })
    let gated = GatedQueue()
    let child = exclusive(Quick("a"), q)
    let first = exclusive(named("first", [child]), p)
    gated.addOperation(first)
    #expect(eventually { first.isExecuting && child.withRareState { $0.request != nil } == true })
    let serial = DispatchQueue(label: "second")
    let seconds = OperationQueue()
    seconds.underlyingQueue = serial
    let second = exclusive(named("second", [exclusive(Quick("b"), p)]), q)
    // The child has the turn and is being admitted; then the second group, which has it too after a while, starts.
    gated.isClosed.store(true, ordering: .relaxed)
    Thread.detachNewThread { holder.finish() }
    #expect(eventually { gated.isAsked.load(ordering: .relaxed) })
    seconds.addOperation(second)
    #expect(eventually { second.isExecuting })
    serial.sync {}
    #expect(!first.isFinished && !second.isFinished)
    gated.isClosed.store(false, ordering: .relaxed)
    #expect(eventually { first.isFinished && second.isFinished })
  }

  @Test func aChildThatWaitsForAnOutsiderThatWaitsForItsGroupIsFound() {
    let outsider = exclusive(Quick("outsider"), "x")
    let child = Quick("child")
    child.addDependency(outsider)
    let group = exclusive(named("group", [child]), "x")
    queue.addOperation(group)
    #expect(eventually { group.isExecuting })
    queue.addOperation(outsider)
    #expect(eventually { group.isFinished && outsider.isFinished && child.isFinished })
    let failures = [outsider, child].compactMap { $0.failure(.deadlock) }
    #expect(failures.count == 1)
    #expect(failures.first.map { Set($0.names) } == ["outsider", "group", "child"])
    #expect("\(failures.first.map { "\($0)" } ?? "")".contains("was cancelled because these wait for each other"))
  }

  @Test func theOutsiderMayHaveBeenInLineFirst() {
    let holder = exclusive(ManualOperation("holder"), "y")
    let outsider = exclusive(Quick("outsider"), "y")
    let child = Quick("child")
    child.addDependency(outsider)
    let group = exclusive(named("group", [child]), "y")
    queue.addOperation(holder)
    #expect(eventually { holder.isExecuting })
    queue.addOperation(group)
    // Its queue does not start it: the group takes the turn.
    let slow = OperationQueue()
    slow.isSuspended = true
    slow.addOperation(outsider)
    holder.finish()
    #expect(eventually { group.isFinished })
    slow.isSuspended = false
    #expect(eventually { outsider.isFinished })
    let failures = [child.failureCode, outsider.failureCode]
    #expect(failures.count { $0 == .deadlock } == 1)
  }

  @Test func aGroupThatWaitsForAnOutsiderThatGoesOnIsLeftAlone() {
    let outsider = ManualOperation("outsider")
    let other = ManualOperation("other")
    let child = Quick("child")
    child.addDependency(outsider)
    let group = named("group", [child, other])
    queue.add([group, outsider])
    #expect(eventually { other.isExecuting && outsider.isExecuting })
    other.finish()
    #expect(eventually { other.isFinished })
    outsider.finish()
    #expect(eventually { group.isFinished })
    #expect(group.failure == nil && child.failure == nil)
  }

  @Test func twoQueuesWhoseConditionsRunFirstWhatDependsOnTheOtherEnd() async {
    let other = OperationQueue()
    let (first, second) = (Quick("first"), Quick("second"))
    func condition(_ name: String, on operation: AsyncOperation) -> OperationCondition {
      let before = Quick(name)
      before.addDependency(operation)
      return OperationCondition(name, after: { _ in before }, { _ in true })
    }
    first.addCondition(condition("before first", on: second))
    second.addCondition(condition("before second", on: first))
    queue.addOperation(first)
    other.addOperation(second)
    #expect(await soon { first.isFinished && second.isFinished })
  }

  @Test func whatAConditionRunsFirstMayWantTheCategoryThatIsHeld() async {
    let before = exclusive(Quick("before"), "held by the condition")
    let operation = exclusive(Quick("operation"), "held by the condition")
    operation.addCondition(OperationCondition("condition", after: { _ in before }, { _ in true }))
    queue.addOperation(operation)
    #expect(await soon { operation.isFinished && before.isFinished })
    let deadlock = before.failure(.deadlock) ?? operation.failure(.deadlock)
    #expect(deadlock.map { Set($0.names) } == ["operation", "before"])
  }

  @Test func anExclusiveOperationMayAwaitOneOfItsCategory() async {
    let produced = exclusive(Quick("produced"), "awaited")
    let operation = TaskOperation { operation in
      operation.produce(produced)
      try await produced.untilFinished()
    }
    operation.name = "operation"
    queue.addOperation(exclusive(operation, "awaited"))
    #expect(await soon { operation.isFinished && produced.isFinished })
    #expect(produced.failure(.deadlock).map { Set($0.names) } == ["operation", "produced"])
    #expect(operation.failureCode == .deadlock)
  }

  @Test func aChildMayAwaitWhatWantsTheCategoryOfItsGroup() async {
    let stranger = exclusive(Quick("stranger"), "of the group")
    let child = TaskOperation { try await stranger.untilFinished() }
    child.name = "child"
    let inner = named("inner", [child])
    let group = exclusive(named("group", [inner, ManualOperation("other")]), "of the group")
    queue.addOperation(group)
    #expect(await soon { child.isExecuting })
    OperationQueue().addOperation(stranger)
    #expect(await soon { stranger.isFinished && child.isFinished })
    #expect(stranger.failure(.deadlock).map { Set($0.names) } == ["stranger", "group", "child"])
    group.cancel()
    #expect(await soon { group.isFinished })
  }

  @Test func whatATaskAwaitsAndWillEndIsLeftAlone() async {
    let awaited = exclusive(ManualOperation("awaited"), "left alone")
    let operation = TaskOperation { try await awaited.untilFinished() }
    queue.add([exclusive(operation, "another"), awaited])
    #expect(await soon { operation.isExecuting && awaited.isExecuting })
    awaited.finish()
    #expect(await soon { operation.isFinished })
    #expect(operation.failure == nil && awaited.failure == nil)
    #expect(await soon { awaitCount(of: operation) == 0 })
  }

  @Test(arguments: [false, true]) func whatAConditionAwaitsMayDependOnItsOperation(isTogether: Bool) async {
    let awaited = Quick("awaited")
    let operation = Quick("operation")
    awaited.addDependency(operation)
    let condition = OperationCondition("condition") { _ in
      try? await awaited.untilFinished()
      return true
    }
    operation.addCondition(isTogether ? .together(condition, OperationCondition("other") { _ in true }) : condition)
    queue.add([operation, awaited])
    #expect(await soon { operation.isFinished && awaited.isFinished })
    let deadlock = awaited.failure(.deadlock) ?? operation.failure(.deadlock)
    #expect(deadlock.map { Set($0.names) } == ["operation", "awaited"])
  }

  @Test func whatAHandlerAwaitsMayDependOnItsOperation() async {
    let (early, late) = (Quick("early"), Quick("late"))
    let operation = Quick("operation")
    for awaited in [early, late] { awaited.addDependency(operation) }
    operation.beforeExecuting { _ in try? await early.untilFinished() }
    operation.beforeFinishing { _ in try? await late.untilFinished() }
    queue.add([operation, early, late])
    #expect(await soon { [operation, early, late].allSatisfy(\.isFinished) })
    #expect([early, operation].contains { $0.failure(.deadlock)?.names.contains("early") == true })
  }

  @Test func resultsOfOperationsThatWantTheReadersCategoryMayBeRead() async {
    let produced = (0..<3).map { number in Operations.ClosureOperation { number } }
    for (number, each) in produced.enumerated() {
      _ = exclusive(each, "read")
      each.name = "produced \(number)"
    }
    let reader = TaskOperation { operation in
      for each in produced { operation.produce(each) }
      for await _ in produced.outcomes() {}
    }
    reader.name = "reader"
    queue.addOperation(exclusive(reader, "read"))
    #expect(await soon { reader.isFinished && produced.allSatisfy(\.isFinished) })
    for each in produced {
      #expect(each.failure(.deadlock).map { Set($0.names) } == ["reader", each.displayName])
    }
  }

  @Test func aResultThatWillComeIsWaitedFor() async {
    let (gate, blocked) = (ManualOperation("gate"), Operations.ClosureOperation { 2 })
    let free = Operations.ClosureOperation { 1 }
    free.addDependency(gate)
    let reader = TaskOperation { operation in
      for each in [free, blocked] { operation.produce(each) }
      for await _ in [free, blocked].outcomes() { break }
    }
    _ = exclusive(blocked, "read first")
    queue.addOperation(exclusive(reader, "read first"))
    queue.addOperation(gate)
    #expect(await soon { gate.isExecuting && awaitCount(of: reader) == 1 })
    // What is searched for a deadlock later has been searched for one before.
    let other = exclusive(Quick("other"), "read first")
    queue.addOperation(other)
    #expect(await soon { other.withRareState { $0.request != nil } == true })
    gate.finish()
    #expect(await soon { reader.isFinished && blocked.isFinished && other.isFinished })
    #expect([reader, blocked, other].allSatisfy { $0.failure == nil })
  }

  @Test func anAttemptMayWaitForAnOutsiderThatWantsTheCategoryOfTheRetry() {
    let outsider = exclusive(Quick("outsider"), "of the retry")
    let retry = RetryOperation(retries: 0) { _ in
      let attempt = Operations.ClosureOperation { 1 }
      attempt.name = "attempt"
      attempt.addDependency(outsider)
      return attempt
    }
    retry.name = "retry"
    // In a queue, so that it is not run with the attempt.
    let slow = OperationQueue()
    slow.isSuspended = true
    slow.addOperation(outsider)
    queue.addOperation(exclusive(retry, "of the retry"))
    // It may have ended by then.
    #expect(eventually { retry.state >= .executing })
    slow.isSuspended = false
    #expect(eventually { retry.isFinished && outsider.isFinished })
    let deadlock = outsider.failure(.deadlock) ?? retry.failure(.deadlock)
    #expect(deadlock.map { Set($0.names) } == ["outsider", "retry", "attempt"])
  }

  @Test func aChildOfAResultGroupMayWaitForAnOutsiderThatWantsItsCategory() {
    let outsider = exclusive(Quick("outsider"), "of the results")
    let child = Operations.ClosureOperation { 1 }
    child.name = "child"
    child.addDependency(outsider)
    let results = ResultGroup([child])
    results.name = "results"
    queue.addOperation(exclusive(results, "of the results"))
    #expect(eventually { results.isExecuting })
    queue.addOperation(outsider)
    #expect(eventually { results.isFinished && outsider.isFinished })
    let failures = [outsider, child].compactMap { $0.failure(.deadlock) }
    #expect(failures.map { Set($0.names) } == [["outsider", "results", "child"]])
  }

  @Test func aChildOfAResultGroupAndTheGroupCannotWaitForEachOther() {
    let child = Operations.ClosureOperation { 1 }
    let results = ResultGroup([child])
    #expect(codeOfError { try child.addDependencyOrThrow(results) } == .dependencyCycle)
    #expect(codeOfError { try results.addDependencyOrThrow(child) } == .dependencyCycle)
  }

  @Test(arguments: [false, true]) func whatAConditionRunsFirstTakesNoSlotOfItsQueue(isInGroup: Bool) async throws {
    queue.maxConcurrentOperationCount = 1
    let (before, operation) = (Quick("before"), exclusive(Quick("operation"), "with a slot"))
    operation.addCondition(OperationCondition("condition", after: { _ in before }, { _ in before.isFinished }))
    if isInGroup {
      queue.addOperation(GroupOperation(width: 1, [operation]))
    } else {
      try DependencyQueue(feeding: queue).add(operation)
    }
    #expect(await soon { operation.isFinished && before.isFinished })
    #expect(operation.failure == nil && before.failure == nil)
  }

  @Test func norDoesItInAQueueThatWasSuspended() async throws {
    queue.maxConcurrentOperationCount = 1
    queue.isSuspended = true
    let (before, operation) = (Quick("before"), Quick("operation"))
    operation.addCondition(OperationCondition("condition", after: { _ in before }, { _ in before.isFinished }))
    try DependencyQueue(feeding: queue).add(operation)
    #expect(await soon { queue.operationCount == 1 })
    queue.isSuspended = false
    #expect(await soon { operation.isFinished && before.isFinished })
    #expect(operation.failure == nil && before.failure == nil)
  }

  @Test func aLongCycleThroughAGroupIsFoundWhenTheGroupStalls() throws {
    // Longer than what is looked at when a dependency is added.
    let group = named("group", [])
    let child = Quick("child")
    try group.add(child)
    let chain = (0..<200).map { Quick("\($0)") }
    for (link, next) in zip(chain, chain.dropFirst()) { next.addDependency(link) }
    child.addDependency(try #require(chain.last))
    chain[0].addDependency(group)
    queue.add([group] + chain)
    #expect(eventually { group.isFinished && chain.allSatisfy(\.isFinished) })
  }

  final class Quick: AsyncOperation, @unchecked Sendable {
    init(_ name: String) {
      super.init()
      self.name = name
    }

    override func main() { finish() }
  }
}
