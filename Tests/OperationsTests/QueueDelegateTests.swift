import Foundation
import Support
import Testing

@testable import Operations

/// Delegates of queues, and adapters of operations of other classes.
@Suite struct QueueDelegateTests {
  final class Scribe: OperationQueueDelegate {
    let journal = Journal<String>()
    func operationQueue(_ queue: OperationQueue, willAdd operation: Operation) {
      journal.add("will add \(operation.name ?? "-")")
    }
    func operationQueue(_ queue: OperationQueue, didAdd operation: Operation) {
      journal.add("did add \(operation.name ?? "-")")
    }
    func operationQueue(_ queue: OperationQueue, didFinish operation: Operation, with failure: (any Error)?) {
      journal.add("did finish \(operation.name ?? "-")\(failure.map { " \($0)" } ?? "")")
    }
  }

  final class Silent: OperationQueueDelegate {}

  let own = DispatchQueue(label: "delegate")

  @Test func aDelegateIsToldOfAllThatEntersAndLeaves() {
    let scribe = Scribe()
    let queue = DelegatedOperationQueue(delegate: scribe, on: own)
    queue.maxConcurrentOperationCount = 1
    let operation = ManualOperation("ours")
    let cancelled = BlockOperation {}
    cancelled.name = "theirs"
    queue.addOperation(operation)
    queue.addOperations([cancelled], waitUntilFinished: false)
    queue.addOperation {}
    #expect(eventually { operation.isExecuting })
    cancelled.cancel()
    operation.finish(with: OperationEndingTests.Fault(number: 1))
    #expect(eventually { scribe.journal.count == 9 })
    for name in ["ours", "theirs", "-"] {
      let entries = scribe.journal.entries.filter { $0.contains(name) }.map {
        $0.components(separatedBy: " \(name)")[0]
      }
      #expect(entries == ["will add", "did add", "did finish"])
    }
    #expect(scribe.journal.entries.contains("did finish ours Fault(number: 1)"))
    #expect(scribe.journal.entries.contains("did finish theirs CancellationError()"))
    #expect(scribe.journal.entries.contains("did finish -"))
  }

  @Test func theEndIsNeverToldBeforeTheBeginning() throws {
    let scribe = Scribe()
    let dependencyQueue = DependencyQueue(feeding: OperationQueue())
    dependencyQueue.setDelegate(scribe, on: own)
    for number in 0..<500 {
      let operation = Operations.ClosureOperation {}
      operation.name = "\(number)"
      try dependencyQueue.add(operation)
    }
    #expect(eventually { scribe.journal.count == 1500 })
    let entries = scribe.journal.entries
    for number in 0..<500 {
      let own = entries.filter { $0.hasSuffix(" \(number)") }
      #expect(own == ["will add \(number)", "did add \(number)", "did finish \(number)"])
    }
    dependencyQueue.setDelegate(nil)
    try dependencyQueue.add(Operations.ClosureOperation {})
    dependencyQueue.waitUntilAllOperationsAreFinished()
    own.sync {}
    #expect(scribe.journal.count == 1500)
  }

  @Test func whatIsAboutToBeAddedMayStillBeGivenACondition() {
    final class Guard: OperationQueueDelegate {
      func operationQueue(_ queue: OperationQueue, willAdd operation: Operation) {
        (operation as? AsyncOperation)?.addCondition(.noFailedDependencies)
      }
    }
    let keeper = Guard()
    let queue = DelegatedOperationQueue(delegate: keeper, on: own)
    let bad = ManualOperation()
    bad.cancel()
    let operation = ManualOperation()
    operation.addDependency(bad)
    queue.addOperations([bad, operation], waitUntilFinished: true)
    #expect(operation.failureCode == .conditionFailed)
  }

  @Test func aDelegateIsNotKept() {
    var scribe: Scribe? = Scribe()
    weak var kept: Scribe?
    kept = scribe
    let queue = DelegatedOperationQueue(delegate: Silent(), on: own)
    let other = scribe.map { DelegatedOperationQueue(delegate: $0, on: own) }
    scribe = nil
    #expect(kept == nil)
    for queue in [queue, other].compactMap({ $0 }) { queue.addOperations([BlockOperation {}], waitUntilFinished: true) }
  }

  @Test func anOperationInADelegatedQueueMayProduceOthersLater() {
    let silent = Silent()
    let queue = DelegatedOperationQueue(delegate: silent, on: own)
    let operation = ManualOperation()
    queue.addOperation(operation)
    #expect(eventually { operation.state == .executing && operation.mainCount == 1 })
    let produced = ManualOperation()
    operation.produce(produced)
    #expect(eventually { produced.isExecuting })
    produced.finish()
    operation.finish()
    queue.waitUntilAllOperationsAreFinished()
  }

  // MARK: Adapters

  /// An asynchronous operation as the tutorials have it.
  final class Foreign: Operation, @unchecked Sendable {
    // Safe: behind a lock.
    private let state = Lock(0)
    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.withLock { $0 == 1 } }
    override var isFinished: Bool { state.withLock { $0 == 2 } }
    override func start() {
      if isCancelled { return end() }
      state.withLock { $0 = 1 }
      didChangeValue(forKey: "isExecuting")
    }
    func end() {
      state.withLock { $0 = 2 }
      didChangeValue(forKey: "isExecuting")
      didChangeValue(forKey: "isFinished")
    }
  }

  @Test func theStartAndTheEndOfAForeignOperationAreSeen() {
    let foreign = Foreign()
    foreign.name = "foreign"
    let adapter = AdaptedOperation(foreign)
    let journal = Journal<AsyncOperation.State>()
    let token = adapter.observe(\.state, on: own) { _, change in journal.add(change.newValue) }
    let queue = OperationQueue()
    queue.addOperation(adapter)
    #expect(adapter.name == "foreign")
    #expect(eventually { foreign.isExecuting && adapter.isExecuting })
    foreign.end()
    #expect(eventually { adapter.isFinished })
    #expect(eventually { journal.entries == [.executing, .finished] })
    #expect(adapter.failure == nil)
    token.cancel()
  }

  @Test func anAdapterWaitsForWhatTheForeignOperationDependsOn() {
    let queue = OperationQueue()
    for first in [ManualOperation(), Foreign()] as [Operation] {
      let foreign = BlockOperation {}
      foreign.addDependency(first)
      let adapter = AdaptedOperation(foreign)
      queue.addOperations([adapter, first], waitUntilFinished: false)
      #expect(eventually { first.isExecuting })
      #expect(adapter.state == .pending)
      (first as? ManualOperation)?.finish()
      (first as? Foreign)?.end()
      #expect(eventually { adapter.isFinished && foreign.isFinished })
    }
  }

  @Test func cancellingTheAdapterOrTheOperationInsideEndsBoth() {
    let queue = OperationQueue()
    for isStarted in [false, true] {
      let foreign = Foreign()
      let adapter = AdaptedOperation(foreign)
      if isStarted {
        queue.addOperation(adapter)
        #expect(eventually { foreign.isExecuting && adapter.isExecuting })
      }
      adapter.cancel()
      #expect(eventually { foreign.isCancelled || !isStarted })
      if isStarted { foreign.end() } else { queue.addOperation(adapter) }
      #expect(eventually { adapter.isFinished && foreign.isFinished })
      #expect(adapter.failure is CancellationError)
    }
    let block = BlockOperation {}
    block.cancel()
    let adapter = AdaptedOperation(block)
    queue.addOperations([adapter], waitUntilFinished: true)
    #expect(adapter.isCancelled)
  }
}
