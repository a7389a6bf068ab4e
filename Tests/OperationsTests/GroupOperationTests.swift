import Foundation
import Support
import Testing

@testable import Operations

@Suite struct GroupOperationTests {
  struct Fault: Error {}

  let queue = OperationQueue()

  @Test func aGroupFinishesAfterItsLastChild() {
    let children = (0..<5).map { _ in ManualOperation() }
    let group = GroupOperation(width: 5, children)
    queue.addOperation(group)
    for child in children {
      #expect(eventually { child.isExecuting })
      #expect(!group.isFinished)
      child.finish()
    }
    #expect(eventually { group.isFinished })
    #expect(group.failure == nil && !group.isCancelled)
  }

  @Test func aGroupWithoutChildrenFinishesAtOnce() {
    let group = GroupOperation()
    queue.addOperations([group], waitUntilFinished: true)
    #expect(group.failure == nil && group.isFinished)
  }

  @Test func childrenBeginOnlyWhenTheGroupExecutes() {
    let first = ManualOperation()
    let child = ManualOperation()
    let group = GroupOperation([child])
    group.addDependency(first)
    queue.addOperations([group, first], waitUntilFinished: false)
    #expect(eventually { first.isExecuting })
    #expect(child.mainCount == 0)
    first.finish()
    #expect(eventually { child.isExecuting })
    child.finish()
    #expect(eventually { group.isFinished })
  }

  @Test func noMoreChildrenExecuteThanItIsWide() {
    // How many execute, and the most that ever did: counted by the children, so that none is overlooked.
    let counts = Lock((now: 0, most: 0))
    let children = (0..<12).map { _ in
      ClosureOperation { _ in
        counts.withLock { counts in
          counts.now += 1
          counts.most = max(counts.most, counts.now)
        }
      }
    }
    func finishOne() {
      counts.withLock { $0.now -= 1 }
      children.first(where: \.isExecuting)?.finish()
    }
    let group = GroupOperation(width: 2, children)
    group.start()
    for _ in 0..<4 {
      #expect(eventually { children.filter(\.isExecuting).count == 2 && counts.withLock(\.now) == 2 })
      finishOne()
    }
    #expect(eventually { counts.withLock(\.now) == 2 })
    #expect(counts.withLock(\.most) == 2)
    group.width = 4
    for _ in 0..<4 {
      #expect(eventually { children.filter(\.isExecuting).count == 4 && counts.withLock(\.now) == 4 })
      finishOne()
    }
    #expect(eventually { counts.withLock(\.now) == 4 })
    #expect(counts.withLock(\.most) == 4)
    while children.contains(where: { !$0.isFinished }) {
      guard eventually({ children.contains(where: \.isExecuting) }) else { break }
      finishOne()
    }
    #expect(eventually { group.isFinished })
  }

  @Test func whatIsAddedToAGroupThatIsStoppingIsCancelledToo() throws {
    final class Growing: GroupOperation, @unchecked Sendable {
      // Safe: behind a lock.
      let late = Lock<ManualOperation?>(ManualOperation("late"))

      override func childDidFinish(_ child: Operation, failure: (any Error)?) {
        guard let late = late.withLock({ $0.take() }) else { return }
        try? add(late)
      }
    }
    let child = ManualOperation("child")
    let group = Growing(onChildFailure: .cancelOthers, [child])
    let late = try #require(group.late.withLock { $0 })
    group.start()
    #expect(eventually { child.isExecuting })
    child.finish(with: Fault())
    #expect(eventually { group.isFinished })
    #expect(late.isCancelled && late.isFinished)
    #expect(!group.isCancelled && group.failureCode == .childrenFailed)
  }

