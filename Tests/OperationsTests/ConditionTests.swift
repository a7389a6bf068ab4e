import Foundation
import Support
import Testing

@testable import Operations

@Suite struct ConditionTests {
  struct Refusal: Error {}

  let queue = OperationQueue()

  init() { queue.maxConcurrentOperationCount = 1 }

  /// An answer that the test gives when it likes.
  final class Answer: Sendable {
    private let state = Lock<(asked: Int, waiting: [CheckedContinuation<Bool, Never>])>((0, []))

    var asked: Int { state.withLock(\.asked) }

    func condition(_ name: String = "answer") -> OperationCondition {
      OperationCondition(name) { _ in
        await withCheckedContinuation { continuation in
          self.state.withLock { state in
            state.asked += 1
            state.waiting.append(continuation)
          }
        }
      }
    }

    func give(_ holds: Bool) {
      for continuation in state.withLock({ state in
        defer { state.waiting = [] }
        return state.waiting
      }) { continuation.resume(returning: holds) }
    }
  }

  /// Finishes at once, with a value or an error.
  final class Step: ResultOperation<Int>, @unchecked Sendable {
    // Safe: constant.
    let error: (any Error)?
    init(_ error: (any Error)? = nil) { self.error = error }
    override func main() { if let error { finish(with: error) } else { finish(.success(1)) } }
  }

  func failed(_ operation: AsyncOperation, _ name: String) async -> Bool {
    await soon { operation.isFinished } && (operation.failure as? OperationError)?.condition == name
  }

  // MARK: Asking

  @Test func anOperationWhoseConditionHoldsExecutes() async {
    let operation = Step()
    operation.addCondition(OperationCondition("yes") { _ in true })
    queue.addOperation(operation)
    #expect(await soon { operation.isFinished })
    #expect(operation.failure == nil)
  }

  @Test func aFailedConditionKeepsAnOperationFromExecuting() async {
    let operation = ManualOperation("upload")
    let next = Step()
    next.addDependency(operation)
    operation.addCondition(OperationCondition("yes") { _ in true })
    operation.addCondition(OperationCondition("network") { _ in throw Refusal() })
    queue.add([operation, next])
    #expect(await soon { next.isFinished })
    #expect(operation.mainCount == 0 && !operation.isCancelled)
    let failure = operation.failure as? OperationError
    #expect(failure?.condition == "network" && failure?.underlying.first is Refusal)
    #expect("\(operation.failure.map { "\($0)" } ?? "")" == "upload did not execute: network: Refusal()")
    #expect(next.failure == nil)
  }

  @Test func aFailedConditionIsTheResultOfAResultOperation() async {
    let operation = Step()
    operation.addCondition(OperationCondition("no") { _ in false })
    queue.addOperation(operation)
    #expect(await failed(operation, "no"))
    guard case .failure(let error as OperationError) = operation.outcome else {
      Issue.record("\(String(describing: operation.outcome))")
      return
    }
    #expect((error.underlying.first as? OperationError)?.code == .doesNotHold)
  }

  // MARK: The instant

  @Test func inASuspendedQueueNothingIsAsked() async throws {
    let answer = Answer()
    let plain = Step()
    let fed = Step()
    let suspended = [OperationQueue(), OperationQueue()]
    for queue in suspended { queue.isSuspended = true }
    let dependencyQueue = DependencyQueue(feeding: suspended[1])
    for operation in [plain, fed] {
      operation.addCondition(answer.condition())
      #expect(operation.isReady)
    }
    suspended[0].addOperation(plain)
    try dependencyQueue.add(fed)
    // What a queue and a dependency queue do with a later operation they have done with this one before.
    let later = Step()
    later.addCondition(answer.condition())
    try dependencyQueue.add(later)
    #expect(plain.isReady && fed.isReady)
    for queue in suspended { queue.addBarrierBlock {} }
    #expect(answer.asked == 0)
    for queue in suspended { queue.isSuspended = false }
    #expect(await soon { answer.asked == 3 })
    answer.give(true)
    #expect(await soon { plain.isFinished && fed.isFinished && later.isFinished })
  }

