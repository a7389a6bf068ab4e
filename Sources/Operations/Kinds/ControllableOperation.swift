/// An operation that can be paused, resumed and killed while it executes.
///
/// Any thread may call each method at any time; it returns at once, and the calls take effect in the order in which they
/// are made. A call before the start is not lost: an operation that is paused when it is started does not begin its work
/// until it is resumed. After the finish they have no effect.
public protocol ControllableOperation: AsyncOperation {
  /// Stops the work until `resume()`, or keeps it from beginning; the operation stays in its state.
  func pause()

  /// Lets paused work continue.
  func resume()

  /// Ends the work without the grace that `cancel()` gives it; the operation finishes as cancelled.
  func kill()
}

extension ControllableOperation {
  /// Cancels the operation.
  public func kill() { cancel() }
}
