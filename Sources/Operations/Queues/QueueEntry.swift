import Foundation
import Synchronization

/// The way operations came to be in their place.
package enum QueueEntry {
  /// The operations are about to enter a queue or its dependency queue, or the queue has just started one of them.
  case queue(OperationQueue)
  /// The operations are children of this operation, about to enter a queue of its own.
  case parent(Operation)
}

/// A use of operations that is a mistake, or may be one.
package enum OperationSighting: Sendable {
  /// A thread of an operation queue has begun to wait: see `SlotWait`.
  case wait
  /// Groups and their children have taken two categories in both orders; the operations that have shown it.
  case exclusionOrder(String, String, [Operation])
  /// An operation was freed while it executed.
  case released(name: String)
}

/// An operation that runs other operations, its children, and reports them to `QueueEntryObserver`.
package protocol ParentOperation: Operation {
  /// The children that have not finished.
  var unfinishedChildren: [Operation] { get }
  /// Whether the operation can succeed although a child has failed.
  var toleratesFailures: Bool { get }
  /// Whether this child is an attempt at the operation's own work.
  func isAttempt(_ child: Operation) -> Bool
}

/// Observes the operations that enter a queue or begin, in all queues of the process, until it is closed or released.
///
/// A `DelegatedOperationQueue`, a `DependencyQueue`, a group and a retry report each operation before it enters. A
/// plain `OperationQueue` can't be observed on Linux: only an `AsyncOperation` in it is reported, when it begins.
/// Without an observer nothing is looked up.
package final class QueueEntryObserver: Sendable {
  package typealias Handler = @Sendable ([Operation], QueueEntry) -> Void
  package typealias SightingHandler = @Sendable (OperationSighting) -> Void

  private static let count = Atomic(0)
  private static let handlers = Lock<[ObjectIdentifier: (entry: Handler, sighting: SightingHandler)]>([:])

  /// Calls `handler` on the thread that adds or starts operations, before it continues; calls may be concurrent.
  ///
  /// `whenSeen` is called in the same way, with what concerns any operation of the process.
  package init(whenSeen: @escaping SightingHandler = { _ in }, whenEntered handler: @escaping Handler) {
    Self.handlers.withLock { $0[ObjectIdentifier(self)] = (handler, whenSeen) }
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

  /// Notifies every observer; called without a lock.
  static func tell(_ operations: [Operation], _ entry: QueueEntry) {
    guard isNeeded else { return }
    for handler in handlers.withLock({ Array($0.values) }) { handler.entry(operations, entry) }
  }

  /// Notifies every observer of a sighting; called without a lock.
  static func see(_ sighting: OperationSighting) {
    guard isNeeded else { return }
    for handler in handlers.withLock({ Array($0.values) }) { handler.sighting(sighting) }
  }

  /// Reports an operation that has begun, if the current thread belongs to a queue.
  static func tellStart(of operation: Operation) {
    guard isNeeded, let queue = OperationQueue.current else { return }
    tell([operation], .queue(queue))
  }
}