  @Test func childrenMayDependOnEachOtherAndOnWhatIsOutside() {
    let outside = ManualOperation()
    let journal = Journal<Int>()
    let children = (0..<3).map { number in
      ClosureOperation { operation in
        journal.add(number)
        operation.finish()
      }
    }
    children[0].addDependency(children[1])
    children[1].addDependency(children[2])
    children[2].addDependency(outside)
    let group = GroupOperation(children)
    queue.addOperations([group, outside], waitUntilFinished: false)
    #expect(eventually { outside.isExecuting })
    outside.finish()
    #expect(eventually { group.isFinished })
    #expect(journal.entries == [2, 1, 0])
  }

  // MARK: Adding

  @Test func childrenMayBeAddedUntilTheLastHasEnded() throws {
    final class Growing: GroupOperation, @unchecked Sendable {
      // Safe: only touched by the one child that ends at a time.
      nonisolated(unsafe) var left = 5
      let journal = Journal<String?>()
      override func childDidFinish(_ child: Operation, failure: (any Error)?) {
        journal.add(child.name)
        left -= 1
        guard left > 0 else { return }
        let next = Operations.ClosureOperation {}
        next.name = "\(left)"
        try? add(next)
      }
    }
    let group = Growing([Operations.ClosureOperation {}])
    queue.addOperations([group], waitUntilFinished: true)
    #expect(group.journal.entries == [nil, "4", "3", "2", "1"])
    #expect(codeOfError { try group.add(ManualOperation()) } == .groupHasFinished)
  }

  @Test func childrenThatWouldWaitForEachOtherAreRefused() throws {
    var circles: [Operation] = []
    var sources: [Operation] = []
    func circle() -> [Operation] {
      let first = BlockOperation {}
      let second = ManualOperation()
      second.addDependency(first)
      first.addDependency(second)
      let source = Operations.ClosureOperation { 1 }
      let receiver = source.then { $0 }
      sources.append(source)
      circles += [second, first, receiver]
      return [first, second, receiver]
    }
    let child = ManualOperation()
    let group = GroupOperation([child])
    queue.addOperation(group)
    #expect(eventually { child.isExecuting })
    #expect(codeOfError { try group.add(circle()) } == .dependencyCycle)
    child.finish()
    #expect(eventually { group.isFinished })
    #expect(group.failure == nil && group.progress.fraction == 1)
    let impossible = GroupOperation(circle())
    queue.addOperation(impossible)
    #expect(eventually { impossible.isFinished })
    #expect(impossible.failureCode == .dependencyCycle)
    #expect(sources.allSatisfy { $0.isRunByNobody })
    // Nothing of a cycle is freed before it has left its queue: Foundation reads cancelled dependents until then.
    for operation in circles + sources where !operation.isFinished {
      operation.cancel()
      queue.addOperation(operation)
    }
    #expect(eventually { queue.operationCount == 0 })
  }

  @Test func whatAChildProducesBecomesAChild() {
    let produced = ManualOperation()
    let child = ClosureOperation { operation in
      operation.produce(produced)
      operation.finish()
    }
    let group = GroupOperation([child])
    queue.addOperation(group)
    #expect(eventually { child.isFinished && produced.isExecuting })
    #expect(group.isExecuting)
    produced.finish()
    #expect(eventually { group.isFinished })
  }

  // MARK: Failures

  func failing(_ policy: GroupOperation.ChildFailurePolicy) -> (GroupOperation, ManualOperation, ManualOperation) {
    let bad = ManualOperation("bad")
    let good = ManualOperation("good")
    return (GroupOperation(width: 2, onChildFailure: policy, [bad, good]), bad, good)
  }

  @Test func aChildsFailureIsTheGroupsInTheEnd() {
    let (group, bad, good) = failing(.finishThenFail)
    queue.addOperation(group)
    #expect(eventually { bad.isExecuting && good.isExecuting })
    bad.finish(with: Fault())
    #expect(good.isExecuting && !group.isFinished)
    good.finish(with: Fault())
    #expect(eventually { group.isFinished })
    #expect((group.failure as? OperationError)?.names == ["bad", "good"])
    #expect(group.failure.map { "\($0)" } == "bad failed: Fault() (and 1 more)")
    #expect(!good.isCancelled)
  }

