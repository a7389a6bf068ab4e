import Foundation
import Support
import Synchronization
import Testing

@testable import Operations

/// The documented rules of `Operation`, over ours in a plain queue and under a dependency queue.
///
/// Where ours differ on purpose, the article Differences says why.
struct FoundationBehaviourTests {
  // MARK: Cancelling

  @Test(arguments: FoundationRig.all) func aCancelledOperationFinishesAndItsDependentsRun(_ rig: FoundationRig) {
    let home = rig.home()
    let journal = Journal<String>()
    let first = rig.operation { journal.add("first") }
    let second = rig.operation { journal.add("second") }
    second.addDependency(first)
    first.cancel()
    #expect(first.isCancelled && !first.isFinished)
    home.add(first, second)
    home.wait()
    #expect(first.isFinished && second.isFinished && !second.isCancelled)
    #expect(journal.entries == ["second"])
  }

  @Test(arguments: FoundationRig.all) func aCancelledOperationWaitsForNoDependency(_ rig: FoundationRig) {
    let home = rig.home()
    let never = rig.operation()
    let second = rig.operation()
    second.addDependency(never)
    home.add(second)
    #expect(!second.isReady)
    second.cancel()
    #expect(second.isReady)
    home.wait()
    #expect(second.isFinished && !never.isFinished)
  }

  @Test(arguments: FoundationRig.all) func cancellingAFinishedOperationChangesNothing(_ rig: FoundationRig) {
    let home = rig.home()
    let operation = rig.operation()
    home.add(operation)
    home.wait()
    operation.cancel()
    #expect(operation.isFinished && !operation.isCancelled && operation.failure == nil)
  }

  @Test(arguments: FoundationRig.all) func cancelAllCancelsWhatWaitsAndWhatExecutes(_ rig: FoundationRig) {
    let home = rig.home(width: 1)
    let held = (0..<10).map { _ in rig.held() }
    home.add(held.map(\.operation))
    #expect(eventually { held[0].operation.isExecuting })
    home.cancelAll()
    held[0].release()
    home.wait()
    #expect(held.allSatisfy { $0.operation.isCancelled && $0.operation.isFinished })
    // The queue can be used again.
    let later = rig.operation()
    home.add(later)
    home.wait()
    #expect(later.isFinished && !later.isCancelled)
  }

  @Test(arguments: FoundationRig.all) func theWorkSeesItsCancellation(_ rig: FoundationRig) {
    let home = rig.home()
    let seen = Journal<Bool>()
    let own = Lock<AsyncOperation?>(nil)
    let operation = rig.operation {
      let operation = own.withLock { $0.take() }
      operation?.cancel()
      seen.add(operation?.isCancelled ?? false)
    }
    own.withLock { $0 = operation }
    home.add(operation)
    home.wait()
    #expect(seen.entries == [true] && operation.isCancelled)
  }

  // MARK: Dependencies

  @Test(arguments: FoundationRig.all) func aDependencyHoldsAcrossQueues(_ rig: FoundationRig) {
    let (home, other) = (rig.home(), rig.home())
    let first = rig.held()
    let second = rig.operation()
    second.addDependency(first.operation)
    other.add(second)
    home.add(first.operation)
    #expect(eventually { first.operation.isExecuting })
    #expect(!second.isReady && second.state == .pending)
    first.release()
    other.wait()
    #expect(second.isFinished && first.operation.isFinished)
  }

  @Test(arguments: FoundationRig.all) func readinessFollowsTheDependencies(_ rig: FoundationRig) {
    let (first, second, third) = (rig.operation(), rig.operation(), rig.operation())
    #expect(third.isReady)
    third.addDependency(first)
    third.addDependency(second)
    third.addDependency(first)
    #expect(third.dependencies == [first, second] && !third.isReady)
    first.start()
    #expect(first.isFinished && !third.isReady)
    third.removeDependency(second)
    #expect(third.isReady && third.dependencies == [first])
    third.removeDependency(second)
    third.start()
    #expect(third.isFinished && !second.isFinished)
  }

  @Test(arguments: FoundationRig.all) func aFinishedDependencyIsNotWaitedFor(_ rig: FoundationRig) {
    let (first, second) = (rig.operation(), rig.operation())
    first.start()
    second.addDependency(first)
    #expect(second.isReady && second.dependencies == [first])
  }

  @Test(arguments: FoundationRig.all) func aDiamondRunsInOrder(_ rig: FoundationRig) {
    let home = rig.home()
    let journal = Journal<String>()
    let operations = ["top", "left", "right", "bottom"].map { name in rig.operation(name) { journal.add(name) } }
    operations[1].addDependency(operations[0])
    operations[2].addDependency(operations[0])
    operations[3].addDependency(operations[1])
    operations[3].addDependency(operations[2])
    home.add(operations.reversed())
    home.wait()
    #expect(journal.entries.first == "top" && journal.entries.last == "bottom" && journal.count == 4)
  }

  @Test(arguments: FoundationRig.all) func aBlockOperationMayStandBeforeAndBehind(_ rig: FoundationRig) {
    let home = rig.home()
    let journal = Journal<String>()
    let before = BlockOperation { journal.add("before") }
    let ours = rig.operation { journal.add("ours") }
    let behind = BlockOperation { journal.add("behind") }
    ours.addDependency(before)
    behind.addDependency(ours)
    home.add(behind, ours, before)
    home.wait()
    #expect(journal.entries == ["before", "ours", "behind"])
  }

  // MARK: The end

