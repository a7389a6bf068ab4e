import Foundation
import JobModel
import Session

/// The session of a program's own dashboard, and its signal handlers if the dashboard handles signals.
@MainActor
final class EmbeddedSession {
  private var session: RunSession?
  private var signals: SignalSources?
  private let handlesSignals: Bool
  private let hasScreen: Bool

  init(_ feed: QueueFeed, _ options: Dashboard.Options, whenDone: @escaping @MainActor (Int32) -> Void) throws {
    handlesSignals = options.handlesSignals
    let environment = Environment.current()
    let settings = Settings(options)
    let interface = try environment.interface(for: settings.interface)
    let display = RunSession.Display(
      interface, of: feed.name, settings: settings, environment, output: Output(STDOUT_FILENO),
      errors: Output(STDERR_FILENO))
    let view = interface == .dashboard ? display.viewOptions.dashboard(of: feed) : nil
    hasScreen = view != nil || interface == .inline
    // Without a screen no person can quit: a dashboard that stays open is closed by `stop()`.
    let end: ReportPump.EndCondition? = view == nil && options.keepOpen == .always ? .stopped : nil
    session = RunSession(feed, display: display, view: view, end: end) { [self] status in
      signals?.close()
      signals = nil
      session = nil
      whenDone(status)
    }
  }

  /// Throws if the terminal can't be used; then `whenDone` is not called.
  func begin(_ start: () -> Void) throws {
    if handlesSignals {
      let signals = SignalSources { [weak session] in session?.receiveSignal($0) }
      if hasScreen { signals.add(SIGTSTP) { [weak self] in self?.suspend() } }
      self.signals = signals
    }
    do { try session?.begin(start) } catch {
      signals?.close()
      signals = nil
      session = nil
      throw error
    }
  }

  func stop() { session?.detach(status: ExitStatus.success) }
  func interrupt() { session?.receive(.interrupt) }

  func suspend() { session?.suspend() }
}

extension Settings {
  init(_ options: Dashboard.Options) {
    self.init()
    interface =
      switch options.interface {
      case .auto: nil
      case .terminal: .dashboard
      case .inline: .inline
      case .plain: .plain
      case .json: .json
      case .quiet: .quiet
      }
    keepOpen =
      switch options.keepOpen {
      case .onFailure: .onFailure
      case .always: .always
      case .never: .never
      }
    isASCII = options.isASCII
    hasMouse = options.usesMouse
  }
}
