import JobModel
import Screen

/// A progress bar in a row of cells.
struct Bar {
  /// The time for which the mark of an indeterminate bar stays in one cell.
  static let animationStep: Duration = .milliseconds(250)

  let theme: Theme

  /// Draws a bar of `width` cells with its per cent, or one with a moving mark while the share is unknown.
  func draw(_ share: Double?, now: Duration, _ frame: inout Frame, x: Int, y: Int, width: Int) {
    let style = theme.style(.executing)
    if let share {
      frame.put(determinate(share, width: width, style: style), x: x, y: y)
      frame.put(Format.percent(share), endingAt: x + width + 5, y: y)
    } else {
      frame.put(indeterminate(step: Int(now / Self.animationStep), width: width, style: style), x: x, y: y)
    }
  }

  /// `[######>.....]`, or eighths of a cell on a dotted track; `width` includes the brackets.
  func determinate(_ fraction: Double, width: Int, style: Style) -> [TextSpan] {
    let share = min(1, max(0, fraction))
    var style = style
    // Bold does not change a coloured block, but costs bytes each time the bar grows.
    if style.foreground != .standard { style.attributes.remove(.bold) }
    guard theme.traits.isASCII else { return eighths(share, cells: width, style) }
    let cells = width - 2
    guard cells > 0 else { return [] }
    let full = Int(share * Double(cells))
    let head = full < cells && share > 0 ? ">" : ""
    return bracketed(
      TextSpan(String(repeating: "#", count: full) + head, style), track(cells - full - head.count))
  }

  /// A mark that moves back and forth, one cell a step.
  func indeterminate(step: Int, width: Int, style: Style) -> [TextSpan] {
    let cells = theme.traits.isASCII ? width - 2 : width
    guard cells > 3 else { return [] }
    let places = cells - 3
    let turn = step % (places * 2)
    let place = turn <= places ? turn : places * 2 - turn
    guard theme.traits.isASCII else {
      return [track(place), TextSpan("▒▒▒", style), track(places - place)]
    }
    return bracketed(.blanks(place), TextSpan("<=>", style), .blanks(places - place))
  }

  private func eighths(_ share: Double, cells: Int, _ style: Style) -> [TextSpan] {
    guard cells > 0 else { return [] }
    let eighths = Int(share * Double(cells * 8))
    let part = eighths % 8
    let filled = String(repeating: "█", count: eighths / 8) + (part > 0 ? Self.parts[part - 1] : "")
    return [TextSpan(filled, style), track(cells - eighths / 8 - (part > 0 ? 1 : 0))]
  }

  private func track(_ cells: Int) -> TextSpan {
    TextSpan(String(repeating: theme.pick("·", "."), count: max(0, cells)), theme.rule)
  }

  private func bracketed(_ spans: TextSpan...) -> [TextSpan] {
    [TextSpan("[", theme.rule)] + spans + [TextSpan("]", theme.rule)]
  }

  private static let parts = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]
}

/// A row of small bars, one cell for each sample.
enum Sparkline {
  private static let blocks = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
  private static let letters = ["_", ".", ":", "-", "=", "+", "*", "#"]

  /// The newest samples that fit into `width` cells.
  ///
  /// The greatest one is drawn below the top, so that a steady rate doesn't look like a full bar.
  static func text(_ samples: [Float], width: Int, isASCII: Bool) -> String {
    let shown = samples.suffix(max(0, width))
    guard let top = shown.max(), top > 0 else { return String(repeating: isASCII ? "_" : "▁", count: shown.count) }
    let signs = isASCII ? letters : blocks
    return shown.map { signs[max(0, Int($0 / top * Float(signs.count - 2)))] }.joined()
  }
}