  @Test(arguments: [false, true]) func whatTheOneBeforeChangesIsSeen(_ isFed: Bool) async throws {
    let isAllowed = Lock(false)
    let first = ManualOperation()
    let second = Step()
    let third = Step()
    second.addCondition(OperationCondition("allowed") { _ in isAllowed.withLock { $0 } })
    third.addCondition(
      OperationCondition("allowed", .atOnce { _ in isAllowed.withLock { $0 } ? nil : .failure(Refusal()) }))
    if isFed {
      try DependencyQueue(feeding: queue).add([first, second, third])
    } else {
      queue.add([first, second, third])
    }
    #expect(await soon { first.isExecuting })
    isAllowed.withLock { $0 = true }
    first.finish()
    #expect(await soon { second.isFinished && third.isFinished })
    #expect(second.failure == nil && third.failure == nil)
  }

  @Test func inAPlainQueueItKeepsItsSlotWhileItIsAsked() async {
    let answer = Answer()
    let asking = Step()
    asking.addCondition(answer.condition())
    let other = Step()
    queue.add([asking, other])
    #expect(await soon { answer.asked == 1 })
    #expect(!other.isFinished && asking.state == .ready)
    answer.give(true)
    #expect(await soon { asking.isFinished && other.isFinished })
    #expect(asking.failure == nil)
  }

  @Test func afterASlowAnswerMainIsCalledOnItsOwnMainQueue() async {
    let wasMain = Lock(Bool?.none)
    let operation = ClosureOperation { operation in
      wasMain.withLock { $0 = UIQueue.isCurrent }
      operation.finish()
    }
    operation.addCondition(
      OperationCondition("soon") { _ in
        await Task.yield()
        return true
      })
    OperationQueue.main.addOperation(operation)
    #expect(await soon { operation.isFinished })
    #expect(wasMain.withLock { $0 } == true)
  }

  @Test func inADependencyQueueItHoldsNoSlotWhileItIsAsked() async throws {
    let answer = Answer()
    let dependencyQueue = DependencyQueue(feeding: queue)
    let asking = (0..<10).map { _ in Step() }
    for operation in asking { operation.addCondition(answer.condition()) }
    let other = Step()
    try dependencyQueue.add(asking + [other])
    // A queue lets go of an operation a moment after its end.
    #expect(await soon { other.isFinished && answer.asked == 10 && queue.operations.isEmpty })
    answer.give(true)
    #expect(await soon { asking.allSatisfy(\.isFinished) })
    #expect(await soon { dependencyQueue.unfinishedCount == 0 })
  }

  @Test func itsConditionsAreAskedOnlyWhenItsDependenciesHaveFinished() async {
    let first = ManualOperation()
    let operation = Step()
    let seen = Journal<Bool>()
    operation.addDependency(first)
    operation.addCondition(
      OperationCondition("look") { _ in
        seen.add(first.isFinished)
        return true
      })
    queue.maxConcurrentOperationCount = 2
    queue.add([operation, first])
    #expect(await soon { first.isExecuting })
    #expect(seen.entries == [])
    first.finish()
    #expect(await soon { operation.isFinished })
    #expect(seen.entries == [true])
  }

  @Test func theyAreNotAskedBeforeItIsInAQueue() async {
    let answer = Answer()
    let operation = Step()
    let first = Step()
    operation.addCondition(answer.condition())
    operation.addDependency(first)
    first.start()
    #expect(first.isFinished && operation.state == .ready && operation.isReady)
    operation.removeDependency(first)
    #expect(answer.asked == 0)
    queue.addOperation(operation)
    #expect(await soon { answer.asked == 1 })
    answer.give(true)
    #expect(await soon { operation.isFinished })
  }

