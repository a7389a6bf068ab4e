import Foundation

extension AsyncOperation {
  /// Cancels the operation with the error `.timedOut` once it has executed for `duration`; the last limit counts.
  ///
  /// The time before the operation executes is not counted. To be set before the operation executes; a negative limit
  /// is a programmer error. The operation ends when it responds to the cancellation, which is up to its `didCancel`.
  public final func setTimeout(_ duration: Duration, clock: any OperationClock = .system) {
    require(duration >= .zero, "the time limit of \(self) is negative: \(duration)")
    parts.rareState.setLimit { operation in
      clock.schedule(after: duration) { [weak operation] in
        guard let operation else { return }
        operation.cancel(with: OperationError(.timedOut, of: operation.displayName, limit: duration))
      }
    }
  }

  /// Cancels the operation with the error `.timedOut` if it executes at `date`; the last limit counts.
  ///
  /// `date` is a time of the system's clock. To be set before the operation executes. If the date has passed when the
  /// operation begins, it is cancelled at once. A date more than a billion seconds away counts as a billion seconds
  /// away; NaN is a programmer error.
  public final func setDeadline(_ date: Date, clock: any OperationClock = .system) {
    require(!date.timeIntervalSinceReferenceDate.isNaN, "the date of the time limit of \(self) is not a number")
    parts.rareState.setLimit { operation in
      let duration = Duration.seconds(min(1e9, max(0, date.timeIntervalSinceNow)))
      return clock.schedule(after: duration) { [weak operation] in
        guard let operation else { return }
        operation.cancel(
          with: OperationError(.timedOut, of: operation.displayName, limit: duration, isAtDeadline: true))
      }
    }
  }
}
