import JobModel
import Screen

extension Update {
  static func move(_ action: Action, _ model: inout Model) {
    let layout = Layout(model)
    if model.page == .help || (model.page == .zoom && model.focus == .list) {
      movePage(action, &model, height: layout.page.height)
    } else if model.focus == .log {
      moveLog(action, &model, layout)
    } else if action == .left || action == .right {
      switch model.panel {
      case .tree: branch(action, &model)
      case .timeline: look(action, &model)
      case .list, .critical, .events: shift(action, &model)
      }
    } else {
      moveCursor(action, &model, height: layout.list.height)
    }
  }

  /// How many rows an action goes, on a pane of `height` rows.
  private static func step(_ action: Action, height: Int) -> Int {
    switch action {
    case .up: -1
    case .down: 1
    case .pageUp: -max(1, height - 1)
    case .pageDown: max(1, height - 1)
    case .halfUp: -max(1, height / 2)
    case .halfDown: max(1, height / 2)
    case .first: -1_000_000_000
    case .last: 1_000_000_000
    default: 0
    }
  }

  private static func movePage(_ action: Action, _ model: inout Model, height: Int) {
    let lines =
      model.page == .help
      ? HelpPage.height(model) : ZoomPage.height(model, width: model.size.width)
    model.pageTop = min(max(0, lines - height), max(0, model.pageTop + step(action, height: height)))
  }

  private static func moveCursor(_ action: Action, _ model: inout Model, height: Int) {
    guard model.rowCount > 0 else { return }
    let from = model.cursorRow
    // Without a place among the rows, the first step goes to the first.
    let row = from.map { $0 + step(action, height: height) } ?? (action == .last ? model.rowCount : 0)
    model.choose(row: min(model.rowCount - 1, max(0, row)))
  }

  /// In the tree: close a branch or go to what needs it; open it or go to the first that it needs.
  private static func branch(_ action: Action, _ model: inout Model) {
    guard let row = model.cursorRow, model.tree.rows.indices.contains(row) else { return }
    let place = model.tree.rows[row]
    let isFolded = model.tree.folded.contains(place.job)
    let isOpen = place.hasNeeds && !place.isRepeat && !isFolded
    model.isCursorTaken = true
    switch action {
    case .left where isOpen: model.tree.toggle(place.job)
    case .left: if place.parent >= 0 { model.choose(row: place.parent) }
    case .right where isFolded && !place.isRepeat: model.tree.toggle(place.job)
    default: if isOpen, row + 1 < model.rowCount { model.choose(row: row + 1) }
    }
  }

  /// In the timeline: another part of the time, or more or less of it.
  static func look(_ action: Action, _ model: inout Model) {
    let (width, now, end) = TimelinePane.extent(model)
    switch action {
    case .left: model.window.pan(by: -1, width: width, now: now, end: end)
    case .right: model.window.pan(by: 1, width: width, now: now, end: end)
    case .zoomIn: model.window.zoom(by: -1, width: width, now: now, end: end)
    case .zoomOut: model.window.zoom(by: 1, width: width, now: now, end: end)
    default: model.window.showAll()
    }
  }

  private static func moveLog(_ action: Action, _ model: inout Model, _ layout: Layout) {
    if action == .left || action == .right { return shift(action, &model) }
    if action == .last {
      model.log.follows = true
      return
    }
    scrollLog(by: step(action, height: layout.log.height), &model, layout)
  }

  private static func shift(_ action: Action, _ model: inout Model) {
    guard !model.log.wraps else { return }
    model.log.shift = min(LogLine.limit, max(0, model.log.shift + (action == .left ? -8 : 8)))
  }

  /// Going up ends following; going down past the last line changes nothing.
  static func scrollLog(by rows: Int, _ model: inout Model, _ layout: Layout) {
    guard let record = model.record, !layout.log.isEmpty else { return }
    let lines = LogRows(log: record.log, width: LogPane.textWidth(model, layout), wraps: model.log.wraps)
    let last = lines.lastTop(height: layout.log.height)
    let place = model.log.follows ? last : lines.clamp(model.log.top)
    if rows < 0 {
      // Nothing is above a log that is not full: staying at its end is what was meant.
      guard last > lines.first else { return }
      model.log.follows = false
      model.log.top = rows < -1_000_000 ? lines.first : lines.move(place, by: rows)
    } else if !model.log.follows {
      model.log.top = rows > 1_000_000 ? last : min(last, lines.move(place, by: rows))
    }
    model.isCursorTaken = true
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
      model.log.follows.toggle()
      if !model.log.follows, let record = model.record {
        let lines = LogRows(log: record.log, width: LogPane.textWidth(model, layout), wraps: model.log.wraps)
        model.log.top = lines.lastTop(height: layout.log.height)
      }
    case .times:
      let all = LogView.Times.allCases
      let place = all.firstIndex(of: model.log.times) ?? 0
      model.log.times = all[(place + 1) % all.count]
    case .next, .previous:
      let line = model.log.match(after: model.log.currentMatch, forward: action == .next)
      goTo(match: line, &model, layout)
    default:
      break
    }
  }

  /// Brings a found line to the middle of the log.
  static func goTo(match line: Int?, _ model: inout Model, _ layout: Layout) {
    guard let line, let record = model.record else { return }
    model.log.currentMatch = line
    model.log.follows = false
    let lines = LogRows(log: record.log, width: LogPane.textWidth(model, layout), wraps: model.log.wraps)
    let place = lines.move(LogView.Place(line: line, row: 0), by: -(layout.log.height / 2))
    model.log.top = min(place, lines.lastTop(height: layout.log.height))
    model.isCursorTaken = true
  }

  static func copy(_ model: inout Model, _ now: Duration) -> [Effect] {
    guard let record = model.record else { return [] }
    var text: String?
    if model.focus == .log, !record.log.isEmpty {
      let layout = Layout(model)
      let lines = LogRows(log: record.log, width: LogPane.textWidth(model, layout), wraps: model.log.wraps)
      let top = model.log.follows ? lines.lastTop(height: layout.log.height) : lines.clamp(model.log.top)
      let line = model.log.currentMatch ?? lines.move(top, by: layout.log.height - 1).line
      if line >= record.log.dropped, line < record.log.total {
        text = LogText.plain(record.log[line - record.log.dropped].line.text)
      }
    } else {
      text = JobDescription.subject(record.job.work)
    }
    guard let text, !text.isEmpty else {
      say("nothing to copy", &model, now)
      return []
    }
    say("copied: \(text)", &model, now)
    return [.copy(text)]
  }
}
