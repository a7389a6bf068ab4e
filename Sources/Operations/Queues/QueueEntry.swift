import Foundation
import Synchronization

/// How operations came to be where they are.
package enum QueueEntry {
  /// They are about to enter a queue, or a feeder of it; or one of them has just been started by it.
  case queue(OperationQueue)
  /// They are children of this operation, about to enter a queue of its own.
  case parent(AsyncOperation)
}

/// An operation whose work is other operations, its children, which it tells `QueueEntryObserver` of.
package protocol ParentOperation: AsyncOperation {
  /// The children that have not finished.
  var unfinishedChildren: [Operation] { get }
  /// Whether it can succeed although a child has failed.
  var toleratesFailures: Bool { get }
  /// Whether this child is an attempt at what the operation itself does.
  func isAttempt(_ child: Operation) -> Bool
}

/// Learns of operations that enter a queue or begin, of all queues of the process, until it is closed or released.
///
/// A `DelegatedOperationQueue`, an `OperationFeeder`, a group and a retry tell of each operation before it enters. A plain
/// `OperationQueue` on Linux can't be observed: of those in it only an `AsyncOperation` is told of, when it begins. Nothing
/// is looked up while there is no observer.
package final class QueueEntryObserver: Sendable {
  package typealias Handler = @Sendable ([Operation], QueueEntry) -> Void

  private static let count = Atomic(0)
  private static let handlers = Lock<[ObjectIdentifier: Handler]>([:])

  /// Calls `handler` on the thread that adds or starts operations, before it goes on; several calls may come at once.
  package init(_ handler: @escaping Handler) {
    Self.handlers.withLock { $0[ObjectIdentifier(self)] = handler }
    Self.count.wrappingAdd(1, ordering: .relaxed)
  }

  deinit { close() }

  /// Ends the observation; a call that has begun may still be under way.
  package func close() {
    guard Self.handlers.withLock({ $0.removeValue(forKey: ObjectIdentifier(self)) }) != nil else { return }
    Self.count.wrappingSubtract(1, ordering: .relaxed)
  }

  /// Whether there is an observer: one load.
  @inline(__always) static var isNeeded: Bool { count.load(ordering: .relaxed) > 0 }

  /// Tells every observer; called without a lock.
  static func tell(_ operations: [Operation], _ entry: QueueEntry) {
    guard isNeeded else { return }
    for handler in handlers.withLock({ Array($0.values) }) { handler(operations, entry) }
  }

  /// Tells of an operation that has begun, if the thread is one of a queue.
  static func tellStart(of operation: AsyncOperation) {
    guard isNeeded, let queue = OperationQueue.current else { return }
    tell([operation], .queue(queue))
  }
}
