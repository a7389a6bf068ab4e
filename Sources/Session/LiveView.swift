import Dashboard

/// A dashboard that is opened once and closed once.
@MainActor
package protocol LiveView: AnyObject {
  /// Takes over the screen; `whenDone` is called once, after the screen is restored. Throws if the screen can't be used.
  func run(whenDone: @escaping @MainActor (Departure) -> Void) throws
  /// Whether Ctrl-C is the view's, from any thread.
  nonisolated var prompt: PromptFlag { get }
  func closePrompt()
  func suspend()
  /// Shows that the run is no longer recorded, and why.
  func showUnrecorded(_ reason: String)
  /// Restores the screen without calling `whenDone`; further calls do nothing.
  func close()
}

extension TerminalDashboard: LiveView {}
