import JobModel
import Screen

/// Moving about in the log.
extension Update {
  static func moveLog(_ action: Action, _ model: inout Model, _ layout: Layout) {
    switch action {
    case .left, .right:
      shift(action, &model)
    case .last where model.log.mark == nil:
      model.log.follow()
    case .up, .down:
      moveLine(action == .down, &model, layout)
    default:
      guard let rows = beginReading(&model, layout) else { return }
      let step = step(action, height: layout.log.height)
      let before = rows.clamp(model.log.top)
      turn(by: step, rows, &model, layout)
      // At an end there is no page to turn: the cursor goes there alone.
      guard rows.clamp(model.log.top) == before || abs(step) > farthest else { return }
      let end = step < 0 ? rows.lines.first : rows.lines.last
      model.log.cursor = end?.seq ?? model.log.cursor
      if step > 0, goOn(&model) { return }
    }
  }

  /// More rows than any log has.
  private static let farthest = 1_000_000

  /// Ends following, with the cursor on the newest line; nil for a log without lines.
  @discardableResult
  static func beginReading(_ model: inout Model, _ layout: Layout) -> LogRows? {
    guard let lines = model.lines, !lines.isEmpty, !layout.log.isEmpty else { return nil }
    let rows = model.rows(lines, layout)
    model.isCursorTaken = true
    model.log.read(lines, top: rows.lastTop(height: layout.log.height))
    return rows
  }

