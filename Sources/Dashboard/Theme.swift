import JobModel
import Screen

/// The signs and looks of the dashboard, for what the terminal can draw and as a person wants them.
///
/// No colour is ever the only sign of anything.
struct Theme {
  let traits: ScreenTraits
  let elision: Elision
  private let hues: Hues
  private let looks: [ThemeElement: Style]

  /// `looks` are those of a person's own; where there are no colours only their attributes count.
  init(_ traits: ScreenTraits, looks: [ThemeElement: Style] = [:]) {
    self.traits = traits
    self.looks = looks
    elision = Elision(isASCII: traits.isASCII)
    hues = Hues(traits)
  }

  private func look(_ element: ThemeElement, _ color: Style.Color, _ attributes: Style.Attributes = []) -> Style {
    look(element, Style(color, attributes))
  }

  private func look(_ element: ThemeElement, _ standard: Style) -> Style {
    guard !looks.isEmpty, let own = looks[element] else { return standard }
    return traits.palette == .none ? Style(attributes: own.attributes) : own
  }

  func style(_ state: StateClass) -> Style {
    let element = ThemeElement(state)
    return switch state {
    case .failed, .timedOut: look(element, hues.bad, .bold)
    case .executing: look(element, hues.active, .bold)
    case .paused, .backingOff: look(element, hues.held)
    case .ready: look(element, .plain)
    case .waiting, .skipped: look(element, hues.quiet)
    case .allowedFailure: look(element, hues.bad)
    // Dimmed, a colour that was chosen for its contrast would lose it.
    case .cancelled: look(element, hues.held, traits.palette == .many ? [] : .dim)
    case .succeeded, .upToDate: look(element, hues.good)
    }
  }

  func letter(_ state: StateClass) -> String {
    switch state {
    case .failed: pick("✗", "!")
    case .timedOut: "T"
    case .executing: pick("▸", ">")
    case .paused: pick("‖", "|")
    case .backingOff: pick("↻", "z")
    case .ready: pick("○", "o")
    case .waiting: pick("·", ".")
    case .allowedFailure: "~"
    case .cancelled: pick("⊘", "c")
    case .skipped: pick("»", "x")
    case .succeeded: pick("✓", "+")
    case .upToDate: "="
    }
  }

  /// Marks what decides when the run ends.
  var critical: String { pick("◆", "*") }

  func pick(_ unicode: String, _ ascii: String) -> String { traits.isASCII ? ascii : unicode }

  let bold = Style(attributes: .bold)
  var dim: Style { look(.quiet, hues.quiet) }
  var rule: Style { dim }
  var accent: Style { look(.accent, hues.active) }
  var key: Style { look(.key, hues.active, .bold) }
  var danger: Style { look(.danger, hues.bad, [.bold, .reverse]) }
  var warning: Style { look(.held, hues.held, [.bold, .reverse]) }
  var calm: Style { look(.running, hues.active, [.bold, .reverse]) }
  var good: Style { look(.done, hues.good, [.bold, .reverse]) }
  var held: Style { style(.paused) }
  var bad: Style { style(.failed) }
  var match: Style { look(.match, Style(attributes: .reverse)) }
  var currentMatch: Style { look(.currentMatch, hues.held, [.reverse, .bold]) }

  /// The cursor's row, while its pane has the focus and while it has not.
  func cursor(focused: Bool) -> Style {
    focused ? look(.cursor, hues.cursor) : look(.restingCursor, hues.restingCursor)
  }

  /// A key as help and bottom line write it.
  func name(_ key: Key) -> String { key.name(isASCII: traits.isASCII) }

  var horizontal: String { pick("─", "-") }
  var vertical: String { pick("│", "|") }
}

extension Style {
  init(attributes: Attributes) { self.init(.standard, on: .standard, attributes) }
}
