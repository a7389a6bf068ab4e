import Screen

/// The few colours that the dashboard is drawn with, for one kind of terminal.
///
/// With 256 colours they are chosen so that text has a contrast (WCAG) of at least 4.5 on the usual dark or the usual light
/// backgrounds, 3 on both where the background is unknown, and so that the four stay apart for people who don't see red,
/// green or blue. With fewer they are the terminal's own, which its owner has chosen for the background.
struct Hues: Equatable {
  /// Failed, executing, held up, succeeded.
  var bad: Style.Color
  var active: Style.Color
  var held: Style.Color
  var good: Style.Color
  var quiet: Style
  var cursor: Style
  var restingCursor: Style

  init(_ traits: ScreenTraits) {
    switch (traits.palette, traits.background) {
    case (.many, .dark):
      self.init(
        .indexed(203), .indexed(123), .indexed(171), .indexed(110), quiet: Style(.indexed(247)),
        cursor: Style(.indexed(231), on: .indexed(24)),
        restingCursor: Style(.standard, on: .indexed(238)))
    case (.many, .light):
      self.init(
        .indexed(160), .indexed(24), .indexed(128), .indexed(18), quiet: Style(.indexed(242)),
        cursor: Style(.indexed(16), on: .indexed(153)),
        restingCursor: Style(.standard, on: .indexed(252)))
    case (.many, .unknown):
      self.init(
        .indexed(160), .indexed(32), .indexed(129), .indexed(60), quiet: Style(.indexed(243)),
        cursor: Style(.indexed(231), on: .indexed(25)),
        restingCursor: Style(.indexed(231), on: .indexed(240)))
    case (.sixteen, let background), (.eight, let background):
      let isSixteen = traits.palette == .sixteen
      // Cyan is too pale on white, and plain blue too dark on black; the bright form of blue, where there is one, reads on both.
      let isLight = background == .light
      self.init(
        .indexed(1), .indexed(isLight ? 4 : 6), .indexed(5), isSixteen && !isLight ? .indexed(12) : .standard,
        quiet: Style(attributes: .dim),
        cursor: Style(.indexed(0), on: .indexed(6)),
        restingCursor: isSixteen ? Style(.standard, on: .indexed(8)) : Style(attributes: [.bold, .underline]))
    case (.none, _):
      self.init(
        .standard, .standard, .standard, .standard, quiet: Style(attributes: .dim), cursor: Style(attributes: .reverse),
        restingCursor: Style(attributes: [.bold, .underline]))
    }
  }

  private init(
    _ bad: Style.Color, _ active: Style.Color, _ held: Style.Color, _ good: Style.Color, quiet: Style, cursor: Style,
    restingCursor: Style
  ) {
    self.bad = bad
    self.active = active
    self.held = held
    self.good = good
    self.quiet = quiet
    self.cursor = cursor
    self.restingCursor = restingCursor
  }
}
