import JobModel
import Screen

/// The way that a key moves a cursor or scrolls a page.
enum Movement {
  case up
  case down
  case pageUp
  case pageDown
  case halfUp
  case halfDown
  case first
  case last
  case left
  case right

  /// The number of rows on a pane of `height` rows.
  func rows(height: Int) -> Int {
    switch self {
    case .up: -1
    case .down: 1
    case .pageUp: -max(1, height - 1)
    case .pageDown: max(1, height - 1)
    case .halfUp: -max(1, height / 2)
    case .halfDown: max(1, height / 2)
    case .first: -1_000_000_000
    case .last: 1_000_000_000
    case .left, .right: 0
    }
  }
}

extension Command {
  static let up = moving("up", [.up, .character("k")], "up", .up)
  static let down = moving("down", [.down, .character("j")], "down", .down)
  static let pageUp = moving("page-up", [.pageUp], "a page up", .pageUp)
  static let pageDown = moving("page-down", [.pageDown], "a page down", .pageDown)
  static let halfUp = moving("half-up", [.control("u")], "half a page up", .halfUp)
  static let halfDown = moving("half-down", [.control("d")], "half a page down", .halfDown)
  static let first = moving("first", [.character("g"), .home], "to the first", .first)
  static let last = moving("last", [.character("G"), .end], "to the last, or follow", .last)
  static let left = sideways("left", [.left], "left: lines, time, branch", .left)
  static let right = sideways("right", [.right], "right", .right)

  static let nextFailure = Command(
    "next-failure", .moving, [.character("!")], "to the next failure",
    isEnabled: { playsOn($0) || $0.run.counts.failed > 0 }, refusal: { _ in "no job has failed" },
    word: { playsOn($0) ? "next failure" : nil },
    effects: { model, now in
      if playsOn(model) {
        model.seeksFailure = true
        return [.send(.skipToFailure)]
      }
      let (count, from) = (model.rowCount, model.cursorRow ?? -1)
      let row = (0..<count).lazy.map { (from + 1 + $0) % count }.first { row in
        model.job(row: row).map { model.stateClass(of: $0).isBad } == true
      }
      if let row { model.choose(row: row) } else { model.say("no failed job is in this view", now) }
      return []
    })

  /// Whether a replay can be moved on: not while another instant is shown.
  private static let playsOn: Predicate = { $0.isReplay && !$0.isOver && !$0.isFrozen }

  static let nextPane = Command(
    "next-pane", .moving, [.tab, .backTab], "the other pane", isEnabled: \.showsLog,
    refusal: { _ in "there is one pane" }, word: { $0.showsLog ? "pane" : nil },
    change: { model, _ in
      model.isCursorTaken = true
      model.focus = model.focus == .list ? .log : .list
    })

  static let back = Command(
    "back", .moving, [.escape], "back one level", worksOnHelpPage: true,
    word: { model in
      if model.page != .help, model.focus == .log, model.log.mark != nil { return "end range" }
      if model.page != .list { return "back" }
      return !model.filter.isEmpty && model.focus == .list ? "clear filter" : nil
    },
    change: { model, _ in
      goBack(&model)
    })

  private static func moving(_ name: String, _ keys: [Key], _ help: String, _ movement: Movement) -> Command {
    Command(name, .moving, keys, help, worksOnHelpPage: true) { Moving.move(movement, &$0, $1) }
  }

  private static func sideways(_ name: String, _ keys: [Key], _ help: String, _ movement: Movement) -> Command {
    Command(
      name, .moving, keys, help,
      isEnabled: { $0.panel == .tree || $0.panel == .timeline || $0.showsLog },
      refusal: { _ in "no log is shown" },
      change: {
        Moving.move(movement, &$0, $1)
      })
  }

  /// Resets the first of these that is set: the help page, the marked range, the page, the log's search, the focused
  /// pane, the filter, the tags, the cursor.
  private static func goBack(_ model: inout Model) {
    if model.page == .help {
      model.leaveHelp()
    } else if model.focus == .log, model.log.mark != nil {
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
      model.untag()
    } else {
      model.isCursorTaken = false
      model.showsCursor = true
    }
  }
}

