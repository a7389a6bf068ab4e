import Foundation

/// The mailbox of a dispatch queue through which all observations on it are delivered.
///
/// Sharing it keeps the changes of many operations in one order, and makes one call of many changes.
package final class DeliveryQueue: @unchecked Sendable {
  // Safe: the variables are touched only on the queue, one delivery after another; the rest is constant.
  let mailbox: Mailbox<OperationObservation.Delivery>
  let clock: (any OperationClock)?
  /// The instant of `clock` at which the change was posted that is being delivered.
  ///
  /// To be read within a handler; zero without a clock.
  package internal(set) var time = Duration.zero
  /// The receipt of the lines that are being delivered, if their producer waits until they are handled.
  ///
  /// To be read within a handler; a handler that keeps it makes the producer wait longer. See `log(_:whenHandled:)`.
  package internal(set) var receipt: (any AnyObject & Sendable)?

  private init(_ queue: DispatchQueue, pace: MailboxPace? = nil, clock: (any OperationClock)? = nil) {
    self.clock = clock
    mailbox = Mailbox(on: queue, pace: pace) { deliveries in
      for index in deliveries.indices { deliveries[index].deliver() }
    }
  }

  /// Makes the delivery of a serial queue on which nothing is observed yet: changes come at this pace and with their time.
  ///
  /// `observe` and its kin find it as long as the caller keeps it.
  package convenience init(attachedTo queue: DispatchQueue, pace: MailboxPace, clock: any OperationClock) {
    self.init(queue, pace: pace, clock: clock)
    Self.lock.withLock {
      require(queue.getSpecific(key: Self.key)?.delivery == nil, "\(queue.label) has a delivery queue")
      queue.setSpecific(key: Self.key, value: WeakReference(delivery: self))
    }
  }

  /// Sets the number of waiting deliveries that do not wait for the pace; with 1 none waits.
  package func setBurst(_ count: Int) { mailbox.setBurst(count) }

  /// Lets the deliveries that wait for the pace wait no longer; calls `body` on the queue after all that were posted.
  package func deliverNow(_ body: @escaping @Sendable () -> Void = {}) { mailbox.deliverNow(body) }

  // Found by the queue's specific value, because on Linux one queue has many wrapper objects. Weakly, because the mailbox
  // keeps its queue; and this object apart from the mailbox, because a weakly referenced object costs more to retain.
  private struct WeakReference: Sendable { weak var delivery: DeliveryQueue? }

  /// Kept for good, so that a flood is remembered while there is no observer for a moment.
  private static let main = DeliveryQueue(.main, pace: .frames)

  private static let key = DispatchSpecificKey<WeakReference>()
  // No `Lock`, because the thread sanitizer confuses the address of an empty value with that of the lock beside it.
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