  @Test func aChildsFailureCancelsTheOthersIfThatIsAskedFor() throws {
    let (group, bad, good) = failing(.cancelOthers)
    let waiting = ManualOperation()
    try group.add(waiting)
    queue.addOperation(group)
    #expect(eventually { bad.isExecuting && good.isExecuting })
    bad.finish(with: Fault())
    #expect(eventually { group.isFinished })
    #expect(good.isCancelled && waiting.isCancelled && waiting.mainCount == 0 && !group.isCancelled)
    #expect((group.failure as? OperationError)?.names == ["bad"])
  }

  @Test func aChildsFailureMayBeIgnored() {
    let (group, bad, good) = failing(.ignore)
    queue.addOperation(group)
    #expect(eventually { bad.isExecuting && good.isExecuting })
    bad.finish(with: Fault())
    good.cancel()
    #expect(eventually { group.isFinished })
    #expect(group.failure == nil)
  }

  @Test func aChildThatIsNotOursCountsToo() {
    let block = BlockOperation {}
    let group = GroupOperation([block, ManualOperation()])
    queue.addOperation(group)
    #expect(eventually { block.isFinished })
    #expect(!group.isFinished)
    group.cancel()
    #expect(eventually { group.isFinished })
  }

  // MARK: Cancelling

  @Test func cancellingAGroupCancelsItsChildrenAndWaitsForThem() {
    let executing = ManualOperation()
    let waiting = ManualOperation()
    let block = BlockOperation {}
    waiting.addDependency(executing)
    block.addDependency(waiting)
    let group = GroupOperation([executing, waiting, block])
    queue.addOperation(group)
    #expect(eventually { executing.isExecuting })
    group.cancel(with: Fault())
    #expect(eventually { group.isFinished })
    #expect(executing.isFinished && executing.isCancelled && waiting.isFinished && waiting.mainCount == 0)
    #expect(block.isFinished && block.isCancelled)
    #expect(group.failure is Fault)
  }

  @Test func ofChildrenThatWaitNoneBeginsWhenTheGroupIsCancelled() {
    for _ in 0..<300 {
      let executing = ManualOperation()
      var children: [Operation] = [executing]
      for number in 0..<8 {
        let next = number % 4 == 3 ? BlockOperation { Issue.record("it executed") } : ManualOperation("\(number)")
        children.last.map(next.addDependency)
        children.append(next)
      }
      let group = GroupOperation(width: 4, children)
      queue.addOperation(group)
      #expect(eventually { executing.isExecuting })
      group.cancel()
      #expect(eventually { group.isFinished })
      #expect(children.dropFirst().allSatisfy { ($0 as? ManualOperation)?.mainCount ?? 0 == 0 && $0.isCancelled })
    }
  }

  @Test func theChildrenOfAGroupThatNeverExecutesEndToo() {
    for isConditional in [false, true] {
      let child = ManualOperation()
      let block = BlockOperation { Issue.record("it executed") }
      block.addDependency(child)
      let group = GroupOperation([child, block])
      let outside = ManualOperation()
      outside.addDependency(child)
      if isConditional { group.addCondition(.not(.noFailedDependencies)) } else { group.cancel() }
      queue.addOperations([group, outside], waitUntilFinished: false)
      #expect(eventually { outside.isExecuting && group.isFinished })
      #expect(child.isFinished && child.isCancelled && child.mainCount == 0 && eventually { block.isFinished })
      outside.finish()
    }
  }

