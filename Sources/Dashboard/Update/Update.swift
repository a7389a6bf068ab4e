import JobModel
import Screen

/// Applies messages to the model and returns effects; nothing else changes the model, and it changes nothing else.
enum Update {
  private static let noticeTime: Duration = .seconds(4)

  static func apply(_ message: Message, to model: inout Model, now: Duration) -> [Effect] {
    switch message {
    case .facts(let events):
      let wasOver = model.isOver
      model.apply(events)
      switch model.prompt {
      case .quit where model.isOver: model.prompt = nil
      case .confirm(let action) where !action.isEnabled(in: model): model.prompt = nil
      default: break
      }
      return ending(model, wasOver: wasOver) + departure(model)
    case .input(.key(let key)):
      let isSelected = model.log.selection?.isMade == true
      model.log.selection = nil
      return key == .escape && isSelected ? [] : press(key, &model, now)
    case .input(.mouse(let event)):
      return handle(event, &model, now)
    case .input(.paste(let text)):
      type(&model) { $0.insert(text) }
      return []
    case .input(.resized(let size)):
      model.size = size
      if model.focus == .log, model.page == .list, !model.showsLog { model.focus = .list }
      return []
    case .input(.closed):
      return [.leave(.terminalClosed)]
    // The dashboard draws again with the colours for the background.
    case .input(.background):
      return []
    case .tick:
      if let notice = model.notice, notice.until <= now { model.notice = nil }
      return []
    }
  }

  /// Notifies of the end of a run; a run that is retried ends once more.
  private static func ending(_ model: Model, wasOver: Bool) -> [Effect] {
    guard model.options.notice != .none, !wasOver, model.isOver, model.live.counts.all > 0 else { return [] }
    return [.notify(EndText.of(model.live, name: model.name))]
  }

  /// Leaves when nothing keeps the dashboard open; called after every change of the run.
  static func departure(_ model: Model) -> [Effect] {
    let run = model.live
    // A stop by a policy keeps the dashboard open to show the failure.
    let isWanted = run.stopping.map { $0.by != .policy } ?? false
    if isWanted || model.quits > 0 {
      let isGone = run.summary != nil || run.isComplete || (run.stopping != nil && run.counts.active == 0)
      return isGone ? [.leave(.stopped)] : []
    }
    guard run.isComplete || run.summary != nil else { return [] }
    switch model.options.keepOpen {
    case .always: return []
    case .never: return [.leave(.complete)]
    case .onFailure: return run.counts.failed > run.counts.allowed ? [] : [.leave(.complete)]
    }
  }

  static func say(_ text: String, _ model: inout Model, _ now: Duration) {
    guard !text.isEmpty else { return }
    model.notice = Model.Notice(text: text, until: now + noticeTime)
  }

  // MARK: Keys

  private static func press(_ key: Key, _ model: inout Model, _ now: Duration) -> [Effect] {
    if model.prompt != nil { return answer(key, &model, now) }
    let action = model.keys.action(for: key)
    if model.page == .help, key == .enter || action == .quit {
      model.page = .list
      return []
    }
    return action.map { request($0, &model, now) } ?? []
  }

  /// Performs an action, or says why it is not enabled.
  static func request(_ action: Action, _ model: inout Model, _ now: Duration) -> [Effect] {
    guard action.isEnabled(in: model) else {
      if model.page != .help { say(action.refusal(in: model), &model, now) }
      return []
    }
    return perform(action, &model, now)
  }

  static func perform(_ action: Action, _ model: inout Model, _ now: Duration) -> [Effect] {
    switch action {
    case .cancel, .kill, .pause, .retry, .retryDependents, .retryFailed, .raise, .lower, .moreSlots, .fewerSlots,
      .drain, .quit:
      return command(action, &model, now)
    case .copy, .copyAll, .copyPath:
      return copy(action, &model, now)
    case .mouse:
      model.hasMouse.toggle()
      say(model.hasMouse ? "the mouse works here" : "the mouse is the terminal's: select and copy", &model, now)
      return [.setMouse(model.hasMouse)]
    case .redraw:
      return [.redraw]
    case .up, .down, .pageUp, .pageDown, .halfUp, .halfDown, .first, .last, .left, .right:
      move(action, &model)
      if model.focus == .log, model.page != .help { sayWhereOlderLinesAre(action, &model, now) }
    case .tag, .tagAll, .tagDependents, .untag:
      tag(action, &model, now)
    case .list, .tree, .timeline, .critical, .events:
      // A panel has the name of its action.
      if let panel = Panel(rawValue: action.rawValue) { model.setPanel(panel) }
    case .treeOrList: model.setPanel(model.panel == .tree ? .list : .tree)
    case .fold:
      guard let id = model.foldable else { break }
      model.takeCursor()
      if model.panel == .tree { model.tree.toggle(id) } else { model.order.toggle(id) }
    case .zoomIn, .zoomOut, .zoomAll:
      moveWindow(action, &model)
    case .palette:
      model.prompt = .palette(LineEditor(""), 0)
    case .zoom, .back, .nextPane, .filter, .log, .help, .sortNext, .sortPrevious, .invert, .freeze:
      performInView(action, &model, now)
    case .next, .previous, .wrap, .follow, .times, .merged, .firstError, .range:
      performInLog(action, &model, now)
    }
    return []
  }

  private static func performInView(_ action: Action, _ model: inout Model, _ now: Duration) {
    switch action {
    case .zoom:
      model.isCursorTaken = true
      guard model.page == .list else { return }
      if model.focus == .log, model.showsMerged {
        if let line = model.currentLine { choose(line.job, &model) }
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

  private static func tag(_ action: Action, _ model: inout Model, _ now: Duration) {
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
