import Foundation
import JobModel
import Screen

/// The log of the cursor's job or of many jobs, with the bar above it.
struct LogPane {
  let model: Model
  let theme: Theme

  /// The prefix of the program's own lines.
  static let program = "program"

  func draw(_ frame: inout Frame, _ layout: Layout) {
    LogBar(model: model, theme: theme).draw(&frame, layout.logBar)
    guard let lines = model.lines, !layout.log.isEmpty else { return }
    guard !lines.isEmpty else {
      drawEmptiness(&frame, layout.log)
      return
    }
    drawLines(lines, &frame, layout)
  }

  private func drawEmptiness(_ frame: inout Frame, _ area: Rect) {
    let rows = JobDescription.wordWrapped(emptiness, width: max(4, area.width - 2))
    for (offset, row) in rows.prefix(area.height).enumerated() {
      frame.put(row, x: area.x + 1, y: area.y + offset, style: theme.dim)
    }
  }

  /// The text that an empty log shows: the failure of a job that has written nothing is whole here.
  private var emptiness: String {
    guard model.showsJobLog, let record = model.record else {
      return model.run.isComplete ? "no output" : "no output yet"
    }
    let hasEnded = record.state.isTerminal
    switch record.state {
    case .failed(let failure, _), .backingOff(_, _, _, let failure):
      return "no output: \(JobText(failure.reason).plain)"
    default: break
    }
    if record.attempts.isEmpty { return hasEnded ? "not executed" : "not started yet" }
    return hasEnded ? "no output" : "no output yet"
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
      if rows.shift > 0, row.range.lowerBound > 0 {
        frame.put(theme.pick("‹", "<"), x: x, y: y, style: bar ?? theme.key)
      }
      if let used, row.isLast, row.line.entry.line.isCut {
        drawCut(row.line, &frame, x: x + used, y: y, width: rows.width - used)
      }
    }
  }

  private var showsCursor: Bool { model.focus == .log && !model.log.follows }

  /// Whether a line is highlighted: the cursor's, or a line of the marked range.
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
    let columns = LogColumns(model, layout)
    let (timeWidth, nameWidth) = (columns.timeWidth, columns.nameWidth)
    frame.put(time, x: x + 1, y: y, limit: timeWidth - 1, style: bar ?? theme.dim)
    if nameWidth > 0 {
      let job = row.line.job
      let name = theme.elision.middle(
        job.map { model.run.jobs[$0.index].job.name } ?? Self.program, to: nameWidth - 1)
      frame.put(
        name, x: x + timeWidth, y: y, limit: nameWidth - 1,
        style: bar ?? job.map { theme.name(of: $0).with(job == model.cursor ? .bold : []) } ?? theme.accent)
    }
    let mark: TextSpan? =
      switch entry.line.stream {
      case .stdout: nil
      case .stderr: TextSpan(theme.stderrMark, bar ?? theme.held.with(.bold))
      case .note: TextSpan(theme.noteMark, bar ?? theme.accent)
      }
    if let mark { frame.put([mark], x: x + timeWidth + nameWidth, y: y) }
  }

  /// Returns the number of cells used; nil if the row continues beyond its width.
  private func drawCells(
    _ row: LogRows.Row, _ matches: [Range<Int>], _ bar: Style?, _ frame: inout Frame, x: Int, y: Int, width: Int
  ) -> Int? {
    let selected = model.log.selection?.cells(of: row.line.seq, count: row.cells.count) ?? 0..<0
    let match = row.line.seq == model.log.currentMatch ? theme.currentMatch : theme.match
    let base = base(row.line)
    var used = row.blanks
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
        // On a reversed bar, a match is not reversed.
        style = bar?.attributes.contains(.reverse) == true ? Style(attributes: [.bold, .underline]) : match
      }
      if selected.contains(place) { style = theme.match }
      frame.put(cell.text, x: x + used, y: y, style: style)
      used += needed
    }
    return used
  }

  /// Lines of older attempts and notes of opdash are dimmed.
  private func base(_ line: JobLine) -> Style {
    let isOld = line.job.map { line.entry.attempt != model.run.jobs[$0.index].attempt?.number } ?? false
    return isOld || line.entry.line.stream == .note ? theme.dim : .plain
  }

  /// The least width for the place of a whole line.
  private static let placeWidth = 20

  /// The file that has all of a cut line.
  private static func place(_ line: JobLine, _ model: Model) -> String? {
    model.logPath(of: line).map { " whole in \($0)" }
  }

  /// The width that the mark and the file of a cut line take after its text; one cell of the text stays in `width`.
  static func cutWidth(_ line: JobLine, _ model: Model, in width: Int) -> Int {
    guard line.entry.line.isCut else { return 0 }
    let room = width - 3
    guard room >= placeWidth, let place = place(line, model) else { return 2 }
    return 2 + min(room, max(placeWidth, TextWidth.of(place)))
  }

  /// Draws the mark of a cut line, and the file that contains all of it.
  private func drawCut(_ line: JobLine, _ frame: inout Frame, x: Int, y: Int, width: Int) {
    guard width > 0 else { return }
    let used = frame.put(theme.elision.mark, x: x, y: y, limit: width, style: theme.key)
    guard let place = Self.place(line, model), width - used >= Self.placeWidth else { return }
    frame.put(theme.elision.middle(place, to: width - used), x: x + used, y: y, style: theme.held)
  }
}

