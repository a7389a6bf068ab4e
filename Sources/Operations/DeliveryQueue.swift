import Foundation

/// The one mailbox of each dispatch queue that observations are delivered on.
///
/// Sharing it keeps the changes of many operations in one order, and makes one drain of many changes.
enum DeliveryQueue {
  typealias Deliveries = Mailbox<OperationObservation.Delivery>

  private struct WeakMailbox: Sendable { weak var mailbox: Deliveries? }

  private static let key = DispatchSpecificKey<WeakMailbox>()
  // Bare, because the thread sanitizer takes the place of an empty value for that of the lock beside it.
  private static let lock = NSLock()

  // The queue is known by what is stored with it, because on Linux one queue has many wrapper objects. The mailbox
  // keeps its queue, hence the queue keeps it weakly.
  static func mailbox(of queue: DispatchQueue) -> Deliveries {
    // libdispatch allows nothing to be stored with its global queues.
    guard !queue.label.hasPrefix("com.apple.root.") else { return make(queue) }
    return lock.withLock {
      if let mailbox = queue.getSpecific(key: key)?.mailbox { return mailbox }
      let mailbox = make(queue)
      queue.setSpecific(key: key, value: WeakMailbox(mailbox: mailbox))
      return mailbox
    }
  }

  private static func make(_ queue: DispatchQueue) -> Deliveries {
    Mailbox(on: queue) { deliveries in
      for delivery in deliveries { delivery.deliver() }
    }
  }
}
