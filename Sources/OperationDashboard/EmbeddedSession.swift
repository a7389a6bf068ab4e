import Foundation
import JobModel
import NcursesTerminal
import Session

/// The session of a program's own dashboard, with its signal handlers, if the dashboard handles signals, and the
/// capture of the program's output while the dashboard has the terminal.
@MainActor
final class EmbeddedSession {
  private let feed: QueueFeed
  private var session: RunSession?
  private var signals: SignalSources?
  private let handlesSignals: Bool
  private let hasScreen: Bool

  init(_ feed: QueueFeed, _ options: Dashboard.Options, whenDone: @escaping @MainActor (Int32) -> Void) throws {
    self.feed = feed
    handlesSignals = options.handlesSignals
    var environment = Environment.current()
    // While another dashboard is shown, standard output is its pipe in front of the terminal.
    if ScreenClaim.isHeld { environment.outputIsTerminal = true }
    let settings = Settings(options)
    let interface: Settings.Interface
    do { interface = try environment.interface(for: settings.interface) } catch { throw Dashboard.ScreenError(error) }
    hasScreen = interface == .dashboard || interface == .inline
    if hasScreen { try ScreenClaim.take() }
    let program = hasScreen ? Self.capture(of: feed, interface, environment) : nil
    let display = RunSession.Display(
      interface, of: feed.name, settings: settings, environment,
      output: Output(interface == .inline ? program?.terminal ?? STDOUT_FILENO : STDOUT_FILENO),
      errors: Output(STDERR_FILENO), program: program)
    let view = interface == .dashboard ? display.viewOptions.dashboard(of: feed, program: program) : nil
    // Without a screen no person can quit: a dashboard that stays open is closed by `stop()`.
    let end: ReportPump.EndCondition? = view == nil && options.keepOpen == .always ? .stopped : nil
    session = RunSession(feed, display: display, view: view, end: end, endsWithOutput: false) { [self] end in
      close()
      whenDone(end.status)
    }
  }

  private static func capture(
    of feed: QueueFeed, _ interface: Settings.Interface, _ environment: Environment
  ) -> ProgramOutput? {
    let folder = environment.variables["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    guard interface == .dashboard else { return ProgramOutput(folder: folder) }
    let log = ProgramLog(feed)
    return ProgramOutput(folder: folder, receive: log.receive)
  }

  /// Throws if the terminal can't be used; then `whenDone` is not called.
  func begin(_ start: () -> Void) throws {
    if !hasScreen { ProgramOutput.keepLinesWhole() }
    if handlesSignals {
      let answering: @Sendable (@escaping @Sendable () -> Void) -> Void = { [weak session] done in
        if let session { session.whenResponsive(done) } else { done() }
      }
      let signals = SignalSources(answering: answering) { [weak session] in session?.receiveSignal($0) }
      if hasScreen { signals.add(SIGTSTP) { [weak self] in self?.suspend() } }
      self.signals = signals
    }
    do { try session?.begin(start) } catch {
      close()
      throw Dashboard.ScreenError(error)
    }
  }

  /// Releases the session, the signal handlers and the claim to the terminal.
  func close() {
    signals?.close()
    signals = nil
    session = nil
    if hasScreen { ScreenClaim.release() }
  }

  func stop() { session?.detach(feed.settled()) }
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
