import Dashboard
import JobModel
import NcursesTerminal

/// The dashboard on the terminal that opdash was started on.
@MainActor
final class TerminalView: LiveView {
  private let dashboard: Dashboard

  init(_ feed: any JobFeed, _ options: Program.ViewOptions) {
    dashboard = Dashboard(
      feed: feed, terminal: NcursesTerminal(traits: options.traits), traits: options.traits,
      clock: DispatchDashboardClock { feed.elapsed },
      options: Options(
        keepOpen: Options.KeepOpen(options.settings.keepOpen), source: options.source,
        usesMouse: options.settings.hasMouse))
  }

  func open(whenDone: @escaping @MainActor (LiveViewEnd) -> Void) throws {
    try dashboard.run { departure in
      switch departure {
      case .complete, .stopped, .quit: whenDone(.over)
      case .abandoned: whenDone(.abandoned)
      case .terminalClosed: whenDone(.terminalLost)
      }
    }
  }

  func suspend() { dashboard.suspend() }
  func close() { dashboard.close() }
}

extension Options.KeepOpen {
  init(_ setting: Settings.KeepOpen) {
    switch setting {
    case .onFailure: self = .onFailure
    case .always: self = .always
    case .never: self = .never
    }
  }
}
