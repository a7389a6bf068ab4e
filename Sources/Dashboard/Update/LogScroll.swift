import JobModel
import Screen

/// Moves in the pane of the log.
enum LogScroll {
  static func moveLog(_ movement: Movement, _ model: inout Model, _ layout: Layout) {
    switch movement {
    case .left, .right:
      Moving.shift(movement, &model)
    case .last where model.log.mark == nil:
      model.log.follow()
    case .up, .down:
      moveLine(movement == .down, &model, layout)
    default:
      guard let rows = beginReading(&model, layout) else { return }
      let step = movement.rows(height: layout.log.height)
      let before = rows.clamp(model.log.top)
      scrollRows(by: step, rows, &model, layout)
      // At an end the page stays, and only the cursor moves there.
      guard rows.clamp(model.log.top) == before || abs(step) > farthest else { return }
      let end = step < 0 ? rows.lines.first : rows.lines.last
      model.log.cursor = end?.seq ?? model.log.cursor
      if step > 0 { showOldestLive(&model) }
    }
  }

  /// More rows than any log in memory has.
  private static let farthest = 1_000_000

  /// Stops following, with the cursor on the newest line; nil for a log without lines.
  @discardableResult
  static func beginReading(_ model: inout Model, _ layout: Layout) -> LogRows? {
    guard let lines = model.lines, !lines.isEmpty, !layout.log.isEmpty else { return nil }
    let rows = model.rows(lines, layout)
    model.isCursorTaken = true
    model.log.read(lines, top: rows.lastTop(height: layout.log.height))
    return rows
  }

  /// Moves the cursor by a line, and the page at its edges; within a line that is taller than the page, scrolls by a row.
  private static func moveLine(_ down: Bool, _ model: inout Model, _ layout: Layout) {
    guard let rows = beginReading(&model, layout) else { return }
    let height = layout.log.height
    let top = rows.clamp(model.log.top)
    let position = rows.lines.position(of: model.log.cursor)
    let cursor = min(position, rows.lines.count - 1)
    let line = rows.lines[cursor].seq
    if down {
      let bottom = rows.move(top, by: height - 1)
      if bottom.line == line, bottom.row < rows.height(of: line) - 1 {
        model.log.top = rows.move(top, by: 1)
      } else if cursor + 1 < rows.lines.count {
        show(line: rows.lines[cursor + 1].seq, rows, &model, layout)
      } else {
        showOldestLive(&model)
      }
    } else if top.line == line, top.row > 0 {
      model.log.top = rows.move(top, by: -1)
    } else if cursor > 0 {
      show(line: rows.lines[cursor - 1].seq, rows, &model, layout)
    }
  }

  /// Moves the cursor to a line and scrolls it onto the page.
  static func show(line: Int, _ rows: LogRows, _ model: inout Model, _ layout: Layout) {
    model.log.cursor = line
    model.log.top = rows.top(rows.clamp(model.log.top), showing: line, height: layout.log.height)
  }

  /// Scrolls to the line that keys act on where the page does not show it: it has become smaller, or the log another one; fills
  /// a page that is beyond the end of the log.
  static func keepCursorShown(_ model: inout Model) {
    let layout = Layout(model)
    guard !model.log.follows, !layout.log.isEmpty, let lines = model.lines, let line = model.currentLine?.seq else {
      return
    }
    model.log.cursor = line
    let rows = model.rows(lines, layout)
    let top = min(rows.clamp(model.log.top), rows.lastTop(height: layout.log.height))
    if top < model.log.top { model.log.top = top }
    let bottom = rows.move(top, by: layout.log.height - 1)
    if !(top.line...bottom.line).contains(line) { show(line: line, rows, &model, layout) }
  }

  /// Continues after the last held line with the oldest one in memory, if lines between them have left memory.
  private static func showOldestLive(_ model: inout Model) {
    guard model.newer > 0, let first = model.liveLines?.first else { return }
    model.log.mark = nil
    model.log.held = nil
    model.log.top = LogReader.Place(line: first.seq, row: 0)
    model.log.cursor = first.seq
  }

  /// Scrolls by rows and keeps the cursor on the page.
  private static func scrollRows(by step: Int, _ rows: LogRows, _ model: inout Model, _ layout: Layout) {
    let height = layout.log.height
    let last = rows.lastTop(height: height)
    if abs(step) > farthest {
      model.log.top = step < 0 ? rows.first : last
    } else {
      model.log.top = min(last, rows.move(rows.clamp(model.log.top), by: step))
    }
    let bottom = rows.move(model.log.top, by: height - 1)
    model.log.cursor = min(max(model.log.cursor, model.log.top.line), bottom.line)
  }

  /// Says where the older lines are when the cursor reaches the oldest one in memory.
  static func sayWhereOlderLinesAre(_ movement: Movement, _ model: inout Model, _ now: Duration) {
    guard [.up, .pageUp, .halfUp, .first].contains(movement), !model.log.follows,
      let lines = model.lines, lines.dropped > 0, model.log.cursor == lines.first?.seq
    else { return }
    let way = model.keys.label(.copyPath).map { ": \($0) copies path" } ?? " in the file"
    model.say("\(lines.dropped) older\(way)", now)
  }

  /// Scrolls by the mouse wheel: scrolling up stops following, scrolling down past the last line does nothing.
  static func scrollLog(by step: Int, _ model: inout Model, _ layout: Layout) {
    guard let lines = model.lines, !lines.isEmpty, !layout.log.isEmpty else { return }
    let rows = model.rows(lines, layout)
    if model.log.follows {
      // A log that fits on the page cannot be scrolled and keeps following.
      guard step < 0, rows.lastTop(height: layout.log.height) > rows.first else { return }
      beginReading(&model, layout)
    }
    model.isCursorTaken = true
    scrollRows(by: step, rows, &model, layout)
  }

  static func choose(_ id: JobID, _ model: inout Model) {
    model.select(id)
    // The row of an event of the run itself has no job.
    if model.events.chosen?.fact.job != id { model.events.follow() }
    model.focus = .list
    if model.panel == .tree { model.tree.reveal(id, model.run) }
    if model.log.extent == .full { model.log.extent = .half }
  }

  /// Scrolls a line to the middle of the log, and to the match in it.
  static func scroll(to line: Int, _ model: inout Model, _ layout: Layout) {
    guard let rows = beginReading(&model, layout), let found = rows.lines.line(line) else { return }
    let cells = LogText.cells(found.entry.line.text)
    let match = LogText.matches(of: model.log.query, in: cells).first
    if !model.log.wraps, let match {
      let start = LogText.width(cells[..<match.lowerBound])
      let end = start + LogText.width(cells[match])
      // The marks of the text beyond a row take its first and its last column.
      let first = model.log.shift > 0 ? model.log.shift + 1 : 0
      let room = match.upperBound < cells.count ? rows.width - 1 : rows.width
      if start < first || end > model.log.shift + room {
        model.log.shift = end <= room ? 0 : max(0, start - rows.width / 3)
      }
    }
    let row = match.map { rows.row(of: line, cell: $0.lowerBound) } ?? 0
    let top = rows.move(LogReader.Place(line: line, row: row), by: -(layout.log.height / 2))
    model.log.top = min(top, rows.lastTop(height: layout.log.height))
    model.log.cursor = line
  }
}
