/// The dashboard, as the program sees it: opened once, closed once, suspended by Ctrl-Z.
@MainActor
protocol LiveView: AnyObject {
  /// Takes the screen; `whenDone` comes once, when the person has quit or the run is over and nobody wants to stay.
  func open(whenDone: @escaping @MainActor () -> Void) throws
  func suspend()
  /// Gives the screen back; further calls do nothing.
  func close()
}
