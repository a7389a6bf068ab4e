import Foundation
import JobModel
import Screen

/// The log of the cursor's job, with the bar above it.
struct LogPane {
  let model: Model
  let theme: Theme

  func draw(_ frame: inout Frame, _ layout: Layout) {
    drawBar(&frame, layout.logBar)
    guard let record = model.record, !layout.log.isEmpty else { return }
    guard !record.log.isEmpty else {
      let text = record.attempts.isEmpty ? "not started yet" : "no output so far"
      frame.put(text, x: layout.log.x + 1, y: layout.log.y, style: theme.dim)
      return
    }
    drawLines(record, &frame, layout)
  }

  // MARK: The bar

  private func drawBar(_ frame: inout Frame, _ area: Rect) {
    let style = model.focus == .log ? theme.accent : theme.rule
    frame.fill(area, theme.horizontal, style: style)
    guard let record = model.record else {
      frame.put(" log ", x: area.x + 2, y: area.y, style: theme.dim)
      return
    }
    var right = ""
    if !model.log.query.isEmpty {
      let count = model.log.matches.count
      let place = model.log.currentMatch.flatMap { model.log.matches.firstIndex(of: $0) }.map { "\($0 + 1) of " } ?? ""
      right += "/\(theme.elision.end(model.log.query, to: 16)) \(place)\(count)  "
    }
    if model.log.wraps { right += "wrap  " }
    right += model.log.follows ? "follow  " : ""
    right += Format.count(record.log.total, "line")
    let attempt = record.attempt.map { " #\($0.number)" } ?? ""
    let name = theme.elision.middle(record.job.name, to: max(6, area.width - right.count - 20))
    var x = area.x + 2
    x += frame.put(
      [Span(" log: ", theme.dim), Span(name, theme.bold), Span(attempt + " ", theme.dim)], x: x, y: area.y,
      limit: area.width - 4)
    let end = area.maxX - 2
    guard x + right.count + 4 <= end else { return }
    frame.put(" \(right) ", endingAt: end, y: area.y, style: model.log.follows ? theme.dim : theme.bold)
    drawClipped(record, &frame, x: x + 2, end: end - right.count - 4, y: area.y)
  }

  /// Where lines have left the screen's memory, how many, and where all of them are.
  private func drawClipped(_ record: JobRecord, _ frame: inout Frame, x: Int, end: Int, y: Int) {
    guard record.log.dropped > 0, let id = model.cursor else { return }
    let path = model.run.logPath(id, attempt: record.attempt?.number ?? 1)
    let count = "\(record.log.dropped) older"
    let text = path.map { "\(count) in \($0)" } ?? "\(count) are gone"
    let room = end - x - 2
    guard room >= count.count else { return }
    frame.put(" \(theme.elision.middle(text, to: room)) ", x: x, y: y, style: theme.held)
  }

  // MARK: The lines

  /// The cells that a line's time and stream mark take.
  private static func prefixWidth(_ model: Model) -> Int {
    switch model.log.times {
    case .relative: 10
    case .clock: 11
    case .off: 2
    }
  }

  /// How wide a row of a log's text is.
  static func textWidth(_ model: Model, _ layout: Layout) -> Int {
    max(1, layout.log.width - prefixWidth(model) - 1)
  }

  private func drawLines(_ record: JobRecord, _ frame: inout Frame, _ layout: Layout) {
    let area = layout.log
    let width = Self.textWidth(model, layout)
    let rows = LogRows(log: record.log, width: width, wraps: model.log.wraps)
    let top = model.log.follows ? rows.lastTop(height: area.height) : rows.clamp(model.log.top)
    var y = area.y
    var line = top.line
    var skip = top.row
    while y < area.maxY, line < record.log.total {
      let entry = record.log[line - record.log.dropped]
      let cells = highlighted(LogText.cells(entry.line.text), entry)
      let pieces =
        model.log.wraps
        ? LogText.wrap(cells, width: width) : [cells.dropFirst(model.log.shift)]
      for (number, piece) in pieces.enumerated().dropFirst(skip) where y < area.maxY {
        if number == 0 { drawPrefix(entry, record, &frame, x: area.x, y: y) }
        drawCells(
          piece, isCut: entry.line.isCut && number == pieces.count - 1, &frame, x: area.maxX - 1 - width, y: y,
          width: width)
        y += 1
      }
      skip = 0
      line += 1
    }
  }

  private func drawPrefix(_ entry: LogRing.Entry, _ record: JobRecord, _ frame: inout Frame, x: Int, y: Int) {
    let time: String
    switch model.log.times {
    case .relative: time = Format.stamp(entry.time)
    case .clock:
      let date = (model.run.start?.at ?? Date(timeIntervalSince1970: 0)).addingTimeInterval(entry.time / .seconds(1))
      time = Format.clock(date, in: model.options.timeZone)
    case .off: time = ""
    }
    let width = Self.prefixWidth(model)
    frame.put(time, x: x + 1, y: y, limit: width - 2, style: theme.dim)
    let mark: Span? =
      switch entry.line.stream {
      case .stdout: nil
      case .stderr: Span(theme.pick("▎", "|"), theme.held)
      case .note: Span(theme.pick("»", "*"), theme.accent)
      }
    if let mark { frame.put([mark], x: x + width - 1, y: y) }
  }

  private func drawCells(
    _ cells: ArraySlice<Cell>, isCut: Bool, _ frame: inout Frame, x: Int, y: Int, width: Int
  ) {
    var used = 0
    for cell in cells {
      let needed = TextWidth.of(cell.text)
      if used + needed > width {
        frame.put(theme.pick("›", ">"), x: x + width - 1, y: y, style: theme.key)
        return
      }
      frame.put(cell.text, x: x + used, y: y, style: cell.style)
      used += needed
    }
    if isCut, used < width { frame.put(theme.elision.mark, x: x + used, y: y, style: theme.key) }
  }

  /// What is looked for stands out; older attempts and opdash's own words stand back.
  private func highlighted(_ cells: [Cell], _ entry: LogRing.Entry) -> [Cell] {
    var cells = cells
    if theme.traits.palette == .none {
      for place in cells.indices { cells[place].style = Style(attributes: cells[place].style.attributes) }
    }
    let isOld = entry.attempt != model.record?.attempt?.number
    if isOld || entry.line.stream == .note {
      for place in cells.indices where cells[place].style == .plain { cells[place].style = theme.dim }
    }
    guard !model.log.query.isEmpty else { return cells }
    let style = entry.number == model.log.currentMatch ? theme.currentMatch : theme.match
    for range in LogText.matches(of: model.log.query, in: cells) {
      for place in range { cells[place].style = style }
    }
    return cells
  }
}
