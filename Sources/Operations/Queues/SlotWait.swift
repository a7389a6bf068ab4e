import Foundation

/// A thread of an operation queue that waits for the end of an operation, and holds a slot meanwhile.
///
/// Known of waits by `waitUntilFinished()` of an asynchronous operation that began while a `QueueEntryObserver` was there.
package struct SlotWait: Sendable {
  /// The queue of the waiting thread.
  package let queue: OperationQueue
  package let awaited: Operation

  private struct Table {
    var waits: [Int: SlotWait] = [:]
    var last = 0
  }

  private static let table = Lock(Table())

  /// The waits under way, in no particular order.
  package static var all: [SlotWait] { table.withLock { Array($0.waits.values) } }

  /// Calls `body`, which waits for the end of `operation`.
  static func record(of operation: Operation, _ body: () -> Void) {
    guard QueueEntryObserver.isNeeded, !operation.isFinished, let queue = OperationQueue.current,
      queue !== OperationQueue.main
    else { return body() }
    let number = table.withLock { table in
      table.last += 1
      table.waits[table.last] = SlotWait(queue: queue, awaited: operation)
      return table.last
    }
    QueueEntryObserver.see(.wait)
    body()
    table.withLock { $0.waits[number] = nil }
  }
}
