/// The content of a whole screen, returned by a view and drawn by a terminal.
package struct Frame: Sendable, Hashable {
  package let size: Size
  package private(set) var rows: [[Cell]]
  /// The cell of the terminal's cursor; nil hides it.
  package var cursor: (x: Int, y: Int)? {
    get { cursorCell.map { ($0.x, $0.y) } }
    set { cursorCell = newValue.map { Rect(x: $0.x, y: $0.y, width: 1, height: 1) } }
  }
  private var cursorCell: Rect?

  package init(_ size: Size) {
    self.size = Size(width: max(0, size.width), height: max(0, size.height))
    rows = Array(repeating: Array(repeating: .blank, count: self.size.width), count: self.size.height)
  }

  package subscript(x: Int, y: Int) -> Cell { rows[y][x] }

  /// Writes a line of text from `x` on, at most `limit` cells and up to the edge; returns the number of cells used.
  ///
  /// A wide grapheme that would be cut or is half overwritten becomes a blank.
  @discardableResult
  package mutating func put(_ text: String, x: Int, y: Int, limit: Int = .max, style: Style = .plain) -> Int {
    guard y >= 0, y < size.height, limit > 0 else { return 0 }
    let end = limit > size.width - x ? size.width : x + limit
    var column = x
    if TextWidth.isSimple(text) {
      for scalar in text.unicodeScalars {
        if column >= end { break }
        if column >= 0 { set(Cell(scalar, style), x: column, y: y) }
        column += 1
      }
      return column - x
    }
    for grapheme in text {
      let width = TextWidth.of(grapheme)
      if width == 0 { continue }
      if column + width > end {
        if column >= 0, column < end { set(.init(" ", style), x: column, y: y) }
        return max(0, end - x)
      }
      if column >= 0 {
        set(Cell(grapheme, style), x: column, y: y)
        if width == 2 { setContinuation(x: column + 1, y: y, style) }
      } else if column + width > 0 {
        set(.init(" ", style), x: 0, y: y)
      }
      column += width
    }
    return column - x
  }

  /// Writes a job's line with its own styles laid over `style`; returns the number of cells used.
  @discardableResult
  package mutating func put(_ text: JobText, x: Int, y: Int, limit: Int = .max, style: Style = .plain) -> Int {
    var used = 0
    for run in text.runs where used < limit {
      let width = put(run.text, x: x + used, y: y, limit: limit - used, style: run.style.over(style))
      if width < TextWidth.of(run.text) { return used + width }
      used += width
    }
    return used
  }

  /// Fills with one grapheme of one cell.
  package mutating func fill(_ rect: Rect, _ text: String = " ", style: Style = .plain) {
    let cell = Cell(text, style)
    for y in rows(of: rect) {
      for x in columns(of: rect) { set(cell, x: x, y: y) }
    }
  }

  package mutating func restyle(_ rect: Rect, _ change: (inout Style) -> Void) {
    for y in rows(of: rect) {
      for x in columns(of: rect) { change(&rows[y][x].style) }
    }
  }

  /// A row as text without trailing blanks.
  package func text(row: Int) -> String {
    var line = rows[row].map(\.text).joined()
    while line.last == " " { line.removeLast() }
    return line
  }

  package var text: String { rows.indices.map { text(row: $0) }.joined(separator: "\n") }

  /// The rows that differ from `shown`; all rows if the size differs.
  package func rowsChanged(since shown: Frame) -> [Int] {
    guard shown.size == size else { return Array(rows.indices) }
    return rows.indices.filter { rows[$0] != shown.rows[$0] }
  }

  private func rows(of rect: Rect) -> Range<Int> { clamp(rect.y, rect.maxY, to: size.height) }
  private func columns(of rect: Rect) -> Range<Int> { clamp(rect.x, rect.maxX, to: size.width) }

  private func clamp(_ low: Int, _ high: Int, to count: Int) -> Range<Int> {
    let start = min(max(0, low), count)
    return start..<max(start, min(high, count))
  }

  private mutating func set(_ cell: Cell, x: Int, y: Int) {
    guard x >= 0, x < size.width else { return }
    clearHalves(x: x, y: y)
    rows[y][x] = cell
  }

  private mutating func setContinuation(x: Int, y: Int, _ style: Style) {
    guard x < size.width else { return }
    if x + 1 < size.width, rows[y][x + 1].isContinuation { rows[y][x + 1] = Cell(" ", rows[y][x + 1].style) }
    rows[y][x] = Cell("", style)
  }

  /// Blanks the other half of a wide grapheme at `x`.
  private mutating func clearHalves(x: Int, y: Int) {
    if x > 0, rows[y][x].isContinuation { rows[y][x - 1] = Cell(" ", rows[y][x - 1].style) }
    if x + 1 < size.width, rows[y][x + 1].isContinuation { rows[y][x + 1] = Cell(" ", rows[y][x + 1].style) }
  }
}

extension Frame {
  /// A row with SGR sequences for `palette`, without trailing blanks; the style is reset at the end.
  package func line(row: Int, palette: ScreenTraits.Palette) -> TerminalText {
    var cells = rows[row][...]
    while let last = cells.last, last == .blank { cells.removeLast() }
    var line = ""
    var style = Style.plain
    for cell in cells where !cell.isContinuation {
      let wanted = cell.style.reduced(to: palette)
      if wanted != style {
        line += wanted.graphicRendition
        style = wanted
      }
      line += cell.text
    }
    return TerminalText(filtered: style == .plain ? line : line + Style.plain.graphicRendition)
  }
}