  @Test func aGroupThatNeverExecutesFinishesAfterItsChildren() {
    for isConditional in [false, true] {
      let queue = OperationQueue()
      let (child, block) = (ManualOperation(), BlockOperation { Issue.record("it executed") })
      let adapted = AdaptedOperation(BlockOperation { Issue.record("it executed") })
      let values = ResultGroup([Operations.ClosureOperation { 1 }, AdaptedValue(adapted)])
      let inner = GroupOperation([child, block, adapted])
      let group = GroupOperation([inner, values])
      let (ends, all) = (Journal<Bool>(), [child, block, adapted, adapted.operation, inner, values] as [Operation])
      group.parts.rareState.whenEnded { _ in ends.add(all.allSatisfy(\.isFinished)) }
      inner.parts.rareState.whenEnded { _ in ends.add([child, block, adapted].allSatisfy(\.isFinished)) }
      if isConditional { group.addCondition(.not(.noFailedDependencies)) } else { group.cancel() }
      queue.addOperations([group], waitUntilFinished: true)
      #expect(ends.entries == [true, true])
      #expect(child.mainCount == 0 && (group.failureCode == .conditionFailed) == isConditional)
    }
  }

  /// Ends with another operation, which it starts.
  final class AdaptedValue: ResultOperation<Int>, @unchecked Sendable {
    // Safe: constant.
    let other: Operation
    init(_ other: Operation) { self.other = other }
    override func main() { finish(.success(0)) }
  }

  @Test func theChildrenOfACancelledGroupEndInASuspendedQueueToo() throws {
    queue.isSuspended = true
    let (child, late, outside) = (ManualOperation(), ManualOperation(), ManualOperation())
    let inner = GroupOperation([child])
    let group = GroupOperation([inner])
    outside.addDependency(child)
    queue.addOperation(group)
    OperationQueue().addOperation(outside)
    group.cancel()
    #expect(eventually { outside.isExecuting })
    #expect(child.isFinished && child.mainCount == 0 && inner.isFinished && !group.isFinished)
    try group.add(late)
    #expect(eventually { late.isFinished } && late.isCancelled)
    queue.isSuspended = false
    #expect(eventually { group.isFinished })
    #expect(codeOfError { try group.add(ManualOperation()) } == .groupHasFinished)
    outside.finish()
  }

  @Test func aForeignChildThatWaitsOutsideEndsWithTheGroup() {
    let outside = ManualOperation()
    let (first, block) = (ManualOperation(), BlockOperation { Issue.record("it executed") })
    block.addDependency(outside)
    let group = GroupOperation([first, block])
    queue.addOperation(group)
    #expect(eventually { first.isExecuting })
    group.cancel()
    #expect(eventually { group.isFinished && block.isFinished })
    outside.start()
    outside.finish()
  }

