import Foundation
import Support
import Synchronization
import Testing

@testable import Operations

/// The behaviour of Foundation's operations on Linux, run for real, beside that of ours in the same situation.
///
/// Its quadratic costs (a queue visits all waiting operations at every event) are measured beside ours in
/// Tests/Benchmarks.
@Suite(
  .enabled(if: !FaultHandling.isSanitized, "a sanitizer reports the faults of others that these tests bring about"))
struct BesideFoundationTests {
  /// The exit status of a process in which a call has not returned.
  static let hung: Int32 = 42

  /// Ends this process with `hung` once no round has been added for a moment.
  static func giveUp(after rounds: Journal<Int>) {
    Thread.detachNewThread {
      var last: Int
      repeat { last = rounds.count } while !stays { rounds.count == last }
      exit(hung)
    }
  }

  /// Takes a fault as a shell would see it, without a report that takes seconds.
  static func faultPlainly() {
    for number in [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT] { signal(number, SIG_DFL) }
  }

  /// Gives a queue of its own time to look at all that it holds.
  static func stir(_ queue: OperationQueue) {
    for _ in 0..<10 { queue.addOperations([BlockOperation {}], waitUntilFinished: true) }
  }

  // MARK: Many

  private static func freeAChain<O: Operation>(of operation: () -> O) {
    var last = operation()
    for _ in 0..<100_000 {
      let next = operation()
      next.addDependency(last)
      last = next
    }
  }

