import Dashboard
import JobModel
import NcursesTerminal

/// The dashboard on the terminal of the process.
@MainActor
package final class TerminalView: LiveView {
  private let dashboard: TerminalDashboard

  package init(_ feed: any JobFeed, _ options: ViewOptions) {
    let terminal = NcursesTerminal(
      traits: options.traits, asksBackground: options.asksBackground, environment: options.variables)
    dashboard = TerminalDashboard(
      feed: feed, terminal: terminal, traits: options.traits, options: DashboardOptions(options))
  }

  package func open(whenDone: @escaping @MainActor (LiveViewEnd) -> Void) throws {
    try dashboard.run { departure in
      switch departure {
      case .complete, .stopped, .quit: whenDone(.over)
      case .abandoned: whenDone(.abandoned)
      case .terminalClosed: whenDone(.terminalLost)
      }
    }
  }

  package func suspend() { dashboard.suspend() }
  package func close() { dashboard.close() }
}

extension DashboardOptions {
  init(_ view: ViewOptions) {
    let settings = view.settings
    self.init(
      keepOpen: settings.keepOpen, source: view.source, usesMouse: settings.hasMouse,
      keys: KeyMap(changes: settings.keys))
    looks = .named(settings.looks)
    notice = settings.notice ?? .none
  }
}