  @Test func aDependencyAddedWhileTheyAreAskedMakesThemBeAskedAgain() async throws {
    let answer = Answer()
    let late = ManualOperation()
    let operation = Step()
    operation.addCondition(answer.condition())
    let dependencyQueue = DependencyQueue(feeding: queue)
    try dependencyQueue.add(operation)
    #expect(await soon { answer.asked == 1 })
    operation.addDependency(late)
    answer.give(true)
    try dependencyQueue.add(late)
    #expect(await soon { late.isExecuting })
    #expect(operation.state == .pending)
    late.finish()
    #expect(await soon { answer.asked == 2 })
    answer.give(true)
    #expect(await soon { operation.isFinished })
  }

  @Test func aDependencyAddedAfterTheStartHasNoEffect() async {
    let answer = Answer()
    let late = ManualOperation()
    let operation = Step()
    operation.addCondition(answer.condition())
    queue.addOperation(operation)
    #expect(await soon { answer.asked == 1 })
    operation.addDependency(late)
    // The queue's width is one, and the operation has its slot.
    queue.addOperation(late)
    answer.give(true)
    #expect(await soon { operation.isFinished && late.isExecuting })
    late.finish()
  }

  @Test func startedByHandItBeginsWhenItsConditionsHold() async {
    let answer = Answer()
    let operation = ManualOperation()
    operation.addCondition(answer.condition())
    operation.start()
    #expect(await soon { answer.asked == 1 })
    #expect(operation.mainCount == 0)
    answer.give(true)
    #expect(await soon { operation.isExecuting })
    operation.finish()
    #expect(operation.isFinished && operation.failure == nil)
  }

  @Test func cancelledWhileItIsAskedItFinishesWithoutExecuting() async throws {
    let answer = Answer()
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    let byQueue = ManualOperation()
    let byDependencyQueue = ManualOperation()
    let byHand = ManualOperation()
    for operation in [byQueue, byDependencyQueue, byHand] { operation.addCondition(answer.condition()) }
    queue.addOperation(byQueue)
    try dependencyQueue.add(byDependencyQueue)
    byHand.start()
    #expect(await soon { answer.asked == 3 })
    for operation in [byQueue, byDependencyQueue, byHand] {
      operation.cancel()
      #expect(await soon { operation.isFinished })
      #expect(operation.mainCount == 0 && operation.failure is CancellationError)
    }
    answer.give(true)
    #expect(await soon { queue.operations.isEmpty })
    #expect(await soon { dependencyQueue.unfinishedCount == 0 })
  }

  @Test func theTaskThatAsksIsCancelledWithTheOperation() async {
    let asked = Journal<Bool>()
    let cancelled = Journal<Bool>()
    let operation = Step()
    operation.addCondition(
      OperationCondition("sleep") { _ in
        asked.add(true)
        do { try await Task.sleep(for: .seconds(3600)) } catch { cancelled.add(true) }
        return true
      })
    queue.addOperation(operation)
    #expect(await soon { asked.count == 1 })
    operation.cancel()
    #expect(await soon { operation.isFinished && (cancelled.count == 1) })
  }

  // MARK: Kinds

  @Test func conditionsCombine() async {
    let yes = OperationCondition("yes") { _ in true }
    let no = OperationCondition("no") { _ in false }
    let cases: [(OperationCondition, String?)] = [
      (.not(no), nil), (.not(yes), "not yes"), (.not(.not(yes)), nil),
      (.all(yes, .not(no)), nil), (.all(yes, no), "no"), (.all(), nil),
      (.any(no, yes), nil), (.any(no, .not(yes)), "any of no, not yes"), (.any(), "any of "),
      (.not(.noFailedDependencies), "not no failed dependencies"), (.any(no, .noFailedDependencies), nil),
      (.any(.noFailedDependencies), nil), (.all(.noFailedDependencies, yes), nil),
    ]
    for (condition, failing) in cases {
      let operation = Step()
      operation.addCondition(condition)
      queue.addOperation(operation)
      #expect(await soon { operation.isFinished })
      #expect((operation.failure as? OperationError)?.condition == failing, "\(condition.name)")
    }
  }