  @Test func cancellingAGroupWhileChildrenAreAddedEndsAllOfThem() {
    for round in 0..<1000 {
      let group = GroupOperation(width: 2, (0..<3).map { _ in ManualOperation() })
      let late = (0..<4).map { _ in ManualOperation() }
      let refused = Journal<ManualOperation>()
      race([
        { self.queue.addOperation(group) },
        { group.cancel() },
        { for child in late[0..<2] { do { try group.add(child) } catch { refused.add(child) } } },
        { for child in late[2...] { do { try group.add(child) } catch { refused.add(child) } } },
      ])
      #expect(eventually { group.isFinished }, "\(round)")
      // Each is over, or has been refused, and none has been both.
      for child in late where !refused.entries.contains(child) { #expect(eventually { child.isFinished }) }
      #expect(refused.entries.allSatisfy { $0.mainCount == 0 && !$0.isFinished })
    }
  }

  // MARK: Progress

  @Test func itsProgressIsMadeOfItsChildrens() {
    let children = (0..<4).map { _ in ManualOperation() }
    let inner = GroupOperation(width: 2, [children[2], children[3]])
    let group = GroupOperation(width: 3, [children[0], children[1], inner])
    #expect(group.progress.fraction == nil)
    queue.addOperation(group)
    #expect(eventually { children.allSatisfy(\.isExecuting) })
    #expect(group.progress == OperationProgress(completed: 0, total: 300))
    children[0].report(completed: 30, total: 60)
    #expect(eventually { group.progress.completed == 50 })
    children[1].finish()
    #expect(group.progress.completed == 150)
    children[2].finish()
    #expect(eventually { group.progress.completed == 200 })
    children[0].finish()
    children[3].finish()
    #expect(eventually { group.isFinished })
    #expect(group.progress.fraction == 1)
  }

  @Test func whatWasNotDoneDoesNotCountAsProgress() {
    let children = (0..<4).map { _ in ManualOperation() }
    let group = GroupOperation(width: 2, onChildFailure: .ignore, children)
    let values = ResultGroup(width: 1, (0..<3).map { _ in Endless() })
    queue.add([group, values])
    #expect(eventually { children[1].isExecuting && values.progress.total == 300 })
    children[0].report(completed: 1, total: 4)
    #expect(eventually { group.progress.completed == 25 })
    children[0].finish(with: Fault())
    #expect(eventually { children[2].isExecuting })
    children[1].finish()
    #expect(eventually { group.progress.completed == 125 })
    group.cancel()
    values.cancel()
    #expect(eventually { group.isFinished && values.isFinished })
    #expect(group.progress == OperationProgress(completed: 125, total: 400))
    #expect(values.progress == OperationProgress(completed: 0, total: 300))
  }

  @Test func theLastProgressOfAFailedChildCounts() {
    for _ in 0..<100 {
      let failing = Operations.ClosureOperation<Int> { operation in
        operation.report(completed: 1, total: 4)
        throw Fault()
      }
      let group = GroupOperation(onChildFailure: .ignore, [failing, Operations.ClosureOperation { 1 }])
      queue.addOperations([group], waitUntilFinished: true)
      #expect(group.progress == OperationProgress(completed: 125, total: 200))
    }
  }

  final class Endless: ResultOperation<Int>, @unchecked Sendable {
    override func main() {}
    override func didCancel() { finish() }
  }

  // MARK: What it consists of

  @Test func itsChildrenAreThoseThatHaveNotFinishedInTheirOrder() throws {
    let children = (0..<20).map { ManualOperation("\($0)") }
    let group = GroupOperation(width: 2, Array(children[..<19]))
    #expect(group.children == Array(children[..<19]))
    queue.addOperation(group)
    #expect(eventually { children[1].isExecuting })
    try group.add(children[19])
    #expect(group.children == children)
    children[1].finish()
    #expect(group.children == [children[0]] + children[2...])
    group.cancel()
    #expect(eventually { group.isFinished })
    #expect(group.children == [])
  }

  @Test func aGroupOfThousandsIsLinear() {
    let group = GroupOperation(width: 2, (0..<20_000).map { _ in Operations.ClosureOperation {} })
    queue.addOperations([group], waitUntilFinished: true)
    #expect(group.failure == nil && group.progress.fraction == 1)
  }
}

extension GroupOperationTests {
  // MARK: Suspension

  @Test func whileItsQueueIsSuspendedNoFurtherChildBegins() {
    let queue = OperationQueue()
    let children = (0..<3).map { ManualOperation("\($0)") }
    let inner = GroupOperation(width: 1, Array(children[1...]))
    let group = GroupOperation(width: 1, [children[0], inner])
    queue.addOperation(group)
    #expect(eventually { children[0].isExecuting })
    queue.isSuspended = true
    children[0].finish()
    // Both children are in the group's queue already: at the end of the first, that queue is suspended.
    #expect(eventually { group.dependencyQueue?.queue.isSuspended == true })
    #expect(eventually { children[0].isFinished })
    // A later look of the group at its queue has come and gone.
    #expect(eventually { inner.state == .ready })
    #expect(!inner.isExecuting && !children[1].isExecuting)
    queue.isSuspended = false
    #expect(eventually { children[1].isExecuting })
    queue.isSuspended = true
    children[1].finish()
    #expect(eventually { children[1].isFinished })
    #expect(!children[2].isExecuting)
    // What is cancelled does not wait for the queue.
    group.cancel()
    #expect(eventually { group.isFinished })
    #expect(children[2].mainCount == 0)
  }
}
