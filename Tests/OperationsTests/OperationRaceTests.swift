import Foundation
import Support
import Synchronization
import Testing

@testable import Operations

@Suite struct OperationRaceTests {
  /// Finishes from didCancel, or from the outside; counts violations of the contract.
  final class Probe: AsyncOperation, @unchecked Sendable {
    // Safe: all state is atomic.
    let mains = Atomic(0)
    let ends = Atomic(0)
    let faults = Atomic(0)
    let isInMain = Atomic(false)

    override func main() {
      isInMain.store(true, ordering: .sequentiallyConsistent)
      mains.wrappingAdd(1, ordering: .sequentiallyConsistent)
      isInMain.store(false, ordering: .sequentiallyConsistent)
    }

    override func didCancel() {
      ends.wrappingAdd(1, ordering: .sequentiallyConsistent)
      if isInMain.load(ordering: .sequentiallyConsistent) || isFinished || !isCancelled {
        faults.wrappingAdd(1, ordering: .sequentiallyConsistent)
      }
      finish()
    }
  }

  @Test func startCancelAndFinishFromManyThreadsAgreeOnOneLife() {
    for round in 0..<3000 {
      let probe = Probe()
      let changes = Journal<AsyncOperation.State>()
      let isDone = Atomic(0)
      let tokens =
        round % 2 == 0
        ? []
        : [
          probe.observe(\.state, on: .global()) { _, change in changes.add(change.newValue) }
        ]
      probe.completionBlock = { isDone.wrappingAdd(1, ordering: .sequentiallyConsistent) }
      race([
        { probe.start() }, { probe.cancel() }, { probe.finish() }, { probe.cancel() }, { probe.finish() },
      ])
      let mains = probe.mains.load(ordering: .sequentiallyConsistent)
      let ends = probe.ends.load(ordering: .sequentiallyConsistent)
      #expect(probe.isFinished)
      #expect(mains <= 1 && ends <= mains)
      #expect(probe.faults.load(ordering: .sequentiallyConsistent) == 0)
      #expect(eventually { isDone.load(ordering: .sequentiallyConsistent) == 1 })
      if !tokens.isEmpty {
        #expect(eventually { changes.entries == (mains == 0 ? [.finished] : [.executing, .finished]) })
      }
    }
  }

  @Test func cancelRacingAQueueLeavesItEmpty() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 4
    for _ in 0..<300 {
      let operations = (0..<10).map { _ in Probe() }
      race([
        { queue.addOperations(operations, waitUntilFinished: false) },
        { for operation in operations { operation.cancel() } },
        { for operation in operations.reversed() { operation.finish() } },
        { for operation in operations.reversed() { operation.cancel() } },
      ])
      #expect(eventually { operations.allSatisfy(\.isFinished) })
      for operation in operations { #expect(operation.faults.load(ordering: .sequentiallyConsistent) == 0) }
    }
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func aResultIsDeliveredOnceWhoeverWins() {
    final class Answer: ResultOperation<Int>, @unchecked Sendable {
      override func main() {}
      override func didCancel() { finish(.failure(CancellationError())) }
    }
    for _ in 0..<2000 {
      let answer = Answer()
      let results = Journal<Bool>()
      race([
        { answer.start() }, { answer.cancel() }, { answer.finish(.success(1)) }, { answer.finish(.success(2)) },
        { answer.whenDone { _ in results.add(true) } },
      ])
      #expect(answer.isFinished && answer.outcome != nil)
      #expect(results.count == 1)
    }
  }
}
