/// An operation that can be paused, resumed and killed while it executes.
///
/// Each method may be called from any thread at any time; it returns at once, and calls take effect in the order in
/// which they are made. A call before the start is remembered: an operation that is paused when it is started does not
/// begin its work until it is resumed. After the finish the methods have no effect.
public protocol ControllableOperation: AsyncOperation {
  /// Pauses the work until `resume()`, or keeps it from beginning; the state of the operation does not change.
  func pause()

  /// Resumes paused work.
  func resume()

  /// Ends the work without the grace that `cancel()` gives it; the operation finishes as cancelled.
  func kill()
}

extension ControllableOperation {
  /// Cancels the operation.
  public func kill() { cancel() }
}
