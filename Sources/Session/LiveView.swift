/// A dashboard that is opened once and closed once.
@MainActor
package protocol LiveView: AnyObject {
  /// Takes over the screen; `whenDone` is called once, after the screen is restored. Throws if the screen can't be used.
  func open(whenDone: @escaping @MainActor (LiveViewEnd) -> Void) throws
  func suspend()
  /// Restores the screen without calling `whenDone`; further calls do nothing.
  func close()
}

/// Why a dashboard has closed.
package enum LiveViewEnd: Equatable {
  /// Nothing executes any more.
  case over
  /// A person left while jobs were executing.
  case abandoned
  /// The terminal is gone.
  case terminalLost
}
