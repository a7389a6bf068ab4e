import Screen

/// The colours of the dashboard for one kind of terminal.
///
/// Of 256 colours they are chosen for a contrast (WCAG) of at least 4.5 on the usual dark or light backgrounds, 3 on both
/// where the background is unknown, and so that the four can be told apart with any colour vision deficiency. Of fewer
/// they are the terminal's own, which its owner has chosen for the background.
struct ColorScheme: Equatable {
  /// For failed, executing, held and succeeded jobs.
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
      (bad, active, held, good) = (.indexed(203), .indexed(123), .indexed(171), .indexed(110))
      quiet = Style(.indexed(247))
      cursor = Style(.indexed(231), on: .indexed(24))
      restingCursor = Style(.standard, on: .indexed(238))
    case (.many, .light):
      (bad, active, held, good) = (.indexed(160), .indexed(24), .indexed(128), .indexed(18))
      quiet = Style(.indexed(242))
      cursor = Style(.indexed(16), on: .indexed(153))
      restingCursor = Style(.standard, on: .indexed(252))
    case (.many, .unknown):
      (bad, active, held, good) = (.indexed(160), .indexed(32), .indexed(129), .indexed(60))
      quiet = Style(.indexed(243))
      cursor = Style(.indexed(231), on: .indexed(25))
      restingCursor = Style(.indexed(231), on: .indexed(240))
    case (.sixteen, let background), (.eight, let background):
      let isSixteen = traits.palette == .sixteen
      // Cyan is too pale on white and blue too dark on black; bright blue, which needs 16 colours, is legible on both.
      let isLight = background == .light
      (bad, active, held) = (.indexed(1), .indexed(isLight ? 4 : 6), .indexed(5))
      good = isSixteen && !isLight ? .indexed(12) : .standard
      quiet = Style(attributes: .dim)
      cursor = Style(.indexed(0), on: .indexed(6))
      restingCursor = isSixteen ? Style(.standard, on: .indexed(8)) : Style(attributes: [.bold, .underline])
    case (.none, _):
      (bad, active, held, good) = (.standard, .standard, .standard, .standard)
      quiet = Style(attributes: .dim)
      cursor = Style(attributes: .reverse)
      restingCursor = Style(attributes: [.bold, .underline])
    }
  }
}
