import JobModel
import Screen

/// Selecting in the log with the mouse.
extension Update {
  /// Puts the cursor on the line under the pointer, where a selection may begin.
  static func press(_ event: MouseEvent, _ model: inout Model, _ layout: Layout, _ now: Duration) -> [Effect] {
    model.focus = .log
    model.isCursorTaken = true
    guard let rows = beginReading(&model, layout),
      let (row, spot) = locate(event, rows, &model, layout)
    else { return [] }
    model.log.cursor = row.line.seq
    guard event.action == .doubleClick else {
      model.log.selection = LogSelection(at: spot)
      return []
    }
    if LogPane.isName(event.x, model, layout) {
      choose(row.line.job, &model)
      return []
    }
    guard let word = LogText.word(at: spot.cell, in: row.cells) else { return [] }
    model.log.selection = LogSelection(word, of: row.line.seq)
    return copySelection(&model, now)
  }

  /// The pointer moves with the button down; beyond the log's edges the log scrolls.
  static func drag(_ event: MouseEvent, _ model: inout Model, _ layout: Layout) {
    guard var selection = model.log.selection, selection.isOpen, !layout.log.isEmpty else { return }
    if event.y < layout.log.y {
      scrollLog(by: event.y - layout.log.y, &model, layout)
    } else if event.y >= layout.log.maxY {
      scrollLog(by: event.y - layout.log.maxY + 1, &model, layout)
    }
    guard let lines = model.lines else { return }
    let rows = model.rows(lines, layout)
    guard let (row, spot) = locate(event, rows, &model, layout) else { return }
    selection.head = spot
    selection.isMade = selection.isMade || spot != selection.anchor
    model.log.selection = selection
    model.log.cursor = row.line.seq
  }

  static func release(_ model: inout Model, _ now: Duration) -> [Effect] {
    guard var selection = model.log.selection, selection.isOpen else { return [] }
    selection.isOpen = false
    model.log.selection = selection.isMade ? selection : nil
    return copySelection(&model, now)
  }

  /// The row under the pointer, or the nearest one, and the cell in it.
  private static func locate(
    _ event: MouseEvent, _ rows: LogRows, _ model: inout Model, _ layout: Layout
  ) -> (LogRows.Row, LogSelection.Spot)? {
    let page = rows.page(from: model.logTop(rows, layout), height: layout.log.height)
    let y = max(0, event.y - layout.log.y)
    guard let row = y < page.count ? page[y] : page.last else { return nil }
    var cell = row.range.upperBound
    if y < page.count || event.y >= layout.log.maxY {
      var left = event.x - (layout.log.maxX - 1 - rows.width)
      cell = row.range.lowerBound
      while cell < row.range.upperBound, left >= TextWidth.of(row.cells[cell].text) {
        left -= TextWidth.of(row.cells[cell].text)
        cell += 1
      }
      // Right of a row that goes on below, its own last cell is meant.
      if cell == row.range.upperBound, !row.isLast { cell -= 1 }
    }
    return (row, LogSelection.Spot(line: row.line.seq, cell: cell))
  }
}
