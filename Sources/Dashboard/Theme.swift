import Screen

/// The signs and colours of the dashboard, for what the terminal can draw.
///
/// Colours are the terminal's own sixteen on its own background, so that light and dark themes both hold; none is
/// ever the only sign of anything, and red never stands against green.
struct Theme {
  let traits: ScreenTraits
  let elision: Elision

  init(_ traits: ScreenTraits) {
    self.traits = traits
    elision = Elision(isASCII: traits.isASCII)
  }

  private enum Hue: UInt8 {
    case red = 1
    case blue = 4
    case magenta = 5
    case cyan = 6
  }

  private func color(_ hue: Hue, _ attributes: Style.Attributes = []) -> Style {
    guard traits.palette > .none else { return Style(attributes: attributes) }
    guard hue == .blue else { return Style(.indexed(hue.rawValue), on: .standard, attributes) }
    // Plain blue is too dark on black in most terminals; its bright form, where there is one, reads on both.
    return Style(traits.palette >= .sixteen ? .indexed(12) : .standard, on: .standard, attributes)
  }

  func style(_ state: StateClass) -> Style {
    switch state {
    case .failed, .timedOut: color(.red, .bold)
    case .executing: color(.cyan, .bold)
    case .paused, .backingOff: color(.magenta)
    case .ready: .plain
    case .waiting: dim
    case .allowedFailure: color(.red)
    case .cancelled: color(.magenta, .dim)
    case .skipped: dim
    case .succeeded, .upToDate: color(.blue)
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

  let dim = Style(attributes: .dim)
  let bold = Style(attributes: .bold)
  var rule: Style { dim }
  var accent: Style { color(.cyan) }
  var key: Style { color(.cyan, .bold) }
  var danger: Style { color(.red, [.bold, .reverse]) }
  var warning: Style { color(.magenta, [.bold, .reverse]) }
  var calm: Style { color(.cyan, [.bold, .reverse]) }
  var good: Style { color(.blue, [.bold, .reverse]) }
  var held: Style { color(.magenta) }
  var bad: Style { color(.red, .bold) }
  var match: Style { Style(attributes: .reverse) }
  var currentMatch: Style { color(.magenta, [.reverse, .bold]) }

  /// The cursor's row, while its pane has the focus and while it has not.
  func cursor(focused: Bool) -> Style {
    guard traits.palette > .none else { return Style(attributes: focused ? .reverse : [.bold, .underline]) }
    guard focused else {
      return traits.palette >= .sixteen ? Style(.standard, on: .indexed(8)) : Style(attributes: [.bold, .underline])
    }
    return Style(.indexed(0), on: .indexed(Hue.cyan.rawValue))
  }

  /// A key as help and bottom line write it.
  func name(_ key: Key) -> String { key.name(isASCII: traits.isASCII) }

  var horizontal: String { pick("─", "-") }
  var vertical: String { pick("│", "|") }
}

extension Style {
  init(attributes: Attributes) { self.init(.standard, on: .standard, attributes) }
}
