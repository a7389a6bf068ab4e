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

  static func shift(_ action: Action, _ model: inout Model) {
    guard !model.log.wraps else { return }
    model.log.shift = min(LogLine.limit, max(0, model.log.shift + (action == .left ? -8 : 8)))
  }
}
