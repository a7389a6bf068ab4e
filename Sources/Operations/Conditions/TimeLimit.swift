/// An operation executed for longer than it was allowed to, and was cancelled.
public struct TimedOut: Error, Equatable, CustomStringConvertible {
  /// The operation's name, or that of its class.
  public let operation: String
  /// How long it was allowed to execute.
  public let limit: Duration

  /// One sentence.
  public var description: String {
    "\(operation) was cancelled because it executed for longer than \(limit)"
  }
}

extension AsyncOperation {
  /// Cancels the operation with a `TimedOut` error once it has executed for `duration`; the last limit counts.
  ///
  /// The time before it executes is not counted. To be set before it executes. The operation ends when it has obeyed the
  /// cancellation, which is up to its `didCancel`.
  public final func timeout(after duration: Duration, clock: any OperationClock = .system) {
    parts.sideState.setLimit { operation in
      clock.schedule(after: duration) { [weak operation] in
        guard let operation else { return }
        operation.cancel(with: TimedOut(operation: operation.displayName, limit: duration))
      }
    }
  }
}
