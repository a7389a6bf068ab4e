/// The dashboard, as the program sees it: opened once, closed once, suspended by Ctrl-Z.
@MainActor
package protocol LiveView: AnyObject {
  /// Takes the screen; `whenDone` comes once, with the screen given back. Throws what keeps it from being had.
  func open(whenDone: @escaping @MainActor (LiveViewEnd) -> Void) throws
  func suspend()
  /// Gives the screen back without a word; further calls do nothing.
  func close()
}

/// Why a dashboard has left.
package enum LiveViewEnd: Equatable {
  /// Nothing executes any more, and nobody wants to stay.
  case over
  /// A person would not wait for what still executes.
  case abandoned
  /// The terminal went away.
  case terminalLost
}
