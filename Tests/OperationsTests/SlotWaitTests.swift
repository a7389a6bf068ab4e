import Foundation
import Support
import Testing

@testable import Operations

@Suite struct SlotWaitTests {
  private func waits(for operation: AsyncOperation) -> [SlotWait] { SlotWait.all.filter { $0.awaited === operation } }

  @Test func aWaitInAQueueIsKnownWhileItLasts() async {
    let (queue, part) = (OperationQueue(), ManualOperation())
    let isSeen = Lock(false)
    let observer = QueueEntryObserver(
      whenSeen: { if case .wait = $0 { isSeen.withLock { $0 = true } } }, whenEntered: { _, _ in })
    queue.maxConcurrentOperationCount = 1
    queue.addOperation { part.waitUntilFinished() }
    queue.addOperation(part)
    #expect(await soon { waits(for: part).count == 1 })
    #expect(isSeen.withLock { $0 } && waits(for: part).first?.queue === queue)
    #expect(part.waitsForSlot(of: queue) && !part.waitsForSlot(of: OperationQueue()))
    queue.maxConcurrentOperationCount = 2
    #expect(await soon { part.isExecuting })
    #expect(!part.waitsForSlot(of: queue))
    part.finish()
    #expect(await soon { waits(for: part).isEmpty })
    observer.close()
  }

  @Test func aMemberOfADependencyQueueWaitsForASlotOfItsQueue() throws {
    let (queue, part, before) = (OperationQueue(), ManualOperation(), ManualOperation())
    part.addDependency(before)
    let members = DependencyQueue(feeding: queue)
    try members.add(part)
    #expect(queue.operations.isEmpty && part.waitsForSlot(of: queue))
    part.cancel()
  }

  @Test func theOperationsThatATaskAwaitsAreKnown() async throws {
    let (queue, part) = (OperationQueue(), ManualOperation())
    let task = TaskOperation { try await part.untilFinished() }
    queue.addOperation(task)
    #expect(await soon { task.awaitedOperations.contains { $0 === part } })
    queue.addOperation(part)
    #expect(await soon { part.isExecuting })
    part.finish()
    #expect(await soon { task.isFinished })
    #expect(task.awaitedOperations.isEmpty)
  }
}
