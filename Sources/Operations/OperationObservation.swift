import Dispatch
import Synchronization

/// One observer of one operation.
final class OperationObservation: Sendable {
  /// What an observer is told of: everything that can be observed, at one instant.
  struct Snapshot: Sendable {
    // In this order the two take the least room; there may be millions on their way.
    var progress: OperationProgress
    var code: UInt8

    init(lifecycle: OperationLifecycle, progress: OperationProgress) {
      self.progress = progress
      code = lifecycle.code
    }

    var lifecycle: OperationLifecycle { OperationLifecycle(code: code) }
  }

  /// A change on its way to a handler; `old` is nil for the value at the beginning.
  struct Delivery: Sendable {
    let observation: OperationObservation
    let operation: AsyncOperation
    let old: Snapshot?
    let new: Snapshot
    /// What happened that changed nothing that can be observed as a value.
    var news: OperationNews?

    func deliver() {
      guard !observation.isEnded.load(ordering: .acquiring) else { return }
      guard let news else {
        observation.handler?(operation, old, new)
        return
      }
      guard case .posted(let time, let inner) = news else {
        observation.newsHandler?(operation, news)
        return
      }
      observation.delivery?.time = time
      if let inner { observation.newsHandler?(operation, inner) } else { observation.handler?(operation, old, new) }
    }
  }

  typealias Handler = @Sendable (AsyncOperation, Snapshot?, Snapshot) -> Void

  private let isEnded = Atomic(false)
  private let board: ObservationBoard
  private let interest: ChangeInterest
  // A handler with its mailbox, or a buffer. Apart, because a copy of what an enumeration holds costs at each change.
  private let handler: Handler?
  private let newsHandler: (@Sendable (AsyncOperation, OperationNews) -> Void)?
  private let delivery: DeliveryQueue?
  /// That of `delivery`, which keeps it: counting references costs at each change.
  private let mailbox: Unmanaged<Mailbox<Delivery>>?
  /// That of `delivery`, if it has one.
  private let clock: (any OperationClock)?
  private let buffer: (any ChangeReceiver)?
  /// Whether it is told of the lines of the log, by its handler for news.
  let wantsLines: Bool

  /// Tells `handler` on `queue`.
  init(
    of operation: AsyncOperation, interest: ChangeInterest, on queue: DispatchQueue, wantsLines: Bool = false,
    news newsHandler: (@Sendable (AsyncOperation, OperationNews) -> Void)? = nil, handler: @escaping Handler
  ) {
    board = operation.existingBoard
    self.interest = interest
    self.handler = handler
    self.newsHandler = newsHandler
    let delivery = DeliveryQueue.of(queue)
    self.delivery = delivery
    clock = delivery.clock
    mailbox = .passUnretained(delivery.mailbox)
    buffer = nil
    self.wantsLines = wantsLines
  }

  /// Keeps for `buffer` what it does not ask for yet.
  init(of operation: AsyncOperation, interest: ChangeInterest, to buffer: any ChangeReceiver) {
    board = operation.existingBoard
    self.interest = interest
    self.buffer = buffer
    handler = nil
    newsHandler = nil
    wantsLines = false
    delivery = nil
    clock = nil
    mailbox = nil
  }

  /// Called under the board's lock, so that changes are posted in the order in which they happen; returns who is to be
  /// woken once the lock is free.
  func post(_ operation: AsyncOperation, from old: Snapshot, to new: Snapshot) -> (any ChangeReceiver)? {
    guard interest.isAwake(from: old, to: new) else { return nil }
    return send(operation, old, new)
  }

  /// Like `post`, for what changes no value.
  func post(_ operation: AsyncOperation, _ news: OperationNews, at value: Snapshot) {
    guard newsHandler != nil else { return }
    let news = clock.map { OperationNews.posted(at: $0.now, news) } ?? news
    mailbox?._withUnsafeGuaranteedRef {
      $0.post { Delivery(observation: self, operation: operation, old: nil, new: value, news: news) }
    }
  }

  /// Like `post`, for a line; false if so many deliveries wait on the queue that it was left out.
  func post(_ operation: AsyncOperation, _ news: OperationNews, at value: Snapshot, below limit: Int) -> Bool {
    guard let mailbox, mailbox._withUnsafeGuaranteedRef({ $0.count < limit }) else { return false }
    post(operation, news, at: value)
    return true
  }

  /// Like `post`, for the value at the beginning.
  func postInitial(_ operation: AsyncOperation, _ value: Snapshot) -> (any ChangeReceiver)? {
    send(operation, nil, value)
  }

  private func send(_ operation: AsyncOperation, _ old: Snapshot?, _ new: Snapshot) -> (any ChangeReceiver)? {
    if let mailbox {
      let news = clock.map { OperationNews.posted(at: $0.now, nil) }
      mailbox._withUnsafeGuaranteedRef {
        $0.post { Delivery(observation: self, operation: operation, old: old, new: new, news: news) }
      }
      return nil
    }
    buffer?.append(old, new)
    return buffer
  }

  /// The operation has finished, or was freed before; no change will come after those that were posted.
  func operationIsOver() {
    buffer?.close()
    buffer?.wake()
  }

  func end() {
    guard !isEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
    board.remove(self)
  }
}

/// Keeps changes until they are asked for.
protocol ChangeReceiver: AnyObject, Sendable {
  /// Called under the board's lock; must not call back.
  func append(_ old: OperationObservation.Snapshot?, _ new: OperationObservation.Snapshot)
  /// Called without a lock after an append or a close.
  func wake()
  /// No change will come any more.
  func close()
}
