import Screen

/// A line of a job's output as cells that are safe to draw; all output reaches the screen through this type.
enum LogText {
  /// A cell for each grapheme, in the job's own colours; a wide grapheme is one cell here.
  static func cells(_ line: String) -> [Cell] {
    JobText(line).runs.flatMap { run in
      run.text.lazy.filter { TextWidth.of($0) > 0 }.map { Cell(String($0), run.style) }
    }
  }

  /// The number of columns that cells take on the screen.
  static func width(_ cells: some Sequence<Cell>) -> Int { cells.reduce(0) { $0 + TextWidth.of($1.text) } }

  /// The first cell that is not left of a column, and the number of columns between the two.
  static func start(of column: Int, in cells: [Cell]) -> (cell: Int, gap: Int) {
    var (cell, left) = (0, column)
    while left > 0, cell < cells.count {
      left -= TextWidth.of(cells[cell].text)
      cell += 1
    }
    return (cell, max(0, -left))
  }

  /// The word that a cell is part of, delimited by blanks, quotes and brackets so that paths and URLs are whole.
  static func word(at cell: Int, in cells: [Cell]) -> Range<Int>? {
    func isPart(_ place: Int) -> Bool {
      !cells[place].text.contains { $0.isWhitespace || "\"'`()[]{}<>|,;".contains($0) }
    }
    guard cells.indices.contains(cell), isPart(cell) else { return nil }
    var start = cell
    var end = cell + 1
    while start > 0, isPart(start - 1) { start -= 1 }
    while end < cells.count, isPart(end) { end += 1 }
    // Punctuation at the end of a sentence is not part of its last word.
    while end - 1 > start, ".:!?".contains(cells[end - 1].text) { end -= 1 }
    return start..<end
  }

  /// The occurrences of `query` in the line, ignoring case, as ranges of cells.
  static func matches(of query: String, in cells: [Cell]) -> [Range<Int>] {
    let needle = query.lowercased().map(String.init)
    guard !needle.isEmpty, cells.count >= needle.count else { return [] }
    let hay = cells.map { $0.text.lowercased() }
    var found: [Range<Int>] = []
    var start = 0
    while start + needle.count <= hay.count {
      if hay[start] == needle[0], hay[start..<(start + needle.count)].elementsEqual(needle) {
        found.append(start..<(start + needle.count))
        start += needle.count
      } else {
        start += 1
      }
    }
    return found
  }

  /// Splits a line into rows of at most `width` cells; an empty line is one row.
  static func wrap(_ cells: [Cell], width: Int) -> [ArraySlice<Cell>] {
    guard width > 0 else { return [cells[...]] }
    var rows: [ArraySlice<Cell>] = []
    var start = 0
    var used = 0
    for (place, cell) in cells.enumerated() {
      let needed = TextWidth.of(cell.text)
      if used + needed > width, place > start {
        rows.append(cells[start..<place])
        start = place
        used = 0
      }
      used += needed
    }
    rows.append(cells[start...])
    return rows
  }
}