  /// The cursor goes a line up or down, and the page with it at its edges; of a line that is taller than the page, row by
  /// row.
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
        _ = goOn(&model)
      }
    } else if top.line == line, top.row > 0 {
      model.log.top = rows.move(top, by: -1)
    } else if cursor > 0 {
      show(line: rows.lines[cursor - 1].seq, rows, &model, layout)
    }
  }

  /// Puts the cursor on a line, and the page where it is seen.
  static func show(line: Int, _ rows: LogRows, _ model: inout Model, _ layout: Layout) {
    model.log.cursor = line
    model.log.top = rows.top(rows.clamp(model.log.top), showing: line, height: layout.log.height)
  }

  /// Past the end of lines that have left memory meanwhile, to the oldest that is there.
  private static func goOn(_ model: inout Model) -> Bool {
    guard model.newer > 0, let first = model.liveLines?.first else { return false }
    model.log.mark = nil
    model.log.letGo()
    model.log.top = LogView.Place(line: first.seq, row: 0)
    model.log.cursor = first.seq
    return true
  }

  /// Turns the page by rows, the cursor staying on it.
  private static func turn(by step: Int, _ rows: LogRows, _ model: inout Model, _ layout: Layout) {
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

  /// Whoever comes to the oldest line in memory may want those before it.
  static func sayWhatIsOlder(_ action: Action, _ model: inout Model, _ now: Duration) {
    guard action == .up || action == .pageUp || action == .halfUp || action == .first, !model.log.follows,
      let lines = model.lines, lines.dropped > 0, model.log.cursor == lines.first?.seq
    else { return }
    let way = model.keys.label(.copyPath).map { ": \($0) copies path" } ?? " in the file"
    say("\(lines.dropped) older\(way)", &model, now)
  }

  /// A turn of the wheel: going up ends following; going down past the last line changes nothing.
  static func scrollLog(by step: Int, _ model: inout Model, _ layout: Layout) {
    guard let lines = model.lines, !lines.isEmpty, !layout.log.isEmpty else { return }
    let rows = model.rows(lines, layout)
    if model.log.follows {
      // Nothing is above a log that is not full: staying at its end is what was meant.
      guard step < 0, rows.lastTop(height: layout.log.height) > rows.first else { return }
      beginReading(&model, layout)
    }
    model.isCursorTaken = true
    turn(by: step, rows, &model, layout)
  }

  static func read(_ action: Action, _ model: inout Model, _ now: Duration) {
    let layout = Layout(model)
    switch action {
    case .wrap:
      model.log.wraps.toggle()
      model.log.shift = 0
      model.log.top.row = 0
      say(model.log.wraps ? "long lines are wrapped" : "long lines are cut", &model, now)
    case .follow:
      if model.log.follows { beginReading(&model, layout) } else { model.log.follow() }
    case .times:
      let all = LogView.Times.allCases
      let place = all.firstIndex(of: model.log.times) ?? 0
      model.log.times = all[(place + 1) % all.count]
    case .merged:
      merge(&model, now)
    case .range:
      model.focus = .log
      beginReading(&model, layout)
      if !model.log.follows { model.log.mark = model.log.mark == nil ? model.log.cursor : nil }
    case .firstError:
      goToError(&model, layout, now)
    default:
      goToMatch(action == .next, &model, layout, now)
    }
  }

  /// From one job's log to that of many and back, at the line where the reader is.
  private static func merge(_ model: inout Model, _ now: Duration) {
    model.isCursorTaken = true
    let line = model.currentLine
    model.log.mark = nil
    model.log.letGo()
    model.setMerged(!model.log.isMerged)
    if !model.log.isMerged, !model.log.follows, let line { model.moveCursor(to: line.job, keepsPlace: true) }
    guard let merged = model.merged else { return say("the log of one job", &model, now) }
    say("the log of \(Format.count(merged.jobs, "job"))", &model, now)
  }

  /// Takes the list's cursor to the job of a line.
  static func choose(_ id: JobID, _ model: inout Model) {
    model.moveCursor(to: id)
    model.isCursorTaken = true
    model.showsCursor = true
    model.focus = .list
    if model.panel == .tree { model.tree.reveal(id, model.run) }
    if model.log.extent == .full { model.log.extent = .half }
  }

  // MARK: Finding

  private static func goToMatch(_ forward: Bool, _ model: inout Model, _ layout: Layout, _ now: Duration) {
    let from = model.log.follows ? Int.max : model.log.cursor
    guard let found = model.log.match(after: from, forward: forward) else { return }
    go(to: found.line, &model, layout)
    model.log.currentMatch = found.line
    if found.hasWrapped { say(forward ? "past the end: the first match" : "past the top: the last match", &model, now) }
  }

  /// Brings a line to the middle of the log, and into sight what is looked for in it.
  static func go(to line: Int, _ model: inout Model, _ layout: Layout) {
    guard let rows = beginReading(&model, layout), let found = rows.lines.line(line) else { return }
    let cells = LogText.cells(found.entry.line.text)
    let match = LogText.matches(of: model.log.query, in: cells).first
    let seen = model.log.shift..<(model.log.shift + rows.width)
    if !model.log.wraps, let match, match.lowerBound < seen.lowerBound || match.upperBound > seen.upperBound {
      model.log.shift = match.upperBound <= rows.width ? 0 : max(0, match.lowerBound - rows.width / 3)
    }
    let row = match.map { rows.row(of: line, cell: $0.lowerBound) } ?? 0
    let top = rows.move(LogView.Place(line: line, row: row), by: -(layout.log.height / 2))
    model.log.top = min(top, rows.lastTop(height: layout.log.height))
    model.log.cursor = line
  }

  private static func goToError(_ model: inout Model, _ layout: Layout, _ now: Duration) {
    guard let lines = model.lines, let current = model.currentLine else { return say("no error here", &model, now) }
    func isShown(_ line: JobLine, attempt: Int?) -> Bool {
      line.entry.attempt == (lines.isMerged ? model.run.jobs[line.job.index].attempt?.number : attempt)
    }
    let all = (0..<lines.count).lazy.map { lines[$0] }
    let named = all.first {
      isShown($0, attempt: current.entry.attempt) && ErrorWords.areIn(LogText.plain($0.entry.line.text))
    }
    let found =
      named
      ?? all.first {
        isShown($0, attempt: lines.last?.entry.attempt) && $0.entry.line.stream == .stderr
      }
    guard let found else { return say("no error here", &model, now) }
    model.focus = .log
    go(to: found.seq, &model, layout)
    let older = lines.dropped > 0 ? "; older lines are in the file only" : ""
    say((named == nil ? "no line names an error: the first of stderr" : "the first error") + older, &model, now)
  }
}