  @Test(arguments: FoundationRig.all) func theCompletionBlockIsCalledOnceAfterTheEnd(_ rig: FoundationRig) {
    for isCancelled in [false, true] {
      let home = rig.home()
      let journal = Journal<Bool>()
      let operation = rig.operation()
      operation.completionBlock = { [weak operation] in journal.add(operation?.isFinished ?? true) }
      if isCancelled { operation.cancel() }
      home.add(operation)
      #expect(eventually { journal.count == 1 })
      home.wait()
      operation.cancel()
      operation.finish()
      home.add(rig.operation())
      home.wait()
      #expect(journal.entries == [true])
    }
  }

  @Test(arguments: FoundationRig.all) func aCompletionBlockMayAddAnOperation(_ rig: FoundationRig) {
    let home = rig.home(width: 1)
    let next = rig.operation()
    let operation = rig.operation()
    operation.completionBlock = { home.add(next) }
    home.add(operation)
    #expect(eventually { next.isFinished })
  }

  @Test(arguments: FoundationRig.all) func waitUntilFinishedReturnsAfterTheEnd(_ rig: FoundationRig) {
    let home = rig.home()
    let held = rig.held()
    home.add(held.operation)
    let hasReturned = Journal<Bool>()
    Thread.detachNewThread {
      held.operation.waitUntilFinished()
      hasReturned.add(held.operation.isFinished)
    }
    #expect(eventually { held.operation.isExecuting })
    #expect(hasReturned.count == 0)
    held.release()
    #expect(eventually { hasReturned.entries == [true] })
    held.operation.waitUntilFinished()
  }

  @Test(arguments: FoundationRig.all) func waitingForAnEmptyQueueReturnsAtOnce(_ rig: FoundationRig) {
    rig.home().wait()
    rig.home(isSuspended: true).wait()
  }

  @Test(arguments: FoundationRig.Kind.allCases) func addOperationsWaitsWhenItIsAskedTo(_ kind: FoundationRig.Kind) {
    let rig = FoundationRig(kind: kind, place: .plainQueue)
    let operations = (0..<20).map { _ in rig.operation() }
    OperationQueue().addOperations(operations, waitUntilFinished: true)
    #expect(operations.allSatisfy { $0.isFinished })
  }

  @Test(arguments: FoundationRig.Kind.allCases) func aBarrierRunsBetweenWhatCameBeforeAndAfter(
    _ kind: FoundationRig.Kind
  ) {
    let rig = FoundationRig(kind: kind, place: .plainQueue)
    let home = rig.home(width: 4)
    let journal = Journal<Int>()
    let held = rig.held()
    home.add(held.operation)
    home.add((0..<5).map { _ in rig.operation { journal.add(1) } })
    home.queue.addBarrierBlock { journal.add(2) }
    home.add((0..<5).map { _ in rig.operation { journal.add(3) } })
    #expect(eventually { journal.count == 5 })
    held.release()
    home.wait()
    #expect(journal.entries == [1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3])
  }

  // MARK: The operation

  @Test(arguments: FoundationRig.all) func theStatesNeverContradictEachOther(_ rig: FoundationRig) {
    let home = rig.home()
    let operations = (0..<200).map { _ in rig.operation() }
    let isOver = Atomic(false)
    let wrong = Journal<String>()
    let watcher = Thread {
      while !isOver.load(ordering: .acquiring) {
        for operation in operations {
          let (wasFinished, wasCancelled) = (operation.isFinished, operation.isCancelled)
          let wasExecuting = operation.isExecuting
          if wasFinished, wasExecuting { wrong.add("executes after its end") }
          if wasExecuting, !operation.isReady { wrong.add("executes and is not ready") }
          if wasFinished, !operation.isFinished { wrong.add("was finished") }
          if wasCancelled, !operation.isCancelled { wrong.add("was cancelled") }
          if wasFinished, !operation.isReady { wrong.add("finished and not ready") }
        }
      }
      wrong.add("over")
    }
    watcher.start()
    home.add(operations)
    for (number, operation) in operations.enumerated() where number % 3 == 0 { operation.cancel() }
    home.wait()
    isOver.store(true, ordering: .releasing)
    #expect(eventually { wrong.entries.last == "over" })
    #expect(wrong.entries == ["over"])
    #expect(operations.allSatisfy { $0.isFinished && !$0.isExecuting && $0.isReady })
  }

  @Test(arguments: FoundationRig.all) func startByHandExecutesOnTheCallingThread(_ rig: FoundationRig) {
    let thread = Journal<ObjectIdentifier>()
    let operation = rig.operation { thread.add(ObjectIdentifier(Thread.current)) }
    operation.start()
    #expect(thread.entries == [ObjectIdentifier(Thread.current)] && operation.isFinished && !operation.isExecuting)
    let cancelled = rig.operation { thread.add(ObjectIdentifier(Thread.current)) }
    cancelled.cancel()
    cancelled.start()
    #expect(cancelled.isFinished && thread.count == 1)
  }

  @Test(arguments: FoundationRig.all) func itsPropertiesAreKept(_ rig: FoundationRig) {
    let home = rig.home()
    let operation = rig.operation("the name")
    operation.qualityOfService = .utility
    #expect(operation.name == "the name" && operation.isAsynchronous && operation.queuePriority == .normal)
    home.add(operation)
    home.wait()
    #expect(operation.name == "the name" && operation.qualityOfService == .utility)
  }

  @Test(arguments: FoundationRig.all) func anOperationThatIsDroppedUnrunIsFreed(_ rig: FoundationRig) {
    weak var gone: AsyncOperation?
    do {
      let (first, second) = (rig.operation(), rig.operation())
      second.addDependency(first)
      second.completionBlock = {}
      gone = second
    }
    #expect(gone == nil)
  }
}
