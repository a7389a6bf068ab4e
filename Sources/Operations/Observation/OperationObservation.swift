import Foundation
import Synchronization

/// One observer of one operation.
///
/// It keeps no reference to the operation; each delivery does.
final class OperationObservation: Sendable {
  /// A change on its way to a handler; `old` is nil for the value at the beginning.
  struct Delivery: Sendable {
    let observation: OperationObservation
    let operation: Operation
    let old: OperationSnapshot?
    let new: OperationSnapshot
    var news: OperationNews?

    func deliver() {
      guard !observation.isEnded.load(ordering: .acquiring) else { return }
      var news = news
      if case .timed(let time, let inner)? = news {
        observation.delivery?.time = time
        news = inner
      }
      guard let news else {
        observation.handler?(operation, old, new)
        return
      }
      if case .lines(_, let receipt?) = news { observation.delivery?.receipt = receipt }
      observation.newsHandler?(operation, news)
      observation.delivery?.receipt = nil
    }
  }

  typealias Handler = @Sendable (Operation, OperationSnapshot?, OperationSnapshot) -> Void
  typealias NewsHandler = @Sendable (Operation, OperationNews) -> Void

  private let isEnded = Atomic(false)
  private let list: ObserverList
  private let interest: ChangeInterest
  // Handlers with their mailbox, or a buffer. No enumeration: a copy of its payload costs at each change.
  private let handler: Handler?
  private let newsHandler: NewsHandler?
  private let delivery: DeliveryQueue?
  /// The mailbox of `delivery`, which keeps it: counting references costs at each change.
  private let mailbox: Unmanaged<Mailbox<Delivery>>?
  private let buffer: (any ChangeReceiver)?
  /// Whether it is told of lines of the log, by its handler for news, or of all other news.
  private let wantsLines: Bool

  /// Makes an observation that calls the handlers on `queue`.
  init(
    in list: ObserverList, interest: ChangeInterest, on queue: DispatchQueue, wantsLines: Bool = false,
    handler: Handler? = nil, news newsHandler: NewsHandler? = nil
  ) {
    self.list = list
    self.interest = interest
    self.handler = handler
    self.newsHandler = newsHandler
    self.wantsLines = wantsLines
    let delivery = DeliveryQueue.of(queue)
    self.delivery = delivery
    mailbox = .passUnretained(delivery.mailbox)
    buffer = nil
  }

  /// Makes an observation that keeps changes in `buffer`.
  init(in list: ObserverList, interest: ChangeInterest, to buffer: any ChangeReceiver) {
    self.list = list
    self.interest = interest
    self.buffer = buffer
    handler = nil
    newsHandler = nil
    wantsLines = false
    delivery = nil
    mailbox = nil
  }

  // MARK: Under the observer list's lock, so that changes are posted in the order in which they happen

  /// Posts a change; returns the buffer to be woken once the lock is free.
  func post(
    _ operation: Operation, from old: OperationSnapshot, to new: OperationSnapshot
  ) -> (any ChangeReceiver)? {
    interest.includes(old, new) ? send(operation, old, new) : nil
  }

  /// Posts news; false if `limit` deliveries wait on the queue, so that a line was left out.
  func post(_ operation: Operation, _ news: OperationNews, at value: OperationSnapshot, below limit: Int) -> Bool {
    guard newsHandler != nil else { return true }
    if case .lines = news {
      guard wantsLines else { return true }
      if limit < .max, mailbox?._withUnsafeGuaranteedRef({ $0.count >= limit }) ?? true { return false }
    } else if wantsLines {
      return true
    }
    send(operation, nil, value, news)
    return true
  }

  /// Posts the value at the beginning.
  func postInitial(_ operation: Operation, _ value: OperationSnapshot) -> (any ChangeReceiver)? {
    send(operation, nil, value)
  }

  @discardableResult
  private func send(
    _ operation: Operation, _ old: OperationSnapshot?, _ new: OperationSnapshot, _ news: OperationNews? = nil
  ) -> (any ChangeReceiver)? {
    guard let mailbox else {
      buffer?.append(old, new)
      return buffer
    }
    let news = delivery?.clock.map { .timed($0.now, news) } ?? news
    mailbox._withUnsafeGuaranteedRef {
      $0.post { Delivery(observation: self, operation: operation, old: old, new: new, news: news) }
    }
    return nil
  }

  // MARK: The end

  /// Called when the operation has finished, or was freed before: no change comes after the posted ones.
  func operationIsOver() {
    buffer?.close()
    buffer?.wake()
  }

  func end() {
    guard !isEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
    list.remove(self)
  }
}

/// Keeps changes until they are asked for.
protocol ChangeReceiver: AnyObject, Sendable {
  /// Called under the observer list's lock; must not call back.
  func append(_ old: OperationSnapshot?, _ new: OperationSnapshot)
  /// Called without a lock after an append or a close.
  func wake()
  /// No change will come any more.
  func close()
}

/// Keeps one observation alive: it ends when the token is cancelled or the last reference to the token goes away.
///
/// After `cancel()` on the queue that the observation is delivered on, the handler is never called again. After
/// `cancel()` on another thread no call begins, but one that has begun may still be under way.
public final class ObservationToken: Sendable {
  private let observation: Lock<OperationObservation?>

  init(_ observation: OperationObservation) { self.observation = Lock(observation) }

  deinit { cancel() }

  /// Ends the observation and frees its handler; from any thread, any number of times.
  public func cancel() {
    let observation = observation.withLock { $0.take() }
    observation?.end()
  }
}
