import Foundation
import Support
import Testing

@testable import Operations

@Suite struct QueueEntryObserverTests {
  @Test func anOperationOfAPlainQueueIsReportedAtItsStart() async {
    let (operation, queue) = (ManualOperation(), OperationQueue())
    let entered = Lock<[OperationQueue]>([])
    let observer = QueueEntryObserver { operations, entry in
      guard operations.contains(operation), case .queue(let queue) = entry else { return }
      entered.withLock { $0.append(queue) }
    }
    queue.isSuspended = true
    queue.addOperation(operation)
    #expect(entered.withLock(\.self) == [])
    queue.isSuspended = false
    #expect(await soon { operation.isExecuting })
    #expect(entered.withLock(\.self) == [queue])
    operation.finish()
    observer.close()
  }

  @Test func anOperationThatIsFreedWhileItExecutesIsSeen() {
    let name = "freed \(UUID())"
    let seen = Lock(false)
    let observer = QueueEntryObserver(
      whenSeen: { if case .released(name) = $0 { seen.withLock { $0 = true } } }, whenEntered: { _, _ in })
    do { ManualOperation("\(name) unstarted").cancel() }
    do {
      let operation = ManualOperation("\(name) finished")
      operation.start()
      operation.finish()
    }
    #expect(seen.withLock { $0 } == false)
    do { ManualOperation(name).start() }
    #expect(seen.withLock { $0 } == true)
    observer.close()
  }

  @Test func aClosedObserverIsToldNothing() async {
    let (operation, queue) = (ManualOperation(), OperationQueue())
    let count = Lock(0)
    let observer = QueueEntryObserver { operations, _ in
      if operations.contains(operation) { count.withLock { $0 += 1 } }
    }
    observer.close()
    queue.addOperation(operation)
    #expect(await soon { operation.isExecuting })
    #expect(count.withLock(\.self) == 0)
    operation.finish()
  }
}
