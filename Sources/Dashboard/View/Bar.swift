import Basics
import JobModel
import Screen

/// A progress bar in a row of cells.
struct Bar {
  /// How long the mark of an indeterminate bar stays in one cell.
  static let animationStep: Duration = .milliseconds(250)

  let theme: Theme

  /// Draws the share of an executing job in `width` cells: of its work or, of a job without progress, of its usual time.
  func draw(_ record: JobRecord, now: Duration, _ frame: inout Frame, x: Int, y: Int, width: Int) {
    if record.progress?.fraction == nil, let share = record.usualShare(at: now) {
      frame.put(estimated(share, width: width), x: x, y: y)
      frame.put(Format.percent(share), endingAt: x + width + 5, y: y, style: theme.dim)
    } else {
      draw(record.progress?.fraction, now: now, &frame, x: x, y: y, width: width)
    }
  }

  /// Whether the bar of an executing job is a moving mark.
  static func isIndeterminate(_ record: JobRecord, now: Duration) -> Bool {
    record.progress?.fraction == nil && record.usualShare(at: now) == nil
  }

  /// Draws a bar of `width` cells with its per cent, or one with a moving mark while the share is unknown.
  private func draw(_ share: Double?, now: Duration, _ frame: inout Frame, x: Int, y: Int, width: Int) {
    var style = theme.style(.executing)
    if let share {
      frame.put(determinate(share, width: width, style: style), x: x, y: y)
      // In the bar's own style: each change of style is written anew with every step.
      if style.foreground != .standard { style.attributes.remove(.bold) }
      frame.put(Format.percent(share), endingAt: x + width + 5, y: y, style: style)
    } else {
      frame.put(indeterminate(step: Int(clamping: now / Self.animationStep), width: width, style: style), x: x, y: y)
    }
  }

  /// `[######>.....]`, or a heavy line on a light one in half cells; `width` includes the brackets.
  func determinate(_ fraction: Double, width: Int, style: Style) -> [TextSpan] {
    stacked([Part(share: fraction, sign: "#", style: style)], width: width)
  }

  /// `[###~~~~~~~~~]`, or a dashed line: an estimated share.
  func estimated(_ fraction: Double, width: Int) -> [TextSpan] {
    let isASCII = theme.traits.isASCII
    let cells = isASCII ? width - 2 : width
    guard cells > 0 else { return [] }
    let full = Int(clamping: min(1, max(0, fraction)) * Double(cells))
    let spans = [
      TextSpan(String(repeating: theme.pick("╍", "#"), count: full), theme.wordStyle(.executing)),
      TextSpan(String(repeating: theme.pick("╌", "~"), count: cells - full), theme.rule),
    ]
    return isASCII ? bracketed(spans) : spans
  }

  /// A part of a bar; `sign` draws it where only ASCII can be drawn.
  struct Part {
    var share: Double
    var sign: String
    /// Draws it without colours, where a line alone can't be told from the part before.
    var line = "━"
    var style: Style
  }

  /// A bar of several parts, each in its own style; the last ends with a head.
  func stacked(_ parts: [Part], width: Int) -> [TextSpan] {
    let isASCII = theme.traits.isASCII
    let cells = isASCII ? width - 2 : width
    guard cells > 0 else { return [] }
    var spans: [TextSpan] = []
    var end = 0.0
    var used = 0
    for (place, part) in parts.enumerated() where part.share > 0 {
      end = min(1, end + max(0, part.share))
      // Bold does not change a coloured line, but costs bytes each time the bar grows.
      var style = part.style
      if style.foreground != .standard { style.attributes.remove(.bold) }
      let isLast = parts[(place + 1)...].allSatisfy { $0.share <= 0 }
      let halves = Int(clamping: end * Double(cells * 2))
      let full = max(0, halves / 2 - used)
      if isASCII {
        let head = isLast && used + full < cells ? ">" : ""
        spans.append(TextSpan(String(repeating: part.sign, count: full) + head, style))
        used += full + head.count
      } else {
        let sign = theme.traits.palette == .none ? part.line : "━"
        let head = isLast && halves % 2 == 1 && used + full < cells ? "╾" : ""
        spans.append(TextSpan(String(repeating: sign, count: full) + head, style))
        used += full + (head.isEmpty ? 0 : 1)
      }
    }
    spans.append(track(cells - used))
    return isASCII ? bracketed(spans) : spans
  }

  /// A mark that moves back and forth, one cell a step.
  func indeterminate(step: Int, width: Int, style: Style) -> [TextSpan] {
    let cells = theme.traits.isASCII ? width - 2 : width
    guard cells > 3 else { return [] }
    let places = cells - 3
    let turn = step % (places * 2)
    let place = turn <= places ? turn : places * 2 - turn
    guard theme.traits.isASCII else {
      return [track(place), TextSpan("━━━", style), track(places - place)]
    }
    return bracketed([.blanks(place), TextSpan("<=>", style), .blanks(places - place)])
  }

  private func track(_ cells: Int) -> TextSpan {
    TextSpan(String(repeating: theme.pick("─", "."), count: max(0, cells)), theme.rule)
  }

  private func bracketed(_ spans: [TextSpan]) -> [TextSpan] {
    [TextSpan("[", theme.rule)] + spans + [TextSpan("]", theme.rule)]
  }
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
    return shown.map { signs[max(0, Int(clamping: Double($0 / top * Float(signs.count - 2))))] }.joined()
  }
}
