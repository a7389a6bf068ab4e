import Foundation
import Support
import Synchronization
import Testing

@testable import Operations

/// The documented rules of `OperationQueue`, over our operations in a plain queue and under a dependency queue.
///
/// Where ours differ on purpose, the article Differences says why.
struct FoundationQueueTests {
  // MARK: Order

  @Test(arguments: FoundationRig.all) func aQueueOfWidthOneExecutesInOrder(_ rig: FoundationRig) {
    let home = rig.home(width: 1)
    let journal = Journal<Int>()
    home.add((0..<50).map { number in rig.operation { journal.add(number) } })
    home.wait()
    #expect(journal.entries == Array(0..<50))
  }

  @Test(arguments: FoundationRig.all) func theMostUrgentReadyOperationStartsFirst(_ rig: FoundationRig) {
    let home = rig.home(width: 1, isSuspended: true)
    let journal = Journal<Int>()
    let priorities: [Operation.QueuePriority] = [.veryLow, .high, .low, .veryHigh, .normal, .high]
    home.add(
      priorities.map { priority in
        let operation = rig.operation { journal.add(priority.rawValue) }
        operation.queuePriority = priority
        return operation
      })
    home.queue.isSuspended = false
    home.wait()
    #expect(journal.entries == [8, 4, 4, 0, -4, -8])
  }

  @Test(arguments: FoundationRig.all) func aPriorityMayChangeWhileTheOperationWaits(_ rig: FoundationRig) {
    let home = rig.home(width: 1, isSuspended: true)
    let journal = Journal<String>()
    let first = rig.operation { journal.add("first") }
    let second = rig.operation { journal.add("second") }
    let third = rig.operation { journal.add("third") }
    home.add(first, second, third)
    third.queuePriority = .veryHigh
    first.queuePriority = .low
    home.queue.isSuspended = false
    home.wait()
    #expect(journal.entries == ["third", "second", "first"])
  }

  @Test(arguments: FoundationRig.all) func urgencyDoesNotPassADependency(_ rig: FoundationRig) {
    let home = rig.home()
    let journal = Journal<String>()
    let first = rig.operation { journal.add("first") }
    let second = rig.operation { journal.add("second") }
    first.queuePriority = .veryLow
    second.queuePriority = .veryHigh
    second.addDependency(first)
    home.add(second, first)
    home.wait()
    #expect(journal.entries == ["first", "second"])
  }

  // MARK: Width

  @Test(arguments: FoundationRig.all) func noMoreThanTheWidthExecuteAtOnce(_ rig: FoundationRig) {
    let home = rig.home(width: 2)
    let executing = Journal<Int>()
    let count = Lock(0)
    home.add(
      (0..<100).map { _ in
        rig.operation {
          executing.add(
            count.withLock {
              $0 += 1
              return $0
            })
          count.withLock { $0 -= 1 }
        }
      })
    home.wait()
    #expect(executing.count == 100 && executing.entries.allSatisfy { $0 <= 2 })
  }

  @Test(arguments: FoundationRig.all) func aGreaterWidthTakesEffectAtOnce(_ rig: FoundationRig) {
    let home = rig.home(width: 1)
    let held = (0..<3).map { _ in rig.held() }
    home.add(held.map(\.operation))
    #expect(eventually { held[0].operation.isExecuting })
    #expect(!held[1].operation.isExecuting)
    home.setWidth(3)
    #expect(eventually { held.allSatisfy { $0.operation.isExecuting } })
    for one in held { one.release() }
    home.wait()
  }

  @Test(arguments: FoundationRig.all) func aSmallerWidthStopsNothingThatExecutes(_ rig: FoundationRig) {
    let home = rig.home(width: 2)
    let held = (0..<3).map { _ in rig.held() }
    home.add(held.map(\.operation))
    #expect(eventually { held[0].operation.isExecuting && held[1].operation.isExecuting })
    home.setWidth(1)
    held[0].release()
    #expect(eventually { held[0].operation.isFinished })
    #expect(held[1].operation.isExecuting && !held[2].operation.isExecuting)
    held[1].release()
    #expect(eventually { held[2].operation.isExecuting })
    held[2].release()
    home.wait()
  }

