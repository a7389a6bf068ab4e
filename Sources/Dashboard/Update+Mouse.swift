import JobModel
import Screen

extension Update {
  private static let wheelRows = 3

  static func point(_ event: MouseEvent, _ model: inout Model, _ now: Duration) -> [Effect] {
    guard model.hasMouse else { return [] }
    let layout = Layout(model)
    switch event.action {
    case .wheelUp, .wheelDown:
      scroll(by: event.action == .wheelUp ? -wheelRows : wheelRows, event, &model, layout)
    case .click, .doubleClick:
      // A question wants its answer first.
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
      scrollLog(by: rows, &model, layout)
    } else if layout.page.contains(x: event.x, y: event.y) {
      let lines =
        model.page == .help
        ? HelpPage.height(model) : ZoomPage.height(model, width: model.size.width)
      model.pageTop = min(max(0, lines - layout.page.height), max(0, model.pageTop + rows))
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
      if event.action == .doubleClick { _ = perform(.zoom, &model, now) }
    } else if layout.titles.contains(x: event.x, y: event.y) {
      guard model.panel == .list else { return [] }
      let columns = JobList.columns(model, width: layout.list.width)
      let column = columns.sort(at: event.x - layout.titles.x)
      let isSame = column == model.order.sort
      model.order.setSort(column, inverted: isSame ? !model.order.isInverted : false)
    } else if layout.log.contains(x: event.x, y: event.y) {
      return press(event, &model, layout, now)
    } else if layout.logBar.contains(x: event.x, y: event.y) {
      model.isCursorTaken = true
      model.focus = .log
    } else if layout.page.contains(x: event.x, y: event.y), model.page == .zoom {
      model.focus = .list
    }
    return []
  }
}
