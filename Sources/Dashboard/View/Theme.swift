import JobModel
import Screen

/// The signs and styles of the dashboard for the terminal's abilities and a person's settings.
///
/// No information is given by colour alone.
struct Theme {
  let traits: ScreenTraits
  let elision: Elision
  private let colors: ColorScheme
  private let looks: [ThemeElement: Style]

  /// `looks` replace the theme's styles; without colours only their attributes do.
  init(_ traits: ScreenTraits, looks: [ThemeElement: Style] = [:]) {
    self.traits = traits
    self.looks = looks
    elision = Elision(isASCII: traits.isASCII)
    colors = ColorScheme(traits)
  }

  private func look(_ element: ThemeElement, _ color: Style.Color, _ attributes: Style.Attributes = []) -> Style {
    look(element, Style(color, attributes))
  }

  private func look(_ element: ThemeElement, _ standard: Style) -> Style {
    guard !looks.isEmpty, let own = looks[element] else { return standard }
    return traits.palette == .none ? Style(attributes: own.attributes) : own
  }

  func style(_ state: StateClass) -> Style {
    let element = Self.stateElements[Int(state.rawValue)]
    return switch state {
    case .failed, .timedOut: look(element, colors.bad, .bold)
    case .executing: look(element, colors.active, .bold)
    case .paused, .backingOff: look(element, colors.held)
    case .ready: look(element, .plain)
    case .waiting, .skipped: look(element, colors.quiet)
    case .allowedFailure: look(element, colors.bad)
    // A dimmed colour would lose the contrast that it was chosen for.
    case .cancelled: look(element, colors.held, traits.palette == .many ? [] : .dim)
    case .succeeded, .upToDate: look(element, colors.good)
    }
  }

  private static let stateElements = Array(ThemeElement.allCases.prefix(StateClass.allCases.count))

  func letter(_ state: StateClass) -> String { state.letter(isASCII: traits.isASCII) }

  /// The mark of jobs on the critical path.
  var critical: String { pick("◆", "*") }
  /// The mark of a line that the job wrote to stderr.
  var stderrMark: String { pick("▎", "|") }
  /// The mark of a note of opdash about the job.
  var noteMark: String { pick("»", "*") }

  func pick(_ unicode: String, _ ascii: String) -> String { traits.isASCII ? ascii : unicode }

  let bold = Style(attributes: .bold)
  var dim: Style { look(.quiet, colors.quiet) }
  var rule: Style { dim }
  var accent: Style { look(.accent, colors.active) }
  var key: Style { look(.key, colors.active, .bold) }
  var danger: Style { look(.danger, colors.bad, [.bold, .reverse]) }
  var warning: Style { look(.held, colors.held, [.bold, .reverse]) }
  var calm: Style { look(.running, colors.active, [.bold, .reverse]) }
  var good: Style { look(.done, colors.good, [.bold, .reverse]) }
  var held: Style { style(.paused) }
  var bad: Style { style(.failed) }
  var match: Style { look(.match, Style(attributes: .reverse)) }
  var currentMatch: Style { look(.currentMatch, colors.held, [.reverse, .bold]) }

  func cursor(focused: Bool) -> Style {
    focused ? look(.cursor, colors.cursor) : look(.restingCursor, colors.restingCursor)
  }

  /// The names of keys in help, palette and bottom line.
  func names(_ keys: some Sequence<Key>) -> String {
    keys.map { $0.name(isASCII: traits.isASCII) }.joined(separator: " ")
  }

  var horizontal: String { pick("─", "-") }
  var vertical: String { pick("│", "|") }
}

extension Style {
  init(attributes: Attributes) { self.init(.standard, on: .standard, attributes) }
}

/// The parts of the dashboard whose style a settings file can set, by their raw values: job states and roles.
package enum ThemeElement: String, Sendable, CaseIterable {
  // The states of jobs, in the order of `StateClass`.
  case failed
  case timedOut = "timed-out"
  case executing
  case paused
  case backingOff = "backing-off"
  case ready
  case waiting
  case allowedFailure = "allowed-failure"
  case cancelled
  case skipped
  case succeeded
  case upToDate = "up-to-date"
  /// Marks, matches, and rules of the focused pane.
  case accent
  /// Names of keys.
  case key
  /// Secondary text.
  case quiet
  /// The run's state at the top left and the banner: while it executes, is held, has failures, is done.
  case running
  case held
  case danger
  case done
  /// The matches of a search, and the current one.
  case match
  case currentMatch = "current-match"
  /// The cursor's row with and without the focus.
  case cursor
  case restingCursor = "resting-cursor"
}