  @Test func aChainOfAHundredThousandOverflowsTheStackWhenItIsFreed() async {
    await #expect(processExitsWith: .failure) {
      Self.faultPlainly()
      Self.freeAChain { Operation() }
    }
    await #expect(processExitsWith: .success) { Self.freeAChain { ManualOperation() } }
  }

  // MARK: Dependencies

  @Test func removingAnUnfinishedDependencyLeavesFoundationsStuckForEver() {
    let queue = OperationQueue()
    let first = Operation()
    let last = BlockOperation {}
    last.addDependency(first)
    queue.addOperation(last)
    last.removeDependency(first)
    Self.stir(queue)
    first.start()
    Self.stir(queue)
    #expect(last.dependencies.isEmpty && !last.isReady && !last.isFinished)

    let ourFirst = ManualOperation()
    let ourLast = ManualOperation()
    ourLast.addDependency(ourFirst)
    queue.addOperation(ourLast)
    ourLast.removeDependency(ourFirst)
    #expect(ourLast.dependencies.isEmpty && ourLast.isReady)
    #expect(eventually { ourLast.isExecuting })
    ourLast.finish()
  }

  @Test func addingAnOperationToItselfHangsInFoundation() async {
    await #expect(processExitsWith: .exitCode(Self.hung)) {
      Self.giveUp(after: Journal())
      let operation = Operation()
      operation.addDependency(operation)
    }
    let ours = ManualOperation("a")
    do {
      try ours.addDependencyOrThrow(ours)
      Issue.record("it was added")
    } catch {
      #expect(error.names == ["a", "a"])
    }
    #expect(ours.isReady)
  }

  @Test func aCycleWaitsSilentlyForEverInFoundation() throws {
    let queue = OperationQueue()
    let (a, b) = (BlockOperation {}, BlockOperation {})
    a.addDependency(b)
    b.addDependency(a)
    queue.addOperations([a, b], waitUntilFinished: false)
    Self.stir(queue)
    #expect(!a.isReady && !b.isReady && Set(queue.operations).isSuperset(of: [a, b]))

    let (ourA, ourB) = (ManualOperation("a"), ManualOperation("b"))
    ourA.addDependency(ourB)
    do {
      try ourB.addDependencyOrThrow(ourA)
      Issue.record("the cycle was closed")
    } catch {
      #expect(error.names == ["b", "a", "b"])
    }
    queue.addOperations([ourA, ourB], waitUntilFinished: false)
    for operation in [ourB, ourA] {
      #expect(eventually { operation.isExecuting })
      operation.finish()
    }
  }

  @Test func aDependentThatIsFreedEarlyIsUsedAfterwardsByFoundation() async {
    await #expect(processExitsWith: .failure) {
      Self.faultPlainly()
      for _ in 0..<10_000 {
        let first = Operation()
        do {
          let last = Operation()
          last.addDependency(first)
        }
        first.start()
      }
    }
    for _ in 0..<10_000 {
      let first = ManualOperation()
      weak var gone: ManualOperation?
      do {
        let last = ManualOperation()
        last.addDependency(first)
        gone = last
      }
      #expect(gone == nil)
      first.start()
      first.finish()
      #expect(first.isFinished)
    }
  }

  @Test func linkingBothWaysAtOnceBreaksFoundation() async {
    // Either may happen, but never that one of the two is refused.
    await #expect(processExitsWith: .exitCode(Self.hung)) {
      let rounds = Journal<Int>()
      Self.giveUp(after: rounds)
      for round in 0..<1000 {
        rounds.add(round)
        let (a, b) = (Operation(), Operation())
        race([{ a.addDependency(b) }, { b.addDependency(a) }])
        guard a.dependencies == [b] && b.dependencies == [a] else { exit(EXIT_SUCCESS) }
      }
      exit(Self.hung)
    }
    for _ in 0..<1000 {
      let (a, b) = (ManualOperation(), ManualOperation())
      let refused = Journal<Int>()
      race([
        { do { try a.addDependencyOrThrow(b) } catch { refused.add(1) } },
        { do { try b.addDependencyOrThrow(a) } catch { refused.add(2) } },
      ])
      #expect(refused.count == 1 && a.isReady != b.isReady)
    }
  }

  // MARK: Cancelling

  @Test func whatIsCancelledInASuspendedQueueStaysThereUntilItResumes() throws {
    let queue = OperationQueue()
    queue.isSuspended = true
    let block = BlockOperation {}
    queue.addOperation(block)
    block.cancel()
    #expect(block.isCancelled && !block.isFinished && queue.operationCount == 1)

    let dependencyQueue = DependencyQueue(feeding: queue)
    // A queue that is full of others: of these, a few have entered it.
    let operations = (0..<10).map { _ in ManualOperation() }
    queue.maxConcurrentOperationCount = 1
    try dependencyQueue.add(operations)
    for operation in operations { operation.cancel() }
    let inQueue = queue.operations.count { $0 is ManualOperation }
    #expect(inQueue < 5 && operations.count(where: \.isFinished) == 10 - inQueue)
    queue.isSuspended = false
    dependencyQueue.waitUntilAllOperationsAreFinished()
    #expect(operations.allSatisfy { $0.isFinished && $0.mainCount == 0 })
  }

  // MARK: The form of the tutorials

  /// An asynchronous operation as the tutorials have it; counts the calls.
  final class TutorialOperation: Operation, @unchecked Sendable {
    // Safe: the state is behind the lock, the count atomic.
    enum State: String {
      case ready = "isReady"
      case executing = "isExecuting"
      case finished = "isFinished"
    }

    private let stored = Lock(State.ready)
    let mains = Atomic(0)
    /// How often the end was announced.
    let ends = Atomic(0)

    private(set) var state: State {
      get { stored.withLock { $0 } }
      set {
        let old = state
        willChangeValue(forKey: newValue.rawValue)
        willChangeValue(forKey: old.rawValue)
        stored.withLock { $0 = newValue }
        didChangeValue(forKey: old.rawValue)
        didChangeValue(forKey: newValue.rawValue)
        if newValue == .finished { ends.wrappingAdd(1, ordering: .sequentiallyConsistent) }
      }
    }

    override var isAsynchronous: Bool { true }
    override var isReady: Bool { super.isReady && state == .ready }
    override var isExecuting: Bool { state == .executing }
    override var isFinished: Bool { state == .finished }

    override func start() {
      if isCancelled {
        finish()
        return
      }
      state = .executing
      main()
    }

    override func main() { mains.wrappingAdd(1, ordering: .sequentiallyConsistent) }
    func finish() { state = .finished }
  }

  @Test func theTutorialsOperationExecutesAfterAnEarlyEnd() {
    let tutorial = TutorialOperation()
    tutorial.finish()
    #expect(tutorial.isFinished)
    tutorial.start()
    #expect(!tutorial.isFinished && tutorial.isExecuting && tutorial.mains.load(ordering: .relaxed) == 1)

    let ours = ManualOperation()
    ours.finish()
    #expect(!ours.isFinished)
    ours.start()
    #expect(ours.isFinished && ours.mainCount == 0)
  }

  @Test func theTutorialsOperationEndedInAQueueMakesFoundationPrint() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      let queue = OperationQueue()
      queue.isSuspended = true
      let tutorial = TutorialOperation()
      queue.addOperation(tutorial)
      tutorial.finish()
      fflush(nil)
    }
    let words = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(words.contains("went isFinished=YES without being started"))
    // Ours in the same place: AsyncOperationTests.foundationPrintsNothingAboutAnEndBeforeTheStart
  }

  @Test func startedAgainAfterItsEndTheTutorialsOperationExecutesOnceMore() {
    let tutorial = TutorialOperation()
    tutorial.start()
    tutorial.finish()
    tutorial.start()
    #expect(tutorial.isExecuting && tutorial.mains.load(ordering: .relaxed) == 2)

    for _ in 0..<3000 {
      let ours = ManualOperation()
      race([{ ours.start() }, { ours.cancel() }, { ours.finish() }])
      ours.start()
      #expect(ours.isFinished && ours.mainCount <= 1)
    }
  }

  @Test func finishedTwiceTheTutorialsOperationTellsItsQueueTwice() {
    let tutorial = TutorialOperation()
    tutorial.start()
    tutorial.finish()
    tutorial.finish()
    #expect(tutorial.ends.load(ordering: .relaxed) == 2)

    final class Watched: AsyncOperation, @unchecked Sendable {
      // Safe: atomic.
      let ends = Atomic(0)
      override func main() {}
      override func operationDidFinish() { ends.wrappingAdd(1, ordering: .sequentiallyConsistent) }
    }
    let ours = Watched()
    ours.start()
    race([{ ours.finish() }, { ours.finish() }, { ours.finish() }])
    ours.finish()
    #expect(ours.ends.load(ordering: .sequentiallyConsistent) == 1)
  }
}