/// Moves of the cursor, of pages and of the timeline.
enum Moving {
  /// Moves in the pane that has the focus, and says where older lines are at the top of a log.
  static func move(_ movement: Movement, _ model: inout Model, _ now: Duration) {
    move(movement, &model)
    if model.focus == .log, model.page != .help { LogScroll.sayWhereOlderLinesAre(movement, &model, now) }
  }

  static func move(_ movement: Movement, _ model: inout Model) {
    let layout = Layout(model)
    if model.page == .help || (model.page == .zoom && model.focus == .list) {
      scrollPage(by: movement.rows(height: layout.page.height), &model, height: layout.page.height)
    } else if model.focus == .log {
      LogScroll.moveLog(movement, &model, layout)
    } else if movement == .left || movement == .right {
      switch model.panel {
      case .tree: moveBranch(movement, &model)
      case .timeline:
        changeWindow(&model) { $0.pan(by: movement == .left ? -1 : 1, width: $1, now: $2, end: $3) }
      case .list, .critical, .events: shift(movement, &model)
      }
    } else {
      moveCursor(movement, &model, height: layout.list.height)
    }
  }

  static func scrollPage(by rows: Int, _ model: inout Model, height: Int) {
    let lines = model.page == .help ? HelpPage.height(model) : DetailPane.height(model)
    model.pageTop = min(max(0, lines - height), max(0, model.pageTop + rows))
  }

  static func shift(_ movement: Movement, _ model: inout Model) {
    guard !model.log.wraps else { return }
    let shift = model.log.shift
    model.log.shift = movement == .left ? max(0, shift - 8) : max(shift, min(farthestShift(model), shift + 8))
  }

  /// The shift that brings the end of the page's widest line, and the file of a cut one, to the edge.
  private static func farthestShift(_ model: Model) -> Int {
    guard let lines = model.lines else { return 0 }
    let layout = Layout(model)
    let rows = model.rows(lines, layout)
    let widths = rows.page(from: model.logTop(rows, layout), height: layout.log.height).map { row in
      LogText.width(row.cells) + LogPane.cutWidth(row.line, model, in: rows.width)
    }
    return (widths.max() ?? 0) - rows.width
  }

  /// Changes the part of the run that the timeline shows; `change` is given its width in cells, the present and its end.
  static func changeWindow(_ model: inout Model, _ change: (inout TimeWindow, Int, Duration, Duration) -> Void) {
    let (width, now, end) = TimelinePane.extent(model)
    change(&model.window, width, now, end)
  }

  private static func moveCursor(_ movement: Movement, _ model: inout Model, height: Int) {
    guard model.rowCount > 0 else { return }
    let from = model.cursorRow
    // Without a row of the cursor, the first step goes to the first row.
    let row = from.map { $0 + movement.rows(height: height) } ?? (movement == .last ? model.rowCount : 0)
    model.choose(row: min(model.rowCount - 1, max(0, row)))
  }

  /// Folds a branch of the tree or goes to its dependent; unfolds it or goes to its first need.
  private static func moveBranch(_ movement: Movement, _ model: inout Model) {
    guard let row = model.cursorRow, model.tree.rows.indices.contains(row) else { return }
    let place = model.tree.rows[row]
    let isFolded = model.tree.isFolded(place.job)
    let isOpen = place.hasBranches && !place.isRepeat && !isFolded
    model.isCursorTaken = true
    switch movement {
    case .left where isOpen && !model.tree.isFiltered: model.tree.toggle(place.job)
    case .left: if place.parent >= 0 { model.choose(row: place.parent) }
    case .right where isFolded && !place.isRepeat: model.tree.toggle(place.job)
    default: if isOpen, row + 1 < model.rowCount { model.choose(row: row + 1) }
    }
  }
}
