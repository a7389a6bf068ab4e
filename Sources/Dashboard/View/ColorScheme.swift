import Screen

/// The colours of the dashboard for one kind of terminal.
///
/// Of 256 colours they are chosen for a contrast (WCAG) of at least 4.5 on the usual dark or light backgrounds and on the
/// cursor's row, 3 on both where the background is unknown, and so that the states can be told apart with any colour
/// vision deficiency. Of fewer they are the terminal's own, which its owner has chosen for the background.
struct ColorScheme: Equatable {
  /// For failed, executing, paused or stopping, retrying and succeeded jobs.
  var bad: Style.Color
  var active: Style.Color
  var held: Style.Color
  var retry: Style.Color
  var good: Style.Color
  /// Headings, marks and the focused pane.
  var accent: Style.Color
  /// Secondary text.
  var quiet: Style
  /// Lines and the empty part of bars.
  var faint: Style
  /// Expected work: a pattern of dots needs a darker colour on a light background.
  var forecast: Style
  /// Colours that tell jobs apart, without the color of failures; empty without colours.
  var names: [Style.Color]
  /// The background of the cursor's row, on which every text keeps its colour; nil where none is known to suit them.
  var row: Style.Color?
  /// A line under the cursor in one style: of the log, of a menu.
  var cursor: Style
  /// The name of a key.
  var key: Style

  init(_ traits: ScreenTraits) {
    switch (traits.palette, traits.background) {
    case (.many, .dark):
      (bad, active, held, retry, good) = (.indexed(204), .indexed(80), .indexed(215), .indexed(140), .indexed(157))
      accent = .indexed(75)
      quiet = Style(.indexed(247))
      faint = Style(.indexed(240))
      forecast = quiet
      names = [75, 215, 140, 157, 80, 222, 183, 117].map { .indexed($0) }
      row = .indexed(236)
      cursor = Style(.indexed(255), on: .indexed(238))
      key = Style(.indexed(255), on: .indexed(238), .bold)
    case (.many, .light):
      (bad, active, held, retry, good) = (.indexed(161), .indexed(26), .indexed(90), .indexed(90), .indexed(22))
      accent = .indexed(25)
      quiet = Style(.indexed(242))
      faint = Style(.indexed(250))
      forecast = Style(.indexed(236))
      names = [25, 90, 22, 94, 30, 55, 58, 24].map { .indexed($0) }
      row = .indexed(195)
      cursor = Style(.indexed(16), on: .indexed(195))
      key = Style(.indexed(16), on: .indexed(253), .bold)
    case (.many, .unknown):
      (bad, active, held, retry, good) = (.indexed(160), .indexed(32), .indexed(129), .indexed(129), .indexed(65))
      accent = .indexed(32)
      quiet = Style(.indexed(243))
      faint = Style(.indexed(245))
      forecast = quiet
      names = [32, 129, 65, 136, 30, 98].map { .indexed($0) }
      row = nil
      cursor = Style(.indexed(231), on: .indexed(25))
      key = Style(.indexed(32), .bold)
    case (.sixteen, let background), (.eight, let background):
      let isSixteen = traits.palette == .sixteen
      // Cyan is too pale on white and blue too dark on black; bright blue, which needs 16 colours, is legible on both.
      let isLight = background == .light
      (bad, active, held, retry) = (.indexed(1), .indexed(isLight ? 4 : 6), .indexed(5), .indexed(5))
      good = isLight ? (isSixteen ? .standard : .indexed(2)) : .indexed(2)
      accent = active
      quiet = Style(attributes: .dim)
      faint = quiet
      forecast = quiet
      names = (isLight ? [4, 5, 2, 6] : [6, 3, 5, 2]).map { .indexed($0) }
      row = nil
      cursor = Style(.indexed(0), on: .indexed(6))
      key = Style(active, .bold)
    case (.none, _):
      (bad, active, held, retry, good, accent) = (.standard, .standard, .standard, .standard, .standard, .standard)
      quiet = Style(attributes: .dim)
      faint = quiet
      forecast = quiet
      names = []
      row = nil
      cursor = Style(attributes: .reverse)
      key = Style(attributes: .bold)
    }
  }
}
