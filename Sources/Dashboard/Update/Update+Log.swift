import JobModel
import Screen

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
  static func sayWhereOlderLinesAre(_ action: Action, _ model: inout Model, _ now: Duration) {
    guard action == .up || action == .pageUp || action == .halfUp || action == .first, !model.log.follows,
      let lines = model.lines, lines.dropped > 0, model.log.cursor == lines.first?.seq
    else { return }
    let way = model.keys.label(.copyPath).map { ": \($0) copies path" } ?? " in the file"
    say("\(lines.dropped) older\(way)", &model, now)
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

  static func performInLog(_ action: Action, _ model: inout Model, _ now: Duration) {
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
      model.log.times = model.log.times.moved(by: 1)
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

  /// Switches from one job's log to that of many, then to what the program wrote, if anything, keeping the reader's line.
  private static func merge(_ model: inout Model, _ now: Duration) {
    model.isCursorTaken = true
    let line = model.currentLine
    model.log.mark = nil
    model.log.held = nil
    let hasProgram = !model.run.programLog.isEmpty
    switch model.log.subject {
    case .job: model.showLog(of: .merged)
    case .merged where hasProgram: model.showLog(of: .program)
    case .merged, .program: model.showLog(of: .job)
    }
    if model.log.subject == .program || line?.job == nil {
      // None of the lines that were being read is among these.
      model.log.leave()
    } else if model.log.subject == .job, !model.log.follows, let job = line?.job {
      model.moveCursor(to: job, keepsPlace: true)
    }
    if model.log.subject == .program { return say("the output of the program", &model, now) }
    guard let merged = model.merged else { return say("the log of one job", &model, now) }
    let more = merged.scope.hasProgram && hasProgram ? " and the program" : ""
    say("the log of \(Format.count(merged.jobs, "job"))\(more)", &model, now)
  }

  static func choose(_ id: JobID, _ model: inout Model) {
    model.moveCursor(to: id)
    model.takeCursor()
    model.focus = .list
    if model.panel == .tree { model.tree.reveal(id, model.run) }
    if model.log.extent == .full { model.log.extent = .half }
  }

  // MARK: Finding

  private static func goToMatch(_ forward: Bool, _ model: inout Model, _ layout: Layout, _ now: Duration) {
    let from = model.log.follows ? Int.max : model.log.cursor
    guard let found = model.log.match(after: from, forward: forward) else { return }
    scroll(to: found.line, &model, layout)
    model.log.currentMatch = found.line
    if found.hasWrapped { say(forward ? "past the end: the first match" : "past the top: the last match", &model, now) }
  }

  /// Scrolls a line to the middle of the log, and to the match in it.
  static func scroll(to line: Int, _ model: inout Model, _ layout: Layout) {
    guard let rows = beginReading(&model, layout), let found = rows.lines.line(line) else { return }
    let cells = LogText.cells(found.entry.line.text)
    let match = LogText.matches(of: model.log.query, in: cells).first
    let seen = model.log.shift..<(model.log.shift + rows.width)
    if !model.log.wraps, let match, match.lowerBound < seen.lowerBound || match.upperBound > seen.upperBound {
      model.log.shift = match.upperBound <= rows.width ? 0 : max(0, match.lowerBound - rows.width / 3)
    }
    let row = match.map { rows.row(of: line, cell: $0.lowerBound) } ?? 0
    let top = rows.move(LogReader.Place(line: line, row: row), by: -(layout.log.height / 2))
    model.log.top = min(top, rows.lastTop(height: layout.log.height))
    model.log.cursor = line
  }

  private static func goToError(_ model: inout Model, _ layout: Layout, _ now: Duration) {
    guard let lines = model.lines, let current = model.currentLine else { return say("no error here", &model, now) }
    func isShown(_ line: JobLine, attempt: Int?) -> Bool {
      guard lines.isMerged else { return line.entry.attempt == attempt }
      return line.job.map { line.entry.attempt == model.run.jobs[$0.index].attempt?.number } ?? true
    }
    let all = (0..<lines.count).lazy.map { lines[$0] }
    let named = all.first {
      isShown($0, attempt: current.entry.attempt) && ErrorWords.areIn(JobText($0.entry.line.text).plain)
    }
    let found =
      named
      ?? all.first {
        isShown($0, attempt: lines.last?.entry.attempt) && $0.entry.line.stream == .stderr
      }
    guard let found else { return say("no error here", &model, now) }
    model.focus = .log
    scroll(to: found.seq, &model, layout)
    let older = lines.dropped > 0 ? "; older lines are in the file only" : ""
    say((named == nil ? "no line names an error: the first of stderr" : "the first error") + older, &model, now)
  }
}
