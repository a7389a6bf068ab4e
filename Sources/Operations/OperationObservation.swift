import Dispatch
import Synchronization

/// One observer of one property of one operation.
final class OperationObservation: Sendable {
  /// What an observer is told of: everything that can be observed, at one instant.
  struct Snapshot: Sendable {
    var lifecycle: OperationLifecycle
    var progress: OperationProgress
  }

  /// A change on its way to the observer; `old` is nil for the value at the beginning.
  struct Delivery: Sendable {
    let observation: OperationObservation
    let operation: AsyncOperation
    let old: Snapshot?
    let new: Snapshot

    func deliver() {
      guard !observation.isEnded.load(ordering: .acquiring) else { return }
      observation.handler(operation, old, new)
    }
  }

  private let isEnded = Atomic(false)
  private let operation: WeakOperation
  private let mailbox: Mailbox<Delivery>
  private let concerns: @Sendable (Snapshot, Snapshot) -> Bool
  private let handler: @Sendable (AsyncOperation, Snapshot?, Snapshot) -> Void

  // Weak, so that a token kept for long does not keep the operation. Safe: set once, before it is shared.
  private struct WeakOperation: @unchecked Sendable { weak var operation: AsyncOperation? }

  init(
    of operation: AsyncOperation, on queue: DispatchQueue, concerns: @escaping @Sendable (Snapshot, Snapshot) -> Bool,
    handler: @escaping @Sendable (AsyncOperation, Snapshot?, Snapshot) -> Void
  ) {
    self.operation = WeakOperation(operation: operation)
    self.mailbox = DeliveryQueue.mailbox(of: queue)
    self.concerns = concerns
    self.handler = handler
  }

  /// Called under the board's lock, so that changes are posted in the order in which they happen.
  func post(_ operation: AsyncOperation, from old: Snapshot, to new: Snapshot) {
    guard concerns(old, new) else { return }
    mailbox.post(Delivery(observation: self, operation: operation, old: old, new: new))
  }

  func postInitial(_ operation: AsyncOperation, _ value: Snapshot) {
    mailbox.post(Delivery(observation: self, operation: operation, old: nil, new: value))
  }

  func end() {
    guard !isEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
    operation.operation?.remove(self)
  }
}
