import Screen

/// Draws how far something is in a row of cells.
struct Bar {
  let theme: Theme

  /// `[######>.....]`, or eighths of a cell on a dotted track; `width` includes the brackets.
  func determinate(_ fraction: Double, width: Int, style: Style) -> [Span] {
    let share = min(1, max(0, fraction))
    var style = style
    // A coloured block is no heavier in bold, but each time it grows that is to be written.
    if style.foreground != .standard { style.attributes.remove(.bold) }
    guard theme.traits.isASCII else { return eighths(share, cells: width, style) }
    let cells = width - 2
    guard cells > 0 else { return [] }
    let full = Int(share * Double(cells))
    let head = full < cells && share > 0 ? ">" : ""
    return bracketed(
      Span(String(repeating: "#", count: full) + head, style), track(cells - full - head.count))
  }

  /// A mark that moves to and fro, one cell a step.
  func indeterminate(step: Int, width: Int, style: Style) -> [Span] {
    let cells = theme.traits.isASCII ? width - 2 : width
    guard cells > 3 else { return [] }
    let places = cells - 3
    let turn = step % (places * 2)
    let place = turn <= places ? turn : places * 2 - turn
    guard theme.traits.isASCII else {
      return [track(place), Span("▒▒▒", style), track(places - place)]
    }
    return bracketed(
      Span(String(repeating: " ", count: place)), Span("<=>", style),
      Span(String(repeating: " ", count: places - place)))
  }

  private func eighths(_ share: Double, cells: Int, _ style: Style) -> [Span] {
    guard cells > 0 else { return [] }
    let eighths = Int(share * Double(cells * 8))
    let part = eighths % 8
    let filled = String(repeating: "█", count: eighths / 8) + (part > 0 ? Self.parts[part - 1] : "")
    return [Span(filled, style), track(cells - eighths / 8 - (part > 0 ? 1 : 0))]
  }

  private func track(_ cells: Int) -> Span {
    Span(String(repeating: theme.pick("·", "."), count: max(0, cells)), theme.rule)
  }

  private func bracketed(_ spans: Span...) -> [Span] { [Span("[", theme.rule)] + spans + [Span("]", theme.rule)] }

  private static let parts = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]
}
