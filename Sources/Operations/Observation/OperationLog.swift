import Dispatch

extension AsyncOperation {
  /// So many deliveries may wait on an observer's queue before messages are left out; states never are.
  static let logLimit = 10_000

  /// Says something about the work to whoever observes the log; from any thread, between the making and the finish.
  ///
  /// Nothing is kept for an observer that comes later. A line is delivered in order with the operation's changes. Without
  /// an observer it costs no more than a lock; for one that is ten thousand deliveries behind lines are left out, and the
  /// next one that it is given says how many, or a last one at the end.
  public final func log(_ text: String) { post(.lines([OperationLogLine(text: text)]), below: Self.logLimit) }

  /// Posts lines as one delivery to each observer of the log, whose handler is called line by line.
  ///
  /// From any thread; after the finish nothing is posted. Lines are in order with the operation's changes and never left
  /// out: the caller limits itself by `whenHandled`, which is called once, on any thread, when every observer has handled
  /// the lines and none keeps their receipt (`DeliveryQueue.receipt`); at once if there is no observer.
  package final func log(_ lines: [OperationLogLine], whenHandled: @escaping @Sendable () -> Void = {}) {
    let receipt = LogReceipt(whenHandled)
    if !lines.isEmpty { post(.lines(lines, receipt: receipt)) }
  }
}

extension ObservableOperation {
  /// Calls `handler` on `queue` with each line that the operation logs from now on, until the token goes away.
  ///
  /// Lines come one at a time, in the order in which they were logged, and in order with the changes of state that are
  /// observed on the same queue. When the operation has finished the observation ends by itself. Any thread may call this.
  ///
  /// With `unfinished`, lines that may change yet are also given, at most ten a second of each origin: a prompt, a bar that
  /// is drawn again. See `OperationLogLine.isUnfinished`.
  public func observeLog(
    unfinished: Bool = false, on queue: DispatchQueue = .main,
    _ handler: @escaping @Sendable (Self, OperationLogLine) -> Void
  ) -> ObservationToken {
    let observation = OperationObservation(
      in: parts.observers, interest: .nothing, on: queue, wantsLines: true,
      news: { operation, news in
        guard case .lines(let lines, _) = news else { return }
        for line in lines where unfinished || !line.isUnfinished {
          handler(unsafeDowncast(operation, to: Self.self), line)
        }
      })
    add(observation)
    return ObservationToken(observation)
  }
}

/// Calls a closure when its last reference goes away.
private final class LogReceipt: Sendable {
  private let whenHandled: @Sendable () -> Void

  init(_ whenHandled: @escaping @Sendable () -> Void) { self.whenHandled = whenHandled }

  deinit { whenHandled() }
}
