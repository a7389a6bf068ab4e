import Dispatch

/// A line of text that an operation said about its work.
public struct OperationLogLine: Sendable, Equatable {
  /// The origin of a line.
  public enum Source: Sendable {
    /// The operation itself, by `log(_:)`.
    case message
    /// The standard output of a process that the operation runs.
    case standardOutput
    /// The standard error of a process that the operation runs.
    case standardError
    /// Whoever runs the operation, about the attempt rather than from it.
    case note
  }

  /// As it was logged; a message may have several lines.
  public let text: String
  /// The origin.
  public let source: Source
  /// Whether the line was longer, and `text` is its beginning.
  public let isCut: Bool
  /// How many lines before this one were left out, because an observer was too far behind.
  public internal(set) var lost: Int
  /// Kept by whoever has not handled the line yet; see `log(_:whenHandled:)`.
  package var receipt: (any AnyObject & Sendable)?

  /// Makes a line, a whole message unless told otherwise.
  public init(text: String, source: Source = .message, isCut: Bool = false, lost: Int = 0) {
    self.text = text
    self.source = source
    self.isCut = isCut
    self.lost = lost
  }

  /// Whether two lines say the same; receipts are not compared.
  public static func == (left: OperationLogLine, right: OperationLogLine) -> Bool {
    (left.text, left.source, left.isCut, left.lost) == (right.text, right.source, right.isCut, right.lost)
  }

  /// Calls a closure when its last reference goes away.
  fileprivate final class Receipt: Sendable {
    private let whenHandled: @Sendable () -> Void

    init(_ whenHandled: @escaping @Sendable () -> Void) { self.whenHandled = whenHandled }

    deinit { whenHandled() }
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
  public final func log(_ text: String) { post([OperationLogLine(text: text)], limit: Self.logLimit) }

  /// Posts lines as one delivery to each observer of the log, whose handler is called line by line.
  ///
  /// From any thread; after the finish nothing is posted. Lines are in order with the operation's changes and never left
  /// out: the caller limits itself by `whenHandled`, which is called once, on any thread, when no observer holds the lines
  /// any more: at once if there is no observer. Whoever keeps a line, or its `receipt`, holds it.
  package final func log(_ lines: [OperationLogLine], whenHandled: @escaping @Sendable () -> Void = {}) {
    let receipt = OperationLogLine.Receipt(whenHandled)
    guard !lines.isEmpty else { return }
    var lines = lines
    for index in lines.indices { lines[index].receipt = receipt }
    post(lines, limit: .max)
  }
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
        guard case .said(let lines) = news, let operation = operation as? Self else { return }
        for line in lines { handler(operation, line) }
      }, handler: { _, _, _ in })
    add(observation, initial: false)
    return ObservationToken(observation)
  }
}

extension ChangeInterest {
  fileprivate static let nothing = lifecycle { _ in 0 }
}
