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

  /// The style of the cursor's row.
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
