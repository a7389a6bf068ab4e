import Foundation

/// The one mailbox of a dispatch queue that observations are delivered on.
///
/// Sharing it keeps the changes of many operations in one order, and makes one drain of many changes.
final class DeliveryQueue: Sendable {
  let mailbox: Mailbox<OperationObservation.Delivery>

  private init(_ queue: DispatchQueue) {
    mailbox = Mailbox(on: queue, pace: UIQueue.isMain(queue) ? .frames : nil) { deliveries in
      for index in deliveries.indices { deliveries[index].deliver() }
    }
  }

  // The queue is known by what is stored with it, because on Linux one queue has many wrapper objects. The mailbox keeps
  // its queue, hence the queue keeps this weakly; and this apart from the mailbox, because what is kept weakly somewhere
  // costs much more to hold.
  private struct WeakReference: Sendable { weak var delivery: DeliveryQueue? }

  /// For good, as the queue is; and what is a flood is remembered though nobody observes for a moment.
  private static let main = DeliveryQueue(.main)

  private static let key = DispatchSpecificKey<WeakReference>()
  // Bare, because the thread sanitizer takes the place of an empty value for that of the lock beside it.
  private static let lock = NSLock()

  static func of(_ queue: DispatchQueue) -> DeliveryQueue {
    // libdispatch allows nothing to be stored with its global queues.
    guard !queue.label.hasPrefix("com.apple.root.") else { return DeliveryQueue(queue) }
    if UIQueue.isMain(queue) { return main }
    return lock.withLock {
      if let delivery = queue.getSpecific(key: key)?.delivery { return delivery }
      let delivery = DeliveryQueue(queue)
      queue.setSpecific(key: key, value: WeakReference(delivery: delivery))
      return delivery
    }
  }
}
