import JobModel
import Screen

/// The effects of the mouse.
enum MouseInput {
  private static let wheelRows = 3

  static func handle(_ event: MouseEvent, _ model: inout Model, _ now: Duration) -> [Effect] {
    guard model.hasMouse else { return [] }
    model.updateLog()
    let layout = Layout(model)
    switch event.action {
    case .wheelUp, .wheelDown:
      if case .palette = model.prompt {
        return PromptKeys.answer(event.action == .wheelUp ? .up : .down, &model, now)
      }
      scroll(by: event.action == .wheelUp ? -wheelRows : wheelRows, event, &model, layout)
    case .click, .doubleClick:
      // A question must be answered first.
      switch model.prompt {
      case .quit, .confirm, .palette: return []
      case .filter, .search, nil: break
      }
      return click(event, &model, layout, now)
    case .drag:
      drag(event, &model, layout)
    case .release:
      return release(&model, now)
    }
    return []
  }

  private static func scroll(by rows: Int, _ event: MouseEvent, _ model: inout Model, _ layout: Layout) {
    if layout.log.contains(x: event.x, y: event.y) || layout.logBar.contains(x: event.x, y: event.y) {
      LogScroll.scrollLog(by: rows, &model, layout)
    } else if layout.page.contains(x: event.x, y: event.y) {
      Moving.scrollPage(by: rows, &model, height: layout.page.height)
    } else if layout.list.contains(x: event.x, y: event.y) || layout.more.contains(x: event.x, y: event.y) {
      model.showsCursor = false
      model.top = min(max(0, model.rowCount - layout.list.height), max(0, model.top + rows))
    }
  }

  private static func click(_ event: MouseEvent, _ model: inout Model, _ layout: Layout, _ now: Duration) -> [Effect] {
    model.log.selection = nil
    if layout.list.contains(x: event.x, y: event.y) {
      let row = model.top + event.y - layout.list.y
      guard row < model.rowCount else { return [] }
      model.focus = .list
      model.choose(row: row)
      if event.action == .doubleClick { return Command.zoom.request(&model, now) }
    } else if layout.titles.contains(x: event.x, y: event.y) {
      guard model.panel == .list else { return [] }
      let columns = JobList.columns(model, width: layout.list.width)
      let column = columns.sort(at: event.x - layout.titles.x)
      let isSame = column == model.order.sort
      model.order.setSort(column, inverted: isSame ? !model.order.isInverted : false)
    } else if layout.log.contains(x: event.x, y: event.y) {
      return press(event, &model, layout, now)
    } else if layout.footer.contains(x: event.x, y: event.y), model.prompt == nil {
      let hint = Footer.hints(model, width: layout.footer.width)
        .first { ($0.x..<($0.x + $0.width)).contains(event.x - layout.footer.x) }
      return hint.map { $0.command.request(&model, now) } ?? []
    } else if layout.logBar.contains(x: event.x, y: event.y) {
      model.isCursorTaken = true
      model.focus = .log
    } else if layout.page.contains(x: event.x, y: event.y), model.page == .zoom {
      model.focus = .list
    }
    return []
  }
}

extension MouseInput {
  /// Moves the cursor to the line under the pointer and starts a selection there.
  static func press(_ event: MouseEvent, _ model: inout Model, _ layout: Layout, _ now: Duration) -> [Effect] {
    model.focus = .log
    model.isCursorTaken = true
    guard let rows = LogScroll.beginReading(&model, layout),
      let (row, spot) = locate(event, rows, &model, layout)
    else { return [] }
    model.log.cursor = row.line.seq
    guard event.action == .doubleClick else {
      model.log.selection = LogSelection(at: spot)
      return []
    }
    if LogColumns(model, layout).isName(event.x) {
      if let job = row.line.job { LogScroll.choose(job, &model) }
      return []
    }
    guard let word = LogText.word(at: spot.cell, in: row.cells) else { return [] }
    model.log.selection = LogSelection(word, of: row.line.seq)
    return Command.copySelection(&model, now)
  }

  /// Extends the selection to the pointer; outside of the log the log scrolls.
  static func drag(_ event: MouseEvent, _ model: inout Model, _ layout: Layout) {
    guard var selection = model.log.selection, selection.isOpen, !layout.log.isEmpty else { return }
    if event.y < layout.log.y {
      LogScroll.scrollLog(by: event.y - layout.log.y, &model, layout)
    } else if event.y >= layout.log.maxY {
      LogScroll.scrollLog(by: event.y - layout.log.maxY + 1, &model, layout)
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
    return Command.copySelection(&model, now)
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
      var left = event.x - (layout.log.maxX - 1 - rows.width) - row.blanks
      cell = row.range.lowerBound
      while cell < row.range.upperBound, left >= TextWidth.of(row.cells[cell].text) {
        left -= TextWidth.of(row.cells[cell].text)
        cell += 1
      }
      // Right of a row that continues below, its last cell is selected.
      if cell == row.range.upperBound, !row.isLast { cell -= 1 }
    }
    return (row, LogSelection.Spot(line: row.line.seq, cell: cell))
  }
}
