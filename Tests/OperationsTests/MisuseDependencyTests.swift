import Foundation
import Support
import Synchronization
import Testing

@testable import Operations

/// Dependencies that close a cycle, come too late or are not there; the article Misuse lists them.
struct MisuseDependencyTests {
  @Test func aDependencyOnItselfSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let operation = ManualOperation("alone")
      operation.addDependency(operation)
    }
    #expect(MisuseRig.text(result).contains("nothing can start: alone -> alone"))
  }

  @Test(arguments: [2, 3, 1000]) func aCycleIsThrownWithItsPath(_ count: Int) {
    let operations = (0..<count).map { ManualOperation("\($0)") }
    for (first, second) in zip(operations, operations.dropFirst()) { second.addDependency(first) }
    do {
      try operations[0].addDependencyOrThrow(operations[count - 1])
      Issue.record("the cycle was closed")
    } catch {
      #expect(error.names.count == count + 1 && error.names.first == "0" && error.names.last == "0")
      #expect(error.description.count < 300)
    }
    #expect(operations[0].isReady && operations[0].dependencies.isEmpty)
  }

  @Test func aCycleOfTwoStopsTheProgramWithItsPath() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (a, b) = (ManualOperation("a"), ManualOperation("b"))
      a.addDependency(b)
      b.addDependency(a)
    }
    #expect(MisuseRig.text(result).contains("nothing can start: b -> a -> b"))
  }

  @Test func aCycleThroughABlockOperationIsThrown() {
    let (a, b) = (ManualOperation("a"), ManualOperation("b"))
    let block = BlockOperation {}
    block.name = "block"
    block.addDependency(a)
    b.addDependency(block)
    do {
      try a.addDependencyOrThrow(b)
      Issue.record("the cycle was closed")
    } catch {
      #expect(error.names == ["a", "b", "block", "a"])
    }
  }

  @Test func aCycleOfBlockOperationsIsThrownByTheDependencyQueue() {
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    let (a, b) = (BlockOperation {}, BlockOperation {})
    a.addDependency(b)
    b.addDependency(a)
    do {
      try dependencyQueue.add([a, b])
      Issue.record("the cycle was added")
    } catch {
      #expect(error.names.count == 3 && dependencyQueue.unfinishedCount == 0)
    }
    // Else the two would keep each other.
    a.removeDependency(b)
  }

  @Test func aCycleThroughAGroupIsThrown() throws {
    let child = ManualOperation("child")
    let group = GroupOperation([child])
    group.name = "group"
    do {
      try child.addDependencyOrThrow(group)
      Issue.record("the cycle was closed")
    } catch {
      #expect(error.names.contains("group") && error.names.contains("child"))
    }
    let next = ManualOperation("next")
    next.addDependency(group)
    do {
      try child.addDependencyOrThrow(next)
      Issue.record("the cycle was closed")
    } catch {
      #expect(error.names.contains("next"))
    }
  }

  @Test func linksBothWaysFromTwoThreadsAreRefusedOnce() {
    for _ in 0..<500 {
      let (a, b) = (ManualOperation("a"), ManualOperation("b"))
      let refused = Journal<Int>()
      race([
        { do { try a.addDependencyOrThrow(b) } catch { refused.add(1) } },
        { do { try b.addDependencyOrThrow(a) } catch { refused.add(2) } },
      ])
      #expect(refused.count == 1)
    }
  }

  @Test func aDependencyOfAnExecutingOperationIsIgnored() {
    let (first, second) = (ManualOperation(), ManualOperation())
    second.start()
    second.addDependency(first)
    #expect(second.dependencies.isEmpty && second.isExecuting)
    second.finish()
    #expect(second.isFinished)
  }

  @Test func aDependencyThatAnExecutingOperationGivesItselfIsIgnored() {
    let other = ManualOperation()
    let operation = ClosureOperation {
      $0.addDependency(other)
      $0.finish()
    }
    operation.start()
    #expect(operation.isFinished && operation.dependencies.isEmpty)
  }

  @Test func aDependencyOfACancelledOperationDoesNotHoldIt() {
    let queue = OperationQueue()
    let (first, second) = (ManualOperation(), ManualOperation())
    second.cancel()
    second.addDependency(first)
    queue.addOperation(second)
    #expect(eventually { second.isFinished } && second.mainCount == 0)
  }

  @Test func removingWhatIsNotThereDoesNothing() {
    let (first, second, third) = (ManualOperation(), ManualOperation(), ManualOperation())
    second.removeDependency(first)
    second.addDependency(third)
    second.removeDependency(first)
    second.removeDependency(BlockOperation {})
    second.removeDependency(second)
    #expect(second.dependencies == [third] && !second.isReady)
    second.removeDependency(third)
    second.removeDependency(third)
    #expect(second.isReady)
  }

  @Test func aDependencyInNoQueueHoldsItUntilTheCancellation() {
    let queue = OperationQueue()
    let (never, second) = (ManualOperation(), ManualOperation())
    second.addDependency(never)
    queue.addOperation(second)
    #expect(second.state == .pending)
    second.cancel()
    #expect(eventually { second.isFinished })
  }

  @Test func aStartByHandBeforeItsDependenciesSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (first, second) = (ManualOperation(), ManualOperation("second"))
      second.addDependency(first)
      second.start()
    }
    #expect(MisuseRig.text(result).contains("started by hand before all that it depends on has finished"))
  }

  @Test func linksAndUnlinksWhileItStartsEndWithoutAHang() {
    let queue = OperationQueue()
    for _ in 0..<200 {
      let (first, second) = (Operations.ClosureOperation {}, Operations.ClosureOperation {})
      race([
        { queue.addOperation(second) },
        {
          second.addDependency(first)
          second.removeDependency(first)
        },
        { queue.addOperation(first) },
      ])
      #expect(eventually { first.isFinished && second.isFinished })
    }
  }

  // MARK: Values

  private final class Receiver: ResultOperation<Int>, InputReceiving, @unchecked Sendable {
    // Safe: behind the lock.
    private let input = Lock(0)
    func receive(_ input: Int) { self.input.withLock { $0 = input } }
    override func main() { finish(.success(input.withLock { $0 })) }
  }

  @Test func aReceiverOfItsOwnValueSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let receiver = Receiver()
      receiver.takeInput(from: receiver)
    }
    #expect(MisuseRig.text(result).contains("Receiver -> Receiver"))
  }

  @Test func receiversOfEachOthersValuesSaySo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (first, second) = (Receiver(), Receiver())
      (first.name, second.name) = ("first", "second")
      first.takeInput(from: second)
      second.takeInput(from: first)
    }
    #expect(MisuseRig.text(result).contains("second -> first -> second"))
  }

  @Test func aReceiverFromASourceInNoQueueWaitsUntilThatHasRun() {
    let queue = OperationQueue()
    let source = Operations.ClosureOperation { 5 }
    let receiver = Receiver()
    receiver.takeInput(from: source)
    queue.addOperation(receiver)
    #expect(receiver.state == .pending)
    source.start()
    #expect(eventually { receiver.isFinished })
    #expect((try? receiver.outcome?.get()) == 5)
  }

  @Test func aReceiverFromACancelledSourceFailsAsThat() {
    let queue = OperationQueue()
    let source = Operations.ClosureOperation { 5 }
    let receiver = Receiver()
    receiver.takeInput(from: source)
    source.cancel()
    queue.add([source, receiver])
    #expect(eventually { receiver.isFinished })
    #expect(receiver.failure is CancellationError)
  }

  @Test func aReceiverWhoseDependencyWasRemovedFails() {
    let queue = OperationQueue()
    let source = Operations.ClosureOperation { 5 }
    let receiver = Receiver()
    receiver.takeInput(from: source)
    receiver.removeDependency(source)
    queue.addOperation(receiver)
    #expect(eventually { receiver.isFinished })
    #expect(receiver.failureCode == .conditionFailed && receiver.failure(.missingResult) != nil)
  }

  @Test func aReceiverThatHasStartedSaysSo() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let receiver = Receiver()
      receiver.start()
      receiver.takeInput(from: Operations.ClosureOperation { 5 })
    }
    #expect(MisuseRig.text(result).contains("after its conditions had been asked"))
  }
}
