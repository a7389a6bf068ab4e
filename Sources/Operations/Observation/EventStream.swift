import Dispatch

extension AsyncOperation {
  /// Posts an event to the observers of events, if there are any; not after the finish.
  package final func post(_ event: OperationEvent) { post(OperationPost(event)) }

  final func post(_ post: OperationPost, below limit: Int = .max) {
    parts.existingObservers?.post(post, self, below: limit) { parts.lifecycle }
  }

  // MARK: The log

  /// The number of deliveries that may wait on an observer's queue before messages are dropped; states never are.
  static let logLimit = 10_000

  /// Logs a line about the work for the log's observers; from any thread, between creation and finish.
  ///
  /// Nothing is kept for later observers. A line is delivered in order with the operation's changes. Without an
  /// observer, it costs no more than a lock. For an observer that is ten thousand deliveries behind, lines are dropped;
  /// the next line that it receives, or a last one at the end, has their number.
  public final func log(_ text: String) {
    post(OperationPost(.lines([OperationLogLine(text: text)])), below: Self.logLimit)
  }

  /// Posts lines as one delivery to each observer of the log.
  ///
  /// From any thread; after the finish nothing is posted. Lines are in order with the operation's changes and never
  /// dropped: the caller limits itself by `whenHandled`. It is called once, on any thread, when every observer has
  /// handled the lines and none retains their receipt, or at once without observers.
  package final func log(_ lines: [OperationLogLine], whenHandled: @escaping @Sendable () -> Void = {}) {
    let receipt = LogReceipt(whenHandled)
    if !lines.isEmpty { post(OperationPost(.lines(lines), receipt)) }
  }

  // MARK: Observers

  /// Calls `handler` on `queue` with each later event of these kinds, until the token is released or the operation has
  /// finished.
  ///
  /// Events are delivered one at a time, in the order of posting; on one queue, this order holds across
  /// observations and operations. None is dropped, except lines of `log(_:)` for a handler that is ten thousand
  /// deliveries behind; see `OperationLogLine.lost`. Any thread may call this. To receive `attached`, observe the
  /// operation before it enters a queue. The handler should not capture the operation: it is retained until the finish.
  ///
  /// The second argument is the time of the event on a clock that never decreases and has the same origin for all
  /// operations. Lines of a program's output have a receipt: while the handler retains it, the operation reads no more
  /// output.
  public final func events(
    _ kinds: OperationEvent.Kinds = .all, on queue: DispatchQueue = .main,
    _ handler: @escaping @Sendable (OperationEvent, Duration, LogReceipt?) -> Void
  ) -> ObservationToken {
    let observation = OperationObservation(in: parts.observers, interest: .events(kinds), on: queue, posts: kinds) {
      delivery in
      if let post = delivery.post { return handler(post.event, delivery.time, post.receipt) }
      guard let old = delivery.old else { return }
      let operation = unsafeDowncast(delivery.operation, to: AsyncOperation.self)
      OperationEvent.forEach(from: old, to: delivery.new, operation) { event in
        if kinds.contains(event.kind) { handler(event, delivery.time, nil) }
      }
    }
    // With a side state the operation notices that it enters a queue.
    if kinds.contains(.attached) { _ = parts.rareState }
    add(observation)
    return ObservationToken(observation)
  }
}

extension ChangeInterest {
  fileprivate static func events(_ kinds: OperationEvent.Kinds) -> ChangeInterest {
    let mask = UInt64(kinds.rawValue & 0xF) * 0x1111_1111_1111_1111
    return ChangeInterest(classes: allEvents & mask, includesProgress: kinds.contains(.progress))
  }

  /// A bit for each of the first four kinds, in the four bits of each code.
  private static let allEvents = (0..<16).reduce(UInt64(0)) { table, code in
    let lifecycle = OperationLifecycle(code: UInt8(code))
    let facts = [lifecycle.isExecuting, lifecycle.hasBegun, lifecycle.isCancelled, lifecycle.isFinished]
    return facts.enumerated().reduce(table) { $1.element ? $0 | 1 << UInt64(4 * code + $1.offset) : $0 }
  }
}

extension OperationEvent {
  fileprivate static func forEach(
    from old: OperationSnapshot, to new: OperationSnapshot, _ operation: AsyncOperation,
    _ body: (OperationEvent) -> Void
  ) {
    if old.progress != new.progress { body(.progress(new.progress)) }
    let (old, new) = (old.lifecycle, new.lifecycle)
    if !old.isExecuting, new.isExecuting { body(.starting) }
    if !old.hasBegun, new.hasBegun, !new.isFinished { body(.begun) }
    if !old.isCancelled, new.isCancelled { body(.cancelled) }
    guard new.isFinished else { return }
    if old.isExecuting { body(.executed) }
    body(.ended(operation.failure))
  }
}
