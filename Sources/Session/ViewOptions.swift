import Dashboard
import Foundation
import JobModel
import NcursesTerminal
import Screen

/// The appearance of a view of the run.
package struct ViewOptions: Equatable {
  /// The name of the run in the header.
  package var source: String
  package var traits: ScreenTraits
  package var settings: Settings
  /// Whether to ask the terminal for its background.
  package var asksBackground: Bool
  /// The environment, which identifies the terminal.
  package var variables: [String: String]
  /// The descriptor that keys are read from.
  package var keyboard: Int32
  /// Whether the run can leave its terminal and continue.
  package var canDetach = false

  package init(source: String, settings: Settings, _ environment: Environment) {
    self.source = source
    self.settings = settings
    traits = environment.traits(settings)
    asksBackground = environment.asksBackground(settings)
    variables = environment.variables
    keyboard = environment.keyboard ?? STDIN_FILENO
  }

  /// The dashboard on the terminal of the process, whose own output `program` captures; `past` shows past instants.
  @MainActor
  package func dashboard(
    of feed: any JobFeed, program: ProgramOutput? = nil, past: (any RunPast)? = nil
  ) -> any LiveView {
    let terminal = NcursesTerminal(
      traits: traits, asksBackground: asksBackground, environment: variables, input: keyboard, program: program)
    var options = DashboardOptions(
      keepOpen: settings.keepOpen, source: source, usesMouse: settings.hasMouse, keys: KeyMap(changes: settings.keys))
    options.looks = .named(settings.looks)
    options.notice = settings.notice ?? .none
    options.canDetach = canDetach
    return TerminalDashboard(feed: feed, terminal: terminal, traits: traits, options: options, past: past)
  }
}
