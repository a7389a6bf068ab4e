import Screen

/// The rows of a log at one width, for moving, drawing and the mouse.
struct LogRows {
  let lines: LogLines
  let width: Int
  let wraps: Bool
  /// The number of columns hidden at the left of each line, while lines are not wrapped.
  let shift: Int

  /// A row on the screen: a line or a part of it.
  struct Row {
    var line: JobLine
    var cells: [Cell]
    var range: Range<Int>
    /// The blank columns before its cells: the right half of a wide letter that begins left of the row.
    var blanks: Int
    /// 0 for the line's first row.
    var number: Int
    var isLast: Bool
  }

  var first: LogReader.Place { LogReader.Place(line: lines.first?.seq ?? 0, row: 0) }

  private func cells(_ position: Int) -> [Cell] { LogText.cells(lines[position].entry.line.text) }

  private func height(at position: Int) -> Int {
    wraps ? LogText.wrap(cells(position), width: width).count : 1
  }

  func height(of line: Int) -> Int {
    let position = lines.position(of: line)
    return position < lines.count ? height(at: position) : 1
  }

  func row(of line: Int, cell: Int) -> Int {
    let position = lines.position(of: line)
    guard wraps, position < lines.count else { return 0 }
    let rows = LogText.wrap(cells(position), width: width)
    return rows.lastIndex { $0.startIndex <= cell } ?? 0
  }

  func move(_ place: LogReader.Place, by rows: Int) -> LogReader.Place {
    guard !lines.isEmpty else { return first }
    var (position, row) = locate(place)
    row += rows
    while row < 0, position > 0 {
      position -= 1
      row += height(at: position)
    }
    var height = height(at: position)
    while row >= height, position + 1 < lines.count {
      row -= height
      position += 1
      height = self.height(at: position)
    }
    return LogReader.Place(line: lines[position].seq, row: min(max(0, row), height - 1))
  }

  /// The first row of the last page of `height` rows.
  func lastTop(height: Int) -> LogReader.Place {
    guard let last = lines.last, height > 0 else { return first }
    return move(LogReader.Place(line: last.seq, row: self.height(at: lines.count - 1) - 1), by: 1 - height)
  }

  /// The nearest place whose line is in memory.
  func clamp(_ place: LogReader.Place) -> LogReader.Place {
    guard !lines.isEmpty else { return first }
    let (position, row) = locate(place)
    return LogReader.Place(line: lines[position].seq, row: row)
  }

  /// The top row of a page of `height` rows that contains a line: `top` if its page contains it.
  func top(_ top: LogReader.Place, showing line: Int, height: Int) -> LogReader.Place {
    let rows = self.height(of: line)
    let start = LogReader.Place(line: line, row: 0)
    if start < top { return LogReader.Place(line: line, row: max(0, rows - height)) }
    let lowest = move(LogReader.Place(line: line, row: rows - 1), by: 1 - height)
    return max(top, min(lowest, start))
  }

  func page(from top: LogReader.Place, height: Int) -> [Row] {
    guard !lines.isEmpty, height > 0 else { return [] }
    var (position, skip) = locate(top)
    var page: [Row] = []
    while page.count < height, position < lines.count {
      let line = lines[position]
      let cells = LogText.cells(line.entry.line.text)
      let (start, blanks) = LogText.start(of: shift, in: cells)
      let pieces = wraps ? LogText.wrap(cells, width: width) : [cells[start...]]
      for (number, piece) in pieces.enumerated().dropFirst(skip) where page.count < height {
        page.append(
          Row(
            line: line, cells: cells, range: piece.startIndex..<piece.endIndex, blanks: blanks, number: number,
            isLast: number == pieces.count - 1))
      }
      skip = 0
      position += 1
    }
    return page
  }

  private func locate(_ place: LogReader.Place) -> (position: Int, row: Int) {
    let position = lines.position(of: place.line)
    guard position < lines.count else { return (max(0, lines.count - 1), 0) }
    guard lines[position].seq == place.line else { return (position, 0) }
    return (position, min(place.row, height(at: position) - 1))
  }
}
