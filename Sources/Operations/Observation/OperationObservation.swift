import Foundation
import Synchronization

/// One observer of one operation.
///
/// The observation does not retain the operation; each delivery does.
final class OperationObservation: Sendable {
  /// A change, or a posted event, on its way to a handler.
  struct Delivery: Sendable {
    let observation: OperationObservation
    let operation: Operation
    /// Nil for the initial value and for a posted event.
    let old: OperationSnapshot?
    let new: OperationSnapshot
    /// The time of the change or event, on the clock of the delivery queue.
    let time: Duration
    let post: OperationPost?

    func deliver() {
      if !observation.end.isReached { observation.handler?(self) }
    }
  }

  typealias Handler = @Sendable (Delivery) -> Void

  let end: ObservationEnd
  private let interest: ChangeInterest
  // A handler with its mailbox, or a buffer. Not an enumeration: a copy of its payload would cost at each change.
  private let handler: Handler?
  private let delivery: DeliveryQueue?
  /// The mailbox of `delivery`, which retains it; unmanaged, because counting references costs at each change.
  private let mailbox: Unmanaged<Mailbox<Delivery>>?
  private let buffer: ChangeBuffer?
  /// The kinds of posted events that it receives.
  private let posts: OperationEvent.Kinds
  /// The number of lines dropped since the last posted one; changed only under the observer list's lock.
  private let lost = Atomic(0)

  /// Makes an observation that calls the handler on `queue`.
  init(
    in list: ObserverList, interest: ChangeInterest, on queue: DispatchQueue, posts: OperationEvent.Kinds = [],
    handler: @escaping Handler
  ) {
    end = ObservationEnd(in: list)
    self.interest = interest
    self.handler = handler
    self.posts = posts
    let delivery = DeliveryQueue.of(queue)
    self.delivery = delivery
    mailbox = .passUnretained(delivery.mailbox)
    buffer = nil
  }

  /// Makes an observation that stores changes in `buffer`.
  init(in list: ObserverList, interest: ChangeInterest, to buffer: ChangeBuffer) {
    end = ObservationEnd(in: list)
    self.interest = interest
    self.buffer = buffer
    handler = nil
    posts = []
    delivery = nil
    mailbox = nil
  }

  // MARK: Under the observer list's lock, so that changes are posted in order

  /// Posts a change; returns the buffer to be woken once the lock is free.
  func post(_ operation: Operation, from old: OperationSnapshot, to new: OperationSnapshot) -> ChangeBuffer? {
    interest.includes(old, new) ? send(operation, old, new) : nil
  }

  /// Posts an event, but drops lines if `limit` deliveries wait on the queue; the next lines have the dropped number.
  func post(_ operation: Operation, _ post: OperationPost, at value: OperationSnapshot, below limit: Int) {
    guard posts.contains(post.kind) else { return }
    guard case .lines(var lines) = post.event else {
      send(operation, nil, value, post)
      return
    }
    if limit < .max, mailbox?._withUnsafeGuaranteedRef({ $0.count >= limit }) ?? true {
      lost.wrappingAdd(lines.count, ordering: .relaxed)
      return
    }
    // The observer may skip an unfinished line.
    guard lost.load(ordering: .relaxed) > 0, let first = lines.firstIndex(where: { !$0.isUnfinished }) else {
      send(operation, nil, value, post)
      return
    }
    lines[first].lost += lost.exchange(0, ordering: .relaxed)
    send(operation, nil, value, OperationPost(.lines(lines), post.receipt))
  }

  /// Posts the number of lines dropped since the last posted one, because the operation ends.
  func postLost(_ operation: Operation, at value: OperationSnapshot) {
    let lost = lost.load(ordering: .relaxed)
    guard lost > 0 else { return }
    send(operation, nil, value, OperationPost(.lines([OperationLogLine(text: "", source: .note, lost: lost)])))
  }

  func postInitial(_ operation: Operation, _ value: OperationSnapshot) -> ChangeBuffer? {
    send(operation, nil, value)
  }

  @discardableResult
  private func send(
    _ operation: Operation, _ old: OperationSnapshot?, _ new: OperationSnapshot, _ post: OperationPost? = nil
  ) -> ChangeBuffer? {
    guard let mailbox, let delivery else {
      buffer?.append(old, new)
      return buffer
    }
    // The clock is read only for observers that receive the time.
    let time = !posts.isEmpty || delivery.hasClock ? delivery.clock.now : .zero
    mailbox._withUnsafeGuaranteedRef {
      $0.post { Delivery(observation: self, operation: operation, old: old, new: new, time: time, post: post) }
    }
    return nil
  }

  // MARK: The end

  /// Called when the operation has finished, or was freed before: no change follows the posted ones.
  func operationIsOver() {
    buffer?.close()
    buffer?.wake()
  }
}

/// Whether an observation has been ended; its identity is the observation's.
final class ObservationEnd: Sendable {
  private let state = Atomic(false)
  private let list: ObserverList

  fileprivate init(in list: ObserverList) { self.list = list }

  var isReached: Bool { state.load(ordering: .acquiring) }

