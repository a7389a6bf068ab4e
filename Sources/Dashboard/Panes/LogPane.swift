import Foundation
import JobModel
import Screen

/// The log of the cursor's job or of many, with the bar above it.
struct LogPane {
  let model: Model
  let theme: Theme

  func draw(_ frame: inout Frame, _ layout: Layout) {
    LogBar(model: model, theme: theme).draw(&frame, layout.logBar)
    guard let lines = model.lines, !layout.log.isEmpty else { return }
    guard !lines.isEmpty else {
      let isWaiting = !lines.isMerged && model.record?.attempts.isEmpty == true
      frame.put(
        isWaiting ? "not started yet" : "no output so far", x: layout.log.x + 1, y: layout.log.y, style: theme.dim)
      return
    }
    drawLines(lines, &frame, layout)
  }

  // MARK: Columns

  /// The cells that a line's time takes, with a blank before and behind it.
  private static func timeWidth(_ model: Model) -> Int {
    switch model.log.times {
    case .relative: 9
    case .clock: 10
    case .off: 1
    }
  }

  /// The cells of the column of names, with a blank behind it: the same for every line, whoever writes.
  private static func nameWidth(_ model: Model, _ layout: Layout) -> Int {
    guard model.showsMerged else { return 0 }
    return min(max(8, min(24, layout.log.width / 5)), max(4, model.index.longestName)) + 1
  }

  private static func prefixWidth(_ model: Model, _ layout: Layout) -> Int {
    timeWidth(model) + nameWidth(model, layout) + 1
  }

  /// How wide a row of a log's text is.
  static func textWidth(_ model: Model, _ layout: Layout) -> Int {
    max(1, layout.log.width - prefixWidth(model, layout) - 1)
  }

  /// Whether a job's name stands in a column of the screen.
  static func isName(_ x: Int, _ model: Model, _ layout: Layout) -> Bool {
    let start = layout.log.x + timeWidth(model)
    return (start..<(start + nameWidth(model, layout))).contains(x)
  }

  // MARK: Lines

  private func drawLines(_ lines: LogLines, _ frame: inout Frame, _ layout: Layout) {
    let area = layout.log
    let rows = model.rows(lines, layout)
    let x = area.maxX - 1 - rows.width
    var matches: [Range<Int>] = []
    for (offset, row) in rows.page(from: model.logTop(rows, layout), height: area.height).enumerated() {
      let y = area.y + offset
      if offset == 0 || row.number == 0 { matches = LogText.matches(of: model.log.query, in: row.cells) }
      let bar = isBarred(row.line) ? theme.cursor(focused: true) : nil
      if let bar { frame.fill(Rect(x: area.x, y: y, width: area.width, height: 1), style: bar) }
      drawPrefix(row, bar, &frame, layout, y: y)
      let used = drawCells(row, matches, bar, &frame, x: x, y: y, width: rows.width)
      if let used, row.isLast, row.line.entry.line.isCut {
        drawCut(row.line, &frame, x: x + used, y: y, width: rows.width - used)
      }
    }
  }

  private var showsCursor: Bool { model.focus == .log && !model.log.follows }

  /// Whether a line stands out as a whole: the cursor's, or one of those that `y` would copy.
  private func isBarred(_ line: JobLine) -> Bool {
    guard showsCursor, model.log.selection?.isMade != true else { return false }
    return model.log.marked?.contains(line.seq) ?? (line.seq == model.log.cursor)
  }

  private func drawPrefix(_ row: LogRows.Row, _ bar: Style?, _ frame: inout Frame, _ layout: Layout, y: Int) {
    let x = layout.log.x
    let entry = row.line.entry
    if showsCursor, row.line.seq == model.log.cursor {
      frame.put(theme.pick("▸", ">"), x: x, y: y, style: bar ?? theme.key)
    }
    guard row.number == 0 else { return }
    let time: String
    switch model.log.times {
    case .relative: time = Format.stamp(entry.time)
    case .clock:
      let date = (model.run.start?.at ?? Date(timeIntervalSince1970: 0)).addingTimeInterval(entry.time / .seconds(1))
      time = Format.clock(date, in: model.options.timeZone)
    case .off: time = ""
    }
    let timeWidth = Self.timeWidth(model)
    frame.put(time, x: x + 1, y: y, limit: timeWidth - 1, style: bar ?? theme.dim)
    let nameWidth = Self.nameWidth(model, layout)
    if nameWidth > 0 {
      let name = theme.elision.middle(model.run.jobs[row.line.job.index].job.name, to: nameWidth - 1)
      frame.put(
        name, x: x + timeWidth, y: y, limit: nameWidth - 1,
        style: bar ?? (row.line.job == model.cursor ? theme.bold : theme.dim))
    }
    let mark: Span? =
      switch entry.line.stream {
      case .stdout: nil
      case .stderr: Span(theme.stderrMark, bar ?? theme.held.with(.bold))
      case .note: Span(theme.noteMark, bar ?? theme.accent)
      }
    if let mark { frame.put([mark], x: x + timeWidth + nameWidth, y: y) }
  }

  /// Returns the cells of the screen that were used; nil when the row goes on beyond its width.
  private func drawCells(
    _ row: LogRows.Row, _ matches: [Range<Int>], _ bar: Style?, _ frame: inout Frame, x: Int, y: Int, width: Int
  ) -> Int? {
    let selected = model.log.selection?.cells(of: row.line.seq, count: row.cells.count) ?? 0..<0
    let match = row.line.seq == model.log.currentMatch ? theme.currentMatch : theme.match
    let base = base(row.line)
    var used = 0
    for place in row.range {
      let cell = row.cells[place]
      let needed = TextWidth.of(cell.text)
      if used + needed > width {
        frame.put(theme.pick("›", ">"), x: x + width - 1, y: y, style: bar ?? theme.key)
        return nil
      }
      var style = theme.traits.palette == .none ? Style(attributes: cell.style.attributes) : cell.style
      let isPlain = style == .plain
      if isPlain { style = bar ?? base }
      if matches.contains(where: { $0.contains(place) }) {
        // On a bar that is reversed itself, what is found is the part that is not.
        style = bar?.attributes.contains(.reverse) == true ? Style(attributes: [.bold, .underline]) : match
      }
      if selected.contains(place) { style = theme.match }
      frame.put(cell.text, x: x + used, y: y, style: style)
      used += needed
    }
    return used
  }

  /// Older attempts and opdash's own words stand back.
  private func base(_ line: JobLine) -> Style {
    let isOld = line.entry.attempt != model.run.jobs[line.job.index].attempt?.number
    return isOld || line.entry.line.stream == .note ? theme.dim : .plain
  }

  /// Where a line was cut, and where the whole is.
  private func drawCut(_ line: JobLine, _ frame: inout Frame, x: Int, y: Int, width: Int) {
    guard width > 0 else { return }
    let used = frame.put(theme.elision.mark, x: x, y: y, limit: width, style: theme.key)
    guard let path = model.logPath(of: line), width - used >= 20 else { return }
    frame.put(theme.elision.middle(" whole in \(path)", to: width - used), x: x + used, y: y, style: theme.held)
  }
}

extension Theme {
  /// What stands before a line that the job wrote to stderr.
  var stderrMark: String { pick("▎", "|") }
  /// What stands before a line that opdash says about the job.
  var noteMark: String { pick("»", "*") }
}
