import Foundation

/// The mailbox of a dispatch queue, which delivers all observations on that queue.
///
/// Sharing it keeps the changes of many operations in one order, and combines many changes into one call.
package final class DeliveryQueue: Sendable {
  let mailbox: Mailbox<OperationObservation.Delivery>
  /// The clock that the events are dated by.
  let clock: any OperationClock
  /// Whether the clock was given, so that changes of properties have a time too.
  let hasClock: Bool

  /// The state of the current call with deliveries, and the handler called after each.
  private struct Batch: Sendable {
    var isUnderWay = false
    var whenDelivered: (@Sendable () -> Void)?
  }

  private let batch: Lock<Batch>

  private init(_ queue: DispatchQueue, pace: MailboxPace? = nil, clock: (any OperationClock)? = nil) {
    self.clock = clock ?? .system
    hasClock = clock != nil
    let batch = Lock(Batch())
    self.batch = batch
    mailbox = Mailbox(on: queue, pace: pace) { deliveries in
      batch.withLock { $0.isUnderWay = true }
      for index in deliveries.indices { deliveries[index].deliver() }
      let whenDelivered = batch.withLock { batch in
        batch.isUnderWay = false
        return batch.whenDelivered
      }
      whenDelivered?()
    }
  }

  /// Whether deliveries are being made; meaningful on the queue, if it is serial.
  package var isDelivering: Bool { batch.withLock(\.isUnderWay) }

  /// Sets the handler that is called on the queue after the deliveries of each call.
  package func whenDelivered(_ body: @escaping @Sendable () -> Void) { batch.withLock { $0.whenDelivered = body } }

  /// Makes the delivery for a serial queue without observations yet; changes are delivered at this pace, dated by this
  /// clock.
  ///
  /// `observe` and similar methods find it as long as the caller retains it.
  package convenience init(attachedTo queue: DispatchQueue, pace: MailboxPace, clock: any OperationClock) {
    self.init(queue, pace: pace, clock: clock)
    Self.lock.withLock {
      require(queue.getSpecific(key: Self.key)?.delivery == nil, "\(queue.label) has a delivery queue")
      queue.setSpecific(key: Self.key, value: WeakReference(delivery: self))
    }
  }

  /// Sets the number of waiting deliveries that do not wait for the pace; with 1 none waits.
  package func setBurst(_ count: Int) { mailbox.setBurst(count) }

  /// Delivers at once all deliveries that wait for the pace; calls `body` on the queue after all posted deliveries.
  package func deliverNow(_ body: @escaping @Sendable () -> Void = {}) { mailbox.deliverNow(body) }

  // Found by the queue's specific value, because on Linux one queue has many wrapper objects. Weak, because the mailbox
  // retains its queue. This object is separate from the mailbox, because a weakly referenced object costs more to
  // retain.
  private struct WeakReference: Sendable { weak var delivery: DeliveryQueue? }

  /// Retained permanently, so that a flood is remembered during a moment without observers.
  private static let main = DeliveryQueue(.main, pace: .frames)

  /// The operations whose handlers wait for the main queue, one for each waiting call.
  package static var waitingForMain: [Operation] { main.mailbox.withElements { $0.prefix(1000).map(\.operation) } }

  private static let key = DispatchSpecificKey<WeakReference>()
  // Not a `Lock`, because the thread sanitizer confuses the address of an empty value with the adjacent lock.
  private static let lock = NSLock()

  static func of(_ queue: DispatchQueue) -> DeliveryQueue {
    // libdispatch can't store anything with its global queues.
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