/// The line above the log: its job, the search, its length, and the file with the rest.
struct LogBar {
  let model: Model
  let theme: Theme

  func draw(_ frame: inout Frame, _ area: Rect) {
    let isFocused = model.focus == .log
    frame.fill(
      area, isFocused ? theme.pick("━", "=") : theme.horizontal,
      style: isFocused ? theme.accent.with(.bold) : theme.rule)
    guard let lines = model.lines else {
      frame.put(" log ", x: area.x + 2, y: area.y, style: theme.dim)
      return
    }
    let right = facts(lines)
    let taken = TextWidth.of(right)
    let rest = rest(lines)
    var x = area.x + 2
    let room = area.width - taken - 20 - (rest == nil ? 0 : Self.restWidth)
    x += frame.put(title(room: room), x: x, y: area.y, limit: area.width - 4)
    let end = area.maxX - 2
    guard x + taken + 4 <= end else { return }
    frame.put(" \(right) ", endingAt: end, y: area.y, style: model.log.follows ? theme.dim : theme.bold)
    if let rest { draw(rest, &frame, x: x + 2, end: end - taken - 4, y: area.y) }
  }

  /// The least width for the place of older lines beside a long name.
  private static let restWidth = 28

  private func title(room: Int) -> [TextSpan] {
    if model.showsMerged, let merged = model.merged {
      let kind = !merged.scope.tags.isEmpty ? "tagged " : merged.scope.filter.isEmpty ? "" : "found "
      let more = merged.scope.hasProgram && !model.run.programLog.isEmpty ? " and the program" : ""
      let whose = "\(Format.count(merged.jobs, "\(kind)job"))\(more) "
      return [TextSpan(" log: ", theme.dim), TextSpan(whose, theme.bold)]
    }
    if model.showsProgram { return [TextSpan(" log: ", theme.dim), TextSpan("output of the program ", theme.bold)] }
    guard let record = model.record else { return [] }
    let attempt = record.attempt.map { " #\($0.number)" } ?? ""
    let name = theme.elision.middle(record.job.name, to: max(6, room))
    return [TextSpan(" log: ", theme.dim), TextSpan(name, theme.bold), TextSpan(attempt + " ", theme.dim)]
  }

  private func facts(_ lines: LogLines) -> String {
    var facts: [String] = []
    if !model.log.query.isEmpty {
      let place = model.log.matchNumber.map { "\($0) of " } ?? ""
      let reach = model.newer > 0 ? " here" : ""
      facts.append("/\(theme.elision.end(model.log.query, to: 16)) \(place)\(model.log.matches.count)\(reach)")
    }
    if model.log.wraps { facts.append("wrap") }
    if model.log.follows { facts.append("following") }
    if model.newer > 0 { facts.append("\(model.newer) newer") }
    facts.append(Format.count(lines.total, "line"))
    return facts.joined(separator: "  ")
  }

  /// The place of the rest of a cut cursor line or, otherwise, of the lines that have left memory.
  private func rest(_ lines: LogLines) -> (what: String, path: String?)? {
    if model.focus == .log, !model.log.follows, let line = model.currentLine, line.entry.line.isCut {
      return ("cut at 4 KiB", model.logPath(of: line))
    }
    return lines.dropped > 0 ? ("\(lines.dropped) older", model.olderPath) : nil
  }

  private func draw(_ rest: (what: String, path: String?), _ frame: inout Frame, x: Int, end: Int, y: Int) {
    let room = end - x - 2
    guard room >= rest.what.count else { return }
    let left = room - rest.what.count - 4
    let place = rest.path.flatMap { left >= 8 ? " in \(theme.elision.middle($0, to: left))" : nil } ?? ""
    frame.put(" \(rest.what)\(place) ", x: x, y: y, style: theme.held)
  }
}