  @Test func conditionsMayBeAskedSideBySide() async {
    let (first, second) = (Answer(), Answer())
    let operation = Step()
    operation.addCondition(.together(first.condition("first"), second.condition("second")))
    queue.addOperation(operation)
    #expect(await soon { first.asked == 1 && second.asked == 1 })
    first.give(true)
    second.give(true)
    #expect(await soon { operation.isFinished } && operation.failure == nil)
    let refused = Step()
    let open = OperationCondition("open") { _ in
      try await Task.sleep(for: .seconds(3600))
      return true
    }
    refused.addCondition(.together(open, second.condition("second")))
    queue.addOperation(refused)
    #expect(await soon { second.asked == 2 })
    second.give(false)
    // The other question has been cancelled.
    #expect(await failed(refused, "second"))
  }

  @Test func noFailedDependenciesNamesTheFirstThatFailed() async {
    let good = Step()
    let bad = Step(Refusal())
    bad.name = "fetch"
    let operation = Step()
    operation.addDependency(good)
    operation.addDependency(bad)
    operation.addCondition(.noFailedDependencies)
    queue.add([operation, good, bad])
    #expect(await failed(operation, "no failed dependencies"))
    let reason = operation.failure(.dependencyFailed)
    #expect(reason?.operation == "fetch" && reason?.rootCause is Refusal)
  }

  @Test func aCancelledDependencyHasFailedOfWhateverClass() async {
    for dependency in [Step(), BlockOperation {}] as [Operation] {
      let operation = Step()
      operation.addDependency(dependency)
      operation.addCondition(.noFailedDependencies)
      dependency.cancel()
      queue.add([operation, dependency])
      #expect(await failed(operation, "no failed dependencies"))
    }
  }

  @Test func cancellationsOfDependenciesCanBeIgnored() async {
    func following(_ dependencies: [Step]) -> ManualOperation {
      let operation = ManualOperation()
      for dependency in dependencies { operation.addDependency(dependency) }
      operation.addCondition(.noFailedDependencies(ignoringCancellations: true))
      queue.add([operation] + dependencies)
      return operation
    }
    let cancelled = Step()
    cancelled.cancel()
    let onlyCancelled = following([cancelled])
    #expect(await soon { onlyCancelled.isFinished })
    #expect(onlyCancelled.isCancelled && onlyCancelled.failure is CancellationError && onlyCancelled.mainCount == 0)
    let alsoCancelled = Step()
    alsoCancelled.cancel()
    let alsoFailed = following([alsoCancelled, Step(Refusal())])
    #expect(await failed(alsoFailed, "no failed dependencies"))
  }

  @Test func whatAConditionStopsMayBeCancelledInsteadOfFailed() async throws {
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    for condition in [
      OperationCondition("no") { _ in false }, .all(.mutuallyExclusive("quiet"), .not(.all())),
    ] {
      let byQueue = ManualOperation()
      let byDependencyQueue = ManualOperation()
      for operation in [byQueue, byDependencyQueue] { operation.addCondition(condition.allowingCancellation()) }
      queue.addOperation(byQueue)
      try dependencyQueue.add(byDependencyQueue)
      for operation in [byQueue, byDependencyQueue] {
        #expect(await soon { operation.isFinished })
        #expect(operation.isCancelled && operation.failure is CancellationError && operation.mainCount == 0)
      }
    }
  }

