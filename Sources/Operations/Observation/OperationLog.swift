import Dispatch

extension AsyncOperation {
  /// The number of deliveries that may wait on an observer's queue before messages are dropped; states never are.
  static let logLimit = 10_000

  /// Logs a line about the work for the log's observers; from any thread, between creation and finish.
  ///
  /// Nothing is kept for later observers. A line is delivered in order with the operation's changes. Without an
  /// observer, it costs no more than a lock. For an observer that is ten thousand deliveries behind, lines are dropped;
  /// the next line that it receives, or a last one at the end, has their number.
  public final func log(_ text: String) { post(.lines([OperationLogLine(text: text)]), below: Self.logLimit) }

  /// Posts lines as one delivery to each observer of the log, whose handler is called line by line.
  ///
  /// From any thread; after the finish nothing is posted. Lines are in order with the operation's changes and never
  /// dropped: the caller limits itself by `whenHandled`. It is called once, on any thread, when every observer has
  /// handled the lines and none retains their receipt (`DeliveryQueue.receipt`), or at once without observers.
  package final func log(_ lines: [OperationLogLine], whenHandled: @escaping @Sendable () -> Void = {}) {
    let receipt = LogReceipt(whenHandled)
    if !lines.isEmpty { post(.lines(lines, receipt: receipt)) }
  }
}

extension ObservableOperation {
  /// Calls `handler` on `queue` with each line that the operation logs from now on, until the token is freed.
  ///
  /// Lines are delivered one at a time, in the order of their logging, and in order with the changes of state observed
  /// on the same queue. The observation ends by itself when the operation has finished. May be called from any thread.
  ///
  /// With `unfinished`, lines that may still change are delivered too, at most ten a second from each origin: for
  /// example a prompt, or a progress bar that is redrawn. See `OperationLogLine.isUnfinished`.
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

/// Calls a closure when its last reference is released.
private final class LogReceipt: Sendable {
  private let whenHandled: @Sendable () -> Void

  init(_ whenHandled: @escaping @Sendable () -> Void) { self.whenHandled = whenHandled }

  deinit { whenHandled() }
}