  // MARK: Suspension

  @Test(arguments: FoundationRig.all) func aSuspendedQueueStartsNothingAndStopsNothing(_ rig: FoundationRig) {
    let home = rig.home(width: 2)
    let (first, second) = (rig.held(), rig.held())
    home.add(first.operation)
    #expect(eventually { first.operation.isExecuting })
    home.queue.isSuspended = true
    home.add(second.operation)
    #expect(first.operation.isExecuting)
    first.release()
    #expect(eventually { first.operation.isFinished })
    #expect(second.operation.state == .ready)
    home.queue.isSuspended = false
    #expect(eventually { second.operation.isExecuting })
    second.release()
    home.wait()
  }

  @Test(arguments: FoundationRig.all) func aDependencyAddedToAWaitingOperationHoldsIt(_ rig: FoundationRig) {
    let home = rig.home(isSuspended: true)
    let first = rig.held()
    let second = rig.operation()
    home.add(second)
    second.addDependency(first.operation)
    home.queue.isSuspended = false
    home.add(first.operation)
    #expect(eventually { first.operation.isExecuting })
    #expect(second.state == .pending)
    first.release()
    home.wait()
    #expect(second.isFinished)
  }

  // MARK: The queue

  @Test(arguments: FoundationRig.all) func theQueueListsWhatHasNotFinished(_ rig: FoundationRig) {
    let home = rig.home(isSuspended: true)
    let operations = (0..<3).map { _ in rig.operation() }
    home.add(operations)
    #expect(Set(home.operations) == Set(operations))
    home.queue.isSuspended = false
    home.wait()
    #expect(eventually { home.operations.isEmpty && home.queue.operationCount == 0 })
  }

  @Test(arguments: FoundationRig.all) func theCurrentQueueIsTheOneThatExecutesIt(_ rig: FoundationRig) {
    let home = rig.home()
    let current = Journal<Bool>()
    home.add(rig.operation { current.add(OperationQueue.current === home.queue) })
    home.wait()
    #expect(current.entries == [true])
  }

  @Test(arguments: FoundationRig.all) func theUnderlyingQueueExecutesTheWork(_ rig: FoundationRig) {
    let key = DispatchSpecificKey<Int>()
    let dispatchQueue = DispatchQueue(label: "underlying")
    dispatchQueue.setSpecific(key: key, value: 7)
    let home = rig.home()
    home.queue.underlyingQueue = dispatchQueue
    let values = Journal<Int?>()
    home.add((0..<5).map { _ in rig.operation { values.add(DispatchQueue.getSpecific(key: key)) } })
    home.wait()
    #expect(values.entries == [7, 7, 7, 7, 7])
  }

  @Test(arguments: FoundationRig.all) func theMainQueueExecutesOnDispatchsMainQueue(_ rig: FoundationRig) async {
    let isMain = Journal<Bool>()
    // Dispatch may drain the main queue on another thread than the main one.
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    defer { DispatchQueue.main.setSpecific(key: key, value: nil) }
    let operation = rig.operation { isMain.add(DispatchQueue.getSpecific(key: key) ?? false) }
    let home = FoundationRig.Home(
      queue: .main, dependencyQueue: rig.place == .dependencyQueue ? DependencyQueue(feeding: .main) : nil)
    home.add(operation)
    #expect(await soon { operation.isFinished })
    #expect(isMain.entries == [true])
  }

  @Test(arguments: FoundationRig.all) func aQueueThatIsFreedEndsItsWork(_ rig: FoundationRig) {
    let operations = (0..<10).map { _ in rig.operation() }
    do {
      let home = rig.home(width: 1)
      home.add(operations)
    }
    #expect(eventually { operations.allSatisfy(\.isFinished) })
  }
}
