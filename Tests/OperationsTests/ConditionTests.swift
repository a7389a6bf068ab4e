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
    await soon { operation.isFinished } && (operation.failure as? ConditionFailure)?.condition == name
  }

  // MARK: Asking

  @Test func anOperationWhoseConditionHoldsExecutes() async {
    let operation = Step()
    operation.addCondition(OperationCondition("yes") { _ in true })
    queue.addOperation(operation)
    #expect(await soon { operation.isFinished })
    #expect(operation.failure == nil)
  }

  @Test func anOperationWhoseConditionFailsNeverExecutesAndSaysWhichItWasAndWhy() async {
    let operation = ManualOperation("upload")
    let next = Step()
    next.addDependency(operation)
    operation.addCondition(OperationCondition("yes") { _ in true })
    operation.addCondition(OperationCondition("network") { _ in throw Refusal() })
    queue.add([operation, next])
    #expect(await soon { next.isFinished })
    #expect(operation.mainCount == 0 && !operation.isCancelled)
    let failure = operation.failure as? ConditionFailure
    #expect(failure?.condition == "network" && failure?.reason is Refusal)
    #expect("\(operation.failure.map { "\($0)" } ?? "")" == "upload did not execute: network: Refusal()")
    #expect(next.failure == nil)
  }

  @Test func aFailedConditionIsTheResultOfAResultOperation() async {
    let operation = Step()
    operation.addCondition(OperationCondition("no") { _ in false })
    queue.addOperation(operation)
    #expect(await failed(operation, "no"))
    guard case .failure(let error as ConditionFailure) = operation.outcome else {
      Issue.record("\(String(describing: operation.outcome))")
      return
    }
    #expect(error.reason as? ConditionFailure.Reason == .doesNotHold)
  }

  @Test func whileItsConditionsAreAskedItHoldsNoSlotOfItsQueue() async {
    let answer = Answer()
    let asking = Step()
    asking.addCondition(answer.condition())
    let other = Step()
    queue.add([asking, other])
    // The queue's width is one, and it runs the later operation.
    #expect(await soon { other.isFinished && answer.asked == 1 })
    #expect(!asking.isFinished && asking.state == .pending)
    answer.give(true)
    #expect(await soon { asking.isFinished })
    #expect(asking.failure == nil)
  }

  @Test func itHoldsNoPlaceInAFeederEither() async throws {
    let answer = Answer()
    let feeder = OperationFeeder(feeding: queue)
    let asking = (0..<10).map { _ in Step() }
    for operation in asking { operation.addCondition(answer.condition()) }
    let other = Step()
    try feeder.add(asking + [other])
    #expect(await soon { other.isFinished && answer.asked == 10 })
    #expect(queue.operations.isEmpty)
    answer.give(true)
    #expect(await soon { asking.allSatisfy(\.isFinished) })
    #expect(await soon { feeder.unfinishedCount == 0 })
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
    #expect(first.isFinished && operation.state == .pending)
    operation.removeDependency(first)
    #expect(answer.asked == 0)
    queue.addOperation(operation)
    #expect(await soon { answer.asked == 1 })
    answer.give(true)
    #expect(await soon { operation.isFinished })
  }

  @Test func aDependencyAddedWhileTheyAreAskedMakesThemBeAskedAgain() async {
    let answer = Answer()
    let late = ManualOperation()
    let operation = Step()
    operation.addCondition(answer.condition())
    queue.addOperation(operation)
    #expect(await soon { answer.asked == 1 })
    operation.addDependency(late)
    answer.give(true)
    queue.addOperation(late)
    #expect(await soon { late.isExecuting })
    #expect(operation.state == .pending)
    late.finish()
    #expect(await soon { answer.asked == 2 })
    answer.give(true)
    #expect(await soon { operation.isFinished })
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
    let feeder = OperationFeeder(feeding: OperationQueue())
    let byQueue = ManualOperation()
    let byFeeder = ManualOperation()
    let byHand = ManualOperation()
    for operation in [byQueue, byFeeder, byHand] { operation.addCondition(answer.condition()) }
    queue.addOperation(byQueue)
    try feeder.add(byFeeder)
    byHand.start()
    #expect(await soon { answer.asked == 3 })
    for operation in [byQueue, byFeeder, byHand] {
      operation.cancel()
      #expect(await soon { operation.isFinished })
      #expect(operation.mainCount == 0 && operation.failure is CancellationError)
    }
    answer.give(true)
    #expect(await soon { queue.operations.isEmpty })
    #expect(await soon { feeder.unfinishedCount == 0 })
  }

  @Test func theTaskThatAsksIsCancelledWithTheOperation() async {
    let cancelled = Journal<Bool>()
    let operation = Step()
    operation.addCondition(
      OperationCondition("sleep") { _ in
        do { try await Task.sleep(for: .seconds(3600)) } catch { cancelled.add(true) }
        return true
      })
    queue.addOperation(operation)
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
      #expect((operation.failure as? ConditionFailure)?.condition == failing, "\(condition.name)")
    }
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
    let reason = (operation.failure as? ConditionFailure)?.reason as? DependencyFailure
    #expect(reason?.dependency == "fetch" && reason?.cause is Refusal)
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

  // MARK: Races

  @Test func cancelRacingTheAnswersLeavesNothingBehind() async throws {
    for round in 0..<1500 {
      let queue = OperationQueue()
      let feeder = OperationFeeder(feeding: queue)
      let operations = (0..<4).map { _ in Step() }
      for (index, operation) in operations.enumerated() {
        operation.addCondition(OperationCondition("maybe") { _ in (round + index) % 3 != 0 })
        if index % 2 == 0 { operation.addCondition(.mutuallyExclusive("race of conditions")) }
      }
      race([
        { try? feeder.add(Array(operations[0..<2])) },
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
