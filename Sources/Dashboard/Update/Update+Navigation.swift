import JobModel
import Screen

/// Actions that change what is shown and selected; they send no command.
extension Update {
  static func move(_ action: Action, _ model: inout Model) {
    let layout = Layout(model)
    if model.page == .help || (model.page == .zoom && model.focus == .list) {
      scrollPage(by: step(action, height: layout.page.height), &model, height: layout.page.height)
    } else if model.focus == .log {
      moveLog(action, &model, layout)
    } else if action == .left || action == .right {
      switch model.panel {
      case .tree: branch(action, &model)
      case .timeline: moveWindow(action, &model)
      case .list, .critical, .events: shift(action, &model)
      }
    } else {
      moveCursor(action, &model, height: layout.list.height)
    }
  }

  /// The number of rows that an action moves by, on a pane of `height` rows.
  static func step(_ action: Action, height: Int) -> Int {
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

  static func scrollPage(by rows: Int, _ model: inout Model, height: Int) {
    let lines = model.page == .help ? HelpPage.height(model) : DetailPane.height(model)
    model.pageTop = min(max(0, lines - height), max(0, model.pageTop + rows))
  }

  private static func moveCursor(_ action: Action, _ model: inout Model, height: Int) {
    guard model.rowCount > 0 else { return }
    let from = model.cursorRow
    // Without a row of the cursor, the first step goes to the first row.
    let row = from.map { $0 + step(action, height: height) } ?? (action == .last ? model.rowCount : 0)
    model.choose(row: min(model.rowCount - 1, max(0, row)))
  }

  /// Folds a branch of the tree or goes to its dependent; unfolds it or goes to its first need.
  private static func branch(_ action: Action, _ model: inout Model) {
    guard let row = model.cursorRow, model.tree.rows.indices.contains(row) else { return }
    let place = model.tree.rows[row]
    let isFolded = model.tree.folded.contains(place.job)
    let isOpen = place.hasBranches && !place.isRepeat && !isFolded
    model.isCursorTaken = true
    switch action {
    case .left where isOpen: model.tree.toggle(place.job)
    case .left: if place.parent >= 0 { model.choose(row: place.parent) }
    case .right where isFolded && !place.isRepeat: model.tree.toggle(place.job)
    default: if isOpen, row + 1 < model.rowCount { model.choose(row: row + 1) }
    }
  }

  static func moveWindow(_ action: Action, _ model: inout Model) {
    let (width, now, end) = TimelinePane.extent(model)
    switch action {
    case .left: model.window.pan(by: -1, width: width, now: now, end: end)
    case .right: model.window.pan(by: 1, width: width, now: now, end: end)
    case .zoomIn: model.window.zoom(by: -1, width: width, now: now, end: end)
    case .zoomOut: model.window.zoom(by: 1, width: width, now: now, end: end)
    default: model.window.showAll()
    }
  }

  static func shift(_ action: Action, _ model: inout Model) {
    guard !model.log.wraps else { return }
    model.log.shift = min(LogLine.limit, max(0, model.log.shift + (action == .left ? -8 : 8)))
  }

  // MARK: Panes, pages and tags

  static func performInView(_ action: Action, _ model: inout Model, _ now: Duration) {
    switch action {
    case .zoom:
      model.isCursorTaken = true
      guard model.page == .list else { return }
      if model.focus == .log, model.showsMerged {
        if let job = model.currentLine?.job { choose(job, &model) }
        return
      }
      model.page = .zoom
      model.pageTop = 0
      model.focus = .list
    case .help:
      model.page = model.page == .help ? .list : .help
      model.pageTop = 0
    case .nextPane:
      model.isCursorTaken = true
      model.focus = model.focus == .list ? .log : .list
    case .filter:
      model.prompt =
        model.focus == .log && model.page != .help && model.showsLog
        ? .search(LineEditor(model.log.query)) : .filter(LineEditor(model.filter.text))
      if model.page == .help || (model.page == .zoom && model.focus == .list) { model.page = .list }
    case .log:
      guard model.page == .list else { return }
      model.log.extent = model.log.extent.moved(by: 1)
      model.focus = model.log.extent == .full && model.showsLog ? .log : .list
      if model.log.extent == .full { model.isCursorTaken = true }
      if model.log.extent == .half, !model.showsLog { say("no room for the log beside the list", &model, now) }
    case .sortNext, .sortPrevious:
      let column = model.order.sort.moved(by: action == .sortNext ? 1 : -1)
      model.order.setSort(column, inverted: model.order.isInverted)
    case .invert:
      model.order.setSort(model.order.sort, inverted: !model.order.isInverted)
    case .freeze:
      model.setFrozen(!model.isFrozen, at: now)
    case .back:
      back(&model)
    default:
      break
    }
  }

  /// Resets the first of these that is set: the marked range, the page, the log's search, the focused pane, the filter,
  /// the tags, the cursor.
  private static func back(_ model: inout Model) {
    if model.focus == .log, model.log.mark != nil {
      model.log.mark = nil
    } else if model.page == .zoom, model.focus == .log, !model.log.query.isEmpty {
      model.log.query = ""
    } else if model.page != .list {
      model.page = .list
      model.focus = .list
    } else if model.focus == .log {
      if !model.log.query.isEmpty {
        model.log.query = ""
      } else {
        if model.log.extent == .full { model.log.extent = .half }
        model.focus = .list
      }
    } else if !model.filter.isEmpty {
      model.setFilter(.everything)
    } else if !model.tags.isEmpty {
      model.tags = []
    } else {
      model.isCursorTaken = false
      model.showsCursor = true
    }
  }

  static func tag(_ action: Action, _ model: inout Model, _ now: Duration) {
    guard let id = model.cursor else { return }
    model.isCursorTaken = true
    switch action {
    case .tagAll:
      let shown = model
      model.tags.reserveCapacity(model.tags.count + shown.rowCount)
      for row in 0..<shown.rowCount { if let id = shown.job(row: row) { model.tags.insert(id) } }
      say("\(Format.count(model.tags.count, "job")) tagged", &model, now)
    case .tag:
      if model.tags.remove(id) == nil { model.tags.insert(id) }
      move(.down, &model)
    case .tagDependents:
      var open = [id]
      while let next = open.popLast() {
        if model.tags.insert(next).inserted { open += model.run.jobs[next.index].dependents }
      }
      say("\(Format.count(model.tags.count, "job")) tagged", &model, now)
    default:
      model.tags = []
    }
  }
}

extension CaseIterable where Self: Equatable, AllCases == [Self] {
  /// The case `step` places after this one; after the last comes the first.
  func moved(by step: Int) -> Self {
    let all = Self.allCases
    return all[((all.firstIndex(of: self) ?? 0) + step + all.count) % all.count]
  }
}