  @Test func whileItIsAskedItHasItsCategoriesForItself() async throws {
    let answer = Answer()
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    let asking = Step()
    asking.addCondition(.mutuallyExclusive("asked within"))
    asking.addCondition(answer.condition())
    let other = ManualOperation()
    other.addCondition(.mutuallyExclusive("asked within"))
    try dependencyQueue.add([asking])
    #expect(await soon { answer.asked == 1 })
    try dependencyQueue.add([other])
    // Held, and no turn that others would get after a while.
    #expect(asking.withRareState { $0.request?.isHolding == true } == true)
    #expect(!other.isExecuting && answer.asked == 1)
    answer.give(true)
    #expect(await soon { asking.isFinished && other.isExecuting })
    other.finish()
  }

  // MARK: Dependencies of conditions

  @Test(arguments: [false, true]) func aConditionIsAskedAfterTheOperationThatItMakes(_ isFed: Bool) async throws {
    let login = ManualOperation("login")
    let operation = Step()
    let seen = Journal<String>()
    let own = DispatchQueue(label: "conditions.tests")
    let token = operation.events(.produced, on: own) { event, _, _ in
      if case .produced(let other) = event { seen.add(other.name ?? "") }
    }
    operation.addCondition(
      OperationCondition("logged in", after: { _ in login }) { _ in login.isFinished })
    // One wide: in a plain queue the operation itself has the slot.
    if isFed { try DependencyQueue(feeding: queue).add(operation) } else { queue.addOperation(operation) }
    #expect(await soon { login.isExecuting })
    #expect(!operation.isFinished)
    login.finish()
    #expect(await soon { operation.isFinished })
    #expect(operation.failure == nil && eventually { seen.entries == ["login"] })
    token.cancel()
  }

  @Test func whatAConditionHasMadeIsCancelledWithTheOperation() async throws {
    let login = ManualOperation("login")
    let operation = Step()
    operation.addCondition(OperationCondition("logged in", after: { _ in login }) { _ in true })
    queue.addOperation(operation)
    #expect(await soon { login.isExecuting })
    operation.cancel()
    #expect(await soon { login.isFinished && operation.isFinished })
    #expect(login.isCancelled)
  }

  @Test func aChildsConditionRunsItsDependencyInTheGroup() async {
    let login = ManualOperation("login")
    let child = Step()
    child.addCondition(OperationCondition("logged in", after: { _ in login }) { _ in login.isFinished })
    let group = GroupOperation(width: 1, [child])
    queue.addOperation(group)
    #expect(await soon { login.isExecuting })
    login.finish(with: Refusal())
    #expect(await soon { group.isFinished })
    #expect(child.failure == nil && (group.failure as? OperationError)?.names == ["login"])
  }

  // MARK: Races

  @Test func cancelRacingTheAnswersLeavesNothingBehind() async throws {
    for round in 0..<1500 {
      let queue = OperationQueue()
      let dependencyQueue = DependencyQueue(feeding: queue)
      let operations = (0..<4).map { _ in Step() }
      for (index, operation) in operations.enumerated() {
        operation.addCondition(OperationCondition("maybe") { _ in (round + index) % 3 != 0 })
        if index % 2 == 0 { operation.addCondition(.mutuallyExclusive("race of conditions")) }
      }
      race([
        { try? dependencyQueue.add(Array(operations[0..<2])) },
        { queue.add(Array(operations[2...])) },
        { for operation in operations { operation.cancel() } },
      ])
      #expect(await soon { operations.allSatisfy(\.isFinished) })
    }
    let isForgotten = { DependencyGraph.contents.withLock { !$0.exclusion.has("race of conditions") } }
    #expect(await soon { isForgotten() })
  }

  /// Readiness may change between a queue's reading it, as an operation is added, and its storing the answer.
  @Test func whatBecomesReadyWhileItIsBeingAddedIsStarted() async {
    let queue = OperationQueue()
    for _ in 0..<3000 {
      let first = Step()
      let second = Step()
      second.addDependency(first)
      race([{ first.start() }, { queue.addOperation(second) }])
      #expect(await soon { second.isFinished })
    }
  }
}