  func reach() {
    guard !state.exchange(true, ordering: .acquiringAndReleasing) else { return }
    list.remove(self)
  }
}

extension Unmanaged: Identifying where Instance == OperationObservation {
  var identity: ObjectIdentifier { _withUnsafeGuaranteedRef { ObjectIdentifier($0.end) } }
}

/// The observers of one operation, and its progress.
///
/// Created with the first observer or the first progress, so that an operation without either pays nothing.
final class ObserverList: Sendable {
  private struct Contents {
    var progress = OperationProgress()
    /// Retained here, in the order of their addition; unmanaged, because counting references costs at each change.
    var observations = IdentityList<Unmanaged<OperationObservation>>()

    /// Posts a change to all observers; returns the buffers to be woken once the lock is free.
    func post(
      _ operation: Operation, from old: OperationSnapshot, to new: OperationSnapshot
    ) -> [ChangeBuffer] {
      var buffers: [ChangeBuffer] = []
      observations.visit { observation in
        let buffer = observation._withUnsafeGuaranteedRef { $0.post(operation, from: old, to: new) }
        if let buffer { buffers.append(buffer) }
      }
      return buffers
    }
  }

  private let contents = LockedPlace(Contents())

  deinit { close() }

  var progress: OperationProgress { contents.withLock { $0.progress } }

  /// Makes a move by `isMade`, which returns whether it was made, and posts it: observers receive all moves in order.
  func post(
    _ operation: Operation, from old: OperationLifecycle, to new: OperationLifecycle, if isMade: () -> Bool
  ) -> Bool {
    var over: [Unmanaged<OperationObservation>] = []
    let buffers = contents.withLock { contents -> [ChangeBuffer]? in
      guard isMade() else { return nil }
      let new = OperationSnapshot(new, contents.progress)
      if new.lifecycle.isFinished {
        contents.observations.visit { $0._withUnsafeGuaranteedRef { $0.postLost(operation, at: new) } }
      }
      let buffers = contents.post(operation, from: OperationSnapshot(old, contents.progress), to: new)
      if new.lifecycle.isFinished { over = contents.observations.takeAll() }
      return buffers
    }
    guard let buffers else { return false }
    for buffer in buffers { buffer.wake() }
    Self.end(over)
    return true
  }

  /// Returns when every move made by another thread has been posted.
  func waitForPosting() { contents.withLock { _ in } }

  /// Sets the progress, read under the lock, and posts it, unless it is nil or the operation has finished.
  func report(
    _ progress: () -> OperationProgress?, _ operation: Operation, lifecycle: () -> OperationLifecycle
  ) {
    let buffers = contents.withLock { contents -> [ChangeBuffer] in
      let lifecycle = lifecycle()
      guard !lifecycle.isFinished, let progress = progress(), progress != contents.progress else { return [] }
      let old = OperationSnapshot(lifecycle, contents.progress)
      contents.progress = progress
      return contents.post(operation, from: old, to: OperationSnapshot(lifecycle, progress))
    }
    for buffer in buffers { buffer.wake() }
  }

  /// Posts an event that changes neither state nor progress, unless the operation has finished.
  ///
  /// Lines of the log, but no other events, are left out where `limit` deliveries wait.
  func post(
    _ post: OperationPost, _ operation: Operation, below limit: Int = .max, lifecycle: () -> OperationLifecycle
  ) {
    contents.withLock { contents in
      let value = OperationSnapshot(lifecycle(), contents.progress)
      guard !value.lifecycle.isFinished else { return }
      contents.observations.visit { observation in
        observation._withUnsafeGuaranteedRef { $0.post(operation, post, at: value, below: limit) }
      }
    }
  }

  /// Adds an observation; `setObserved` directs all later moves to this list, and returns the state at that instant.
  func add(
    _ observation: OperationObservation, to operation: Operation, initial: Bool, setObserved: () -> OperationLifecycle
  ) {
    let (buffer, isOver) = contents.withLock { contents -> (ChangeBuffer?, Bool) in
      let lifecycle = setObserved()
      let buffer = initial ? observation.postInitial(operation, OperationSnapshot(lifecycle, contents.progress)) : nil
      if !lifecycle.isFinished { contents.observations.append(.passRetained(observation)) }
      return (buffer, lifecycle.isFinished)
    }
    buffer?.wake()
    if isOver { observation.operationIsOver() }
  }

  /// Removes an observation; the operation stays marked as observed, because another observer may be on its way.
  fileprivate func remove(_ end: ObservationEnd) {
    let removed = contents.withLock { $0.observations.remove(ObjectIdentifier(end)) }
    removed?.release()
  }

  /// Notifies the observers waiting for changes that there will be none, because the operation is being freed.
  func close() { Self.end(contents.withLock { $0.observations.takeAll() }) }

  /// Frees observations outside the lock: a handler's last reference may end other observations.
  private static func end(_ observations: [Unmanaged<OperationObservation>]) {
    for observation in observations {
      observation._withUnsafeGuaranteedRef { $0.operationIsOver() }
      observation.release()
    }
  }
}
