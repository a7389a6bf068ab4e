/// Checks a program's products, before the program is started and after it has succeeded.
///
/// Both closures may block: they are called on a queue that serves nothing else.
package struct OutputCheck: Sendable {
  /// The answer before the start.
  package struct Answer: Sendable {
    /// Whether the program is not started because there is nothing to do.
    package var isUpToDate: Bool
    /// A line for the log.
    package var note: String?

    package init(isUpToDate: Bool, note: String?) {
      self.isUpToDate = isUpToDate
      self.note = note
    }
  }

  /// Called once, at the start; when `isCancelled` returns true, it should return early, with any answer.
  package var begin: @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) -> Answer
  /// Called after a success of the program; returns a line for the log.
  package var end: @Sendable () -> String?

  package init(
    begin: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) -> Answer,
    end: @escaping @Sendable () -> String?
  ) {
    self.begin = begin
    self.end = end
  }
}
