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
    case .serving: look(element, colors.active)
    case .stopping: look(element, colors.held, .bold)
    case .paused: look(element, colors.held)
    case .backingOff: look(element, colors.retry)
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

  /// The style of the state's word: the style of its mark, or quiet for states without a colour.
  func wordStyle(_ state: StateClass) -> Style {
    switch state {
    case .ready, .waiting, .skipped, .cancelled, .upToDate: dim
    case .failed, .timedOut, .stopping, .executing, .serving, .paused, .backingOff, .allowedFailure, .succeeded:
      Style(style(state).foreground, on: style(state).background, style(state).attributes.subtracting(.bold))
    }
  }

  /// The style of a job's name in the list.
  func nameStyle(_ state: StateClass) -> Style {
    switch state {
    case .failed, .timedOut, .executing, .stopping: bold
    case .serving, .paused, .backingOff, .ready, .allowedFailure, .succeeded, .upToDate: .plain
    case .waiting, .cancelled, .skipped: dim
    }
  }

  /// The mark of jobs on the critical path.
  var critical: String { pick("◆", "*") }
  /// The mark of a line that the job wrote to stderr.
  var stderrMark: String { pick("▎", "|") }
  var warningMark: String { pick("▲", "!") }
  /// The mark of a note of opdash about the job.
  var noteMark: String { pick("»", "*") }

  func pick(_ unicode: String, _ ascii: String) -> String { traits.isASCII ? ascii : unicode }

  let bold = Style(attributes: .bold)
  var dim: Style { look(.quiet, colors.quiet) }
  var rule: Style { looks[.quiet] == nil ? colors.faint : dim }
  var accent: Style { look(.accent, colors.accent) }
  var key: Style { look(.key, colors.key) }
  /// Expected work, on the timeline.
  var forecast: Style { looks[.quiet] == nil ? colors.forecast : dim }

  /// The name of a job beside the names of others.
  func name(of job: JobID) -> Style {
    guard !colors.names.isEmpty else { return dim }
    return Style(colors.names[job.index % colors.names.count])
  }
  var danger: Style { look(.danger, colors.bad, [.bold, .reverse]) }
  var warning: Style { look(.held, colors.held, [.bold, .reverse]) }
  var calm: Style { look(.running, colors.active, [.bold, .reverse]) }
  var good: Style { look(.done, colors.good, [.bold, .reverse]) }
  var held: Style { style(.paused) }
  var bad: Style { style(.failed) }
  var match: Style { look(.match, Style(attributes: .reverse)) }
  var currentMatch: Style { look(.currentMatch, colors.held, [.reverse, .bold]) }

  /// A line under the cursor in one style: of the log, of a menu.
  func cursor(focused: Bool) -> Style {
    focused ? look(.cursor, colors.cursor) : look(.restingCursor, Style(attributes: [.bold, .underline]))
  }

  /// Marks the cursor's row, whose texts keep their colours, and its first cell in the focused pane.
  func highlight(_ row: Rect, focused: Bool, _ frame: inout Frame) {
    if let own = looks[focused ? .cursor : .restingCursor], traits.palette != .none {
      return frame.restyle(row) { $0 = own }
    }
    guard let background = colors.row else {
      let attributes: Style.Attributes = focused ? .reverse : [.bold, .underline]
      return frame.restyle(row) { $0.attributes.formUnion(attributes) }
    }
    frame.restyle(row) { style in
      if style.background == .standard { style.background = background }
    }
    // A tag's mark stays.
    guard row.width > 0, frame[row.x, row.y].text == " " else { return }
    let mark = Style(focused ? accent.foreground : rule.foreground, on: background)
    frame.put(pick("▌", ">"), x: row.x, y: row.y, style: mark)
  }

  /// A key as a chip, followed by its word.
  func chip(_ key: String) -> TextSpan { TextSpan(" \(key) ", self.key) }

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
  case serving
  case stopping
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
