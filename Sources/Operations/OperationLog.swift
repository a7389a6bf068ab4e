import Dispatch

/// A line of text that an operation said about its work.
public struct OperationLogLine: Sendable, Equatable {
  /// As it was logged; it may have several lines.
  public let text: String
  /// How many lines before this one were left out, because an observer was too far behind.
  public let lost: Int

  /// Makes one.
  public init(text: String, lost: Int = 0) {
    self.text = text
    self.lost = lost
  }
}

extension AsyncOperation {
  /// So many deliveries may wait on an observer's queue before lines are left out; states never are.
  static let logLimit = 10_000

  /// Says something about the work to whoever observes the log; from any thread, between the making and the finish.
  ///
  /// Nothing is kept for an observer that comes later. A line is delivered in order with the operation's changes. It
  /// costs a lock and no more where nobody observes; where an observer is ten thousand deliveries behind, lines are left
  /// out, and the next one says how many.
  public final func log(_ text: String) { tellLine(text, limit: Self.logLimit) }
}

extension ObservableOperation {
  /// Calls `handler` on `queue` with each line that the operation logs from now on, until the token goes away.
  ///
  /// Lines come one at a time, in the order in which they were logged, and in order with the changes of state that are
  /// observed on the same queue. When the operation has finished the observation ends by itself. Any thread may call this.
  public func observeLog(
    on queue: DispatchQueue = .main, _ handler: @escaping @Sendable (Self, OperationLogLine) -> Void
  ) -> ObservationToken {
    let observation = OperationObservation(
      of: self, interest: .nothing, on: queue, wantsLines: true,
      news: { operation, news in
        guard case .said(let line) = news, let operation = operation as? Self else { return }
        handler(operation, line)
      }, handler: { _, _, _ in })
    add(observation, initial: false)
    return ObservationToken(observation)
  }
}

extension ChangeInterest {
  fileprivate static let nothing = lifecycle { _ in 0 }
}
