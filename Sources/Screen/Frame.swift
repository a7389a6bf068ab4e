/// A whole screen as a value: what a view returns and a terminal shows.
package struct Frame: Sendable, Hashable {
  package let size: Size
  package private(set) var rows: [[Cell]]
  /// Where the terminal's cursor is shown, as in a line being typed; nil hides it.
  package var cursor: (x: Int, y: Int)? {
    get { cursorCell.map { ($0.x, $0.y) } }
    set { cursorCell = newValue.map { Rect(x: $0.x, y: $0.y, width: 1, height: 1) } }
  }
  private var cursorCell: Rect?

  package init(_ size: Size) {
    self.size = size
    rows = Array(repeating: Array(repeating: .blank, count: max(0, size.width)), count: max(0, size.height))
  }

  package subscript(x: Int, y: Int) -> Cell { rows[y][x] }

  /// Writes one line of text from `x` on, no further than `limit` cells and the edge of the frame; returns the cells used.
  ///
  /// A wide grapheme that would be cut at the end is replaced by a blank, and one that is half overwritten becomes blank.
  @discardableResult
  package mutating func put(_ text: String, x: Int, y: Int, limit: Int = .max, style: Style = .plain) -> Int {
    guard y >= 0, y < size.height, limit > 0 else { return 0 }
    let end = limit > size.width - x ? size.width : x + limit
    var column = x
    for grapheme in text {
      let width = TextWidth.of(grapheme)
      if width == 0 { continue }
      if column + width > end {
        if column < end { set(.init(" ", style), x: column, y: y) }
        return max(0, end - x)
      }
      if column >= 0 {
        set(Cell(TextWidth.isPrintable(grapheme) ? String(grapheme) : "\u{FFFD}", style), x: column, y: y)
        if width == 2 { setContinuation(x: column + 1, y: y, style) }
      }
      column += width
    }
    return column - x
  }

  package mutating func fill(_ rect: Rect, _ text: String = " ", style: Style = .plain) {
    for y in max(0, rect.y)..<max(0, min(rect.maxY, size.height), rect.y) where y < size.height {
      for x in max(0, rect.x)..<max(0, min(rect.maxX, size.width), rect.x) where x < size.width {
        set(Cell(text, style), x: x, y: y)
      }
    }
  }

  /// Changes the look of what is there.
  package mutating func restyle(_ rect: Rect, _ change: (inout Style) -> Void) {
    guard rect.y >= 0, rect.x >= 0 else { return }
    for y in rect.y..<max(rect.y, min(rect.maxY, size.height)) {
      for x in rect.x..<max(rect.x, min(rect.maxX, size.width)) { change(&rows[y][x].style) }
    }
  }

  /// A row as text, trailing blanks left out: what a golden holds.
  package func text(row: Int) -> String {
    var line = rows[row].map(\.text).joined()
    while line.last == " " { line.removeLast() }
    return line
  }

  /// All rows as text.
  package var text: String { rows.indices.map { text(row: $0) }.joined(separator: "\n") }

  private mutating func set(_ cell: Cell, x: Int, y: Int) {
    guard x >= 0, x < size.width else { return }
    clearHalves(x: x, y: y)
    rows[y][x] = cell
  }

  private mutating func setContinuation(x: Int, y: Int, _ style: Style) {
    guard x < size.width else { return }
    if x + 1 < size.width, rows[y][x + 1].text.isEmpty { rows[y][x + 1] = .blank }
    rows[y][x] = Cell("", style)
  }

  /// Whatever wide grapheme stands across `x` loses its other half.
  private mutating func clearHalves(x: Int, y: Int) {
    if rows[y][x].text.isEmpty, x > 0 { rows[y][x - 1] = Cell(" ", rows[y][x - 1].style) }
    if x + 1 < size.width, rows[y][x + 1].text.isEmpty { rows[y][x + 1] = Cell(" ", rows[y][x + 1].style) }
  }
}
