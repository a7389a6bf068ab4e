import Screen

/// Draws how far something is in a row of cells.
struct Bar {
  let theme: Theme

  /// `[######>.....]`, or eighths of a cell between thin edges; `width` includes the edges.
  func determinate(_ fraction: Double, width: Int, style: Style) -> [Span] {
    let cells = width - 2
    guard cells > 0 else { return [] }
    let share = min(1, max(0, fraction))
    if theme.traits.isASCII {
      let full = Int(share * Double(cells))
      let head = full < cells && share > 0 ? 1 : 0
      let done = String(repeating: "#", count: full) + (head == 1 ? ">" : "")
      return [
        Span("[", theme.rule), Span(done, style),
        Span(String(repeating: ".", count: cells - full - head), theme.rule), Span("]", theme.rule),
      ]
    }
    let eighths = Int(share * Double(cells * 8))
    let part = eighths % 8
    let filled = String(repeating: "█", count: eighths / 8) + (part > 0 ? Self.parts[part - 1] : "")
    let left = cells - eighths / 8 - (part > 0 ? 1 : 0)
    return [
      Span("▕", theme.rule), Span(filled, style), Span(String(repeating: " ", count: left)), Span("▏", theme.rule),
    ]
  }

  /// A mark that moves to and fro, one cell a `step`.
  func indeterminate(step: Int, width: Int, style: Style) -> [Span] {
    let cells = width - 2
    let mark = theme.pick("▒▒▒", "<=>")
    guard cells > 3 else { return [] }
    let places = cells - 3
    let turn = step % (places * 2)
    let place = turn <= places ? turn : places * 2 - turn
    let (open, close) = theme.traits.isASCII ? ("[", "]") : ("▕", "▏")
    return [
      Span(open, theme.rule), Span(String(repeating: " ", count: place)), Span(mark, style),
      Span(String(repeating: " ", count: places - place)), Span(close, theme.rule),
    ]
  }

  /// A held or unfinished amount, without a head.
  func still(_ fraction: Double, width: Int, style: Style) -> [Span] {
    guard theme.traits.isASCII else { return determinate(fraction, width: width, style: style) }
    let cells = width - 2
    guard cells > 0 else { return [] }
    let full = Int(min(1, max(0, fraction)) * Double(cells))
    return [
      Span("[", theme.rule), Span(String(repeating: "#", count: full), style),
      Span(String(repeating: ".", count: cells - full), theme.rule), Span("]", theme.rule),
    ]
  }

  private static let parts = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]
}
