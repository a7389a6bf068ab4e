import Screen

/// The rows of a log at one width: moving, drawing and the mouse all read them.
struct LogRows {
  let lines: LogLines
  let width: Int
  let wraps: Bool
  /// How many cells of each line are left out on the left, while lines are not wrapped.
  let shift: Int

  /// A row on the screen: a part of a line.
  struct Row {
    var line: JobLine
    /// Of the whole line.
    var cells: [Cell]
    /// Those in this row.
    var range: Range<Int>
    /// 0 for the line's first row.
    var number: Int
    var isLast: Bool
  }

  var first: LogView.Place { LogView.Place(line: lines.first?.seq ?? 0, row: 0) }

  private func cells(_ position: Int) -> [Cell] { LogText.cells(lines[position].entry.line.text) }

  private func height(at position: Int) -> Int {
    wraps ? LogText.wrap(cells(position), width: width).count : 1
  }

  func height(of line: Int) -> Int {
    let position = lines.position(of: line)
    return position < lines.count ? height(at: position) : 1
  }

  /// In which of a line's rows a cell stands.
  func row(of line: Int, cell: Int) -> Int {
    let position = lines.position(of: line)
    guard wraps, position < lines.count else { return 0 }
    let rows = LogText.wrap(cells(position), width: width)
    return rows.lastIndex { $0.startIndex <= cell } ?? 0
  }

  /// Moves by `rows`, staying within the log.
  func move(_ place: LogView.Place, by rows: Int) -> LogView.Place {
    guard !lines.isEmpty else { return first }
    var (position, row) = locate(place)
    var left = abs(rows)
    while left > 0 {
      if rows < 0 {
        if row > 0 {
          let step = min(left, row)
          row -= step
          left -= step
        } else if position > 0 {
          position -= 1
          row = height(at: position) - 1
          left -= 1
        } else {
          break
        }
      } else {
        let last = height(at: position) - 1
        if row < last {
          let step = min(left, last - row)
          row += step
          left -= step
        } else if position + 1 < lines.count {
          position += 1
          row = 0
          left -= 1
        } else {
          break
        }
      }
    }
    return LogView.Place(line: lines[position].seq, row: row)
  }

  /// The first row of the last page of `height` rows.
  func lastTop(height: Int) -> LogView.Place {
    guard let last = lines.last, height > 0 else { return first }
    return move(LogView.Place(line: last.seq, row: self.height(at: lines.count - 1) - 1), by: 1 - height)
  }

  /// The nearest place that is in memory.
  func clamp(_ place: LogView.Place) -> LogView.Place {
    guard !lines.isEmpty else { return first }
    let (position, row) = locate(place)
    return LogView.Place(line: lines[position].seq, row: row)
  }

  /// The top row with which a line is on a page of `height` rows: `top` unless the line is beyond its edges.
  func top(_ top: LogView.Place, showing line: Int, height: Int) -> LogView.Place {
    let rows = self.height(of: line)
    let start = LogView.Place(line: line, row: 0)
    if start < top { return LogView.Place(line: line, row: max(0, rows - height)) }
    let lowest = move(LogView.Place(line: line, row: rows - 1), by: 1 - height)
    return max(top, min(lowest, start))
  }

  /// The page that begins at `top`.
  func page(from top: LogView.Place, height: Int) -> [Row] {
    guard !lines.isEmpty, height > 0 else { return [] }
    var (position, skip) = locate(top)
    var page: [Row] = []
    while page.count < height, position < lines.count {
      let line = lines[position]
      let cells = LogText.cells(line.entry.line.text)
      let pieces = wraps ? LogText.wrap(cells, width: width) : [cells.dropFirst(shift)]
      for (number, piece) in pieces.enumerated().dropFirst(skip) where page.count < height {
        page.append(
          Row(
            line: line, cells: cells, range: piece.startIndex..<piece.endIndex, number: number,
            isLast: number == pieces.count - 1))
      }
      skip = 0
      position += 1
    }
    return page
  }

  private func locate(_ place: LogView.Place) -> (position: Int, row: Int) {
    let position = lines.position(of: place.line)
    guard position < lines.count else { return (max(0, lines.count - 1), 0) }
    guard lines[position].seq == place.line else { return (position, 0) }
    return (position, min(place.row, height(at: position) - 1))
  }
}
