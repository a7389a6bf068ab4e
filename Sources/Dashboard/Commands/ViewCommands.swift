import JobModel
import Screen

/// The commands that change the view.
extension Command {
  static let list = panel(.list, "1", "the list")
  static let tree = panel(.tree, "2", "the tree")
  static let timeline = panel(.timeline, "3", "the timeline")
  static let critical = panel(.critical, "4", "the critical path")
  static let events = panel(.events, "5", "the events")

  static let treeOrList = Command(
    "tree-or-list", .showing, [.character("t"), .function(5)], "tree or list",
    word: { $0.page != .list ? nil : $0.panel == .tree ? "list" : "tree" },
    change: { model, _ in
      model.setPanel(model.panel == .tree ? .list : .tree)
    })

  static let zoom = Command(
    "zoom", .showing, [.enter], "one job, the whole screen", isEnabled: { $0.page == .list && zoomed($0) != nil },
    refusal: { $0.page == .zoom ? leavesPage("the job has the whole screen", $0) : "no job here" },
    word: { $0.focus == .log && $0.showsMerged ? "its job" : "zoom" },
    change: { model, _ in
      guard let job = zoomed(model) else { return }
      if model.focus == .log, model.showsMerged { return LogScroll.choose(job, &model) }
      model.select(job)
      // A filter that is typed on would move the cursor, and the page with it.
      model.prompt = nil
      model.page = .zoom
      model.pageTop = 0
      model.focus = .list
    })

  /// The job that the key shows: in the log of many jobs the one of the line.
  private static func zoomed(_ model: Model) -> JobID? {
    model.focus == .log && model.showsMerged ? model.currentLine?.job : model.target
  }

  static let fold = Command(
    "fold", .showing, [.character("e")], "show or hide rows below",
    isEnabled: { $0.page == .list && $0.foldable != nil },
    refusal: { $0.filter.isEmpty ? "no row is under it" : "a filter shows all that it finds" },
    word: { model in
      model.focus != .list ? nil : model.foldable.map { model.isFolded($0) ? "expand" : "fold" }
    },
    change: { model, _ in
      guard let id = model.foldable else { return }
      model.takeCursor()
      if model.panel == .tree { model.tree.toggle(id) } else { model.order.toggle(id) }
    })

  static let zoomIn = window(
    "zoom-in", "i", "timeline: zoom in", word: { _ in "in" },
    {
      $0.zoom(by: -1, width: $1, now: $2, end: $3)
    })
  static let zoomOut = window(
    "zoom-out", "o", "timeline: zoom out", word: { _ in "out" },
    {
      $0.zoom(by: 1, width: $1, now: $2, end: $3)
    })
  static let zoomAll = window(
    "zoom-all", "0", "timeline: the whole run", word: { $0.window != TimeWindow() ? "all" : nil },
    { window, _, _, _ in window.showAll() })

  static let filter = Command(
    "filter", .showing, [.character("/"), .function(3), .function(4)], "filter, or search the log",
    word: { $0.focus == .log ? "search" : "filter" },
    change: { model, _ in
      model.prompt =
        model.focus == .log && model.showsLog
        ? .search(LineEditor(model.log.query)) : .filter(LineEditor(model.filter.text))
      if model.page == .zoom, model.focus == .list { model.page = .list }
    })

  static let help = Command(
    "help", .showing, [.character("?"), .function(1)], "this page", worksOnHelpPage: true, word: { _ in "help" },
    change: { model, _ in
      if model.page == .help { model.leaveHelp() } else { model.showHelp() }
    })

  static let palette = Command(
    "palette", .showing, [.character(":")], "every action by its name", word: { _ in "actions" },
    change: { model, _ in
      model.prompt = .palette(LineEditor(""), 0)
    })

  static let log = Command(
    "log", .showing, [.character("l")], "log: half, full, off", isEnabled: { $0.page == .list },
    refusal: { leavesPage("the log keeps its place on this page", $0) }, word: { _ in "log" },
    change: { model, now in
      model.log.extent = model.log.extent.moved(by: 1)
      model.focus = model.log.extent == .full && model.showsLog ? .log : .list
      if model.log.extent == .full { model.isCursorTaken = true }
      if model.log.extent == .half, !model.showsLog { model.say("no room for the log beside the list", now) }
    })

  static let sortNext = sorting("sort-next", [.character(">"), .function(6)], "sort by the next column") {
    $0.setSort($0.sort.moved(by: 1), inverted: $0.isInverted)
  }
  static let sortPrevious = sorting("sort-previous", [.character("<")], "sort by the column before") {
    $0.setSort($0.sort.moved(by: -1), inverted: $0.isInverted)
  }
  static let invert = sorting("invert", [.character("I")], "turn the order round") {
    $0.setSort($0.sort, inverted: !$0.isInverted)
  }

  static let freeze = Command("freeze", .showing, [.character("Z")], "freeze the display") { model, now in
    model.setFrozen(!model.isFrozen, at: now)
  }

  static let hold = Command(
    "hold", .showing, [], "hold a replay, or resume it", isEnabled: { $0.isReplay && !$0.isOver },
    refusal: { $0.isReplay ? "the replay has ended" : "only a replay can be held" },
    word: { $0.isHeld ? "resume" : "hold" },
    effects: { model, now in
      model.isHeld.toggle()
      model.say(model.isHeld ? "the replay is held" : "the replay is resumed", now)
      return [.send(.holdReplay(model.isHeld))]
    })

  static let scrubBack = Command(
    "scrub-back", .showing, [.character(",")], "back in time; End is live",
    isEnabled: { $0.hasPast && $0.live.start != nil },
    refusal: { _ in noPast }, word: { $0.isPast ? "back" : nil },
    effects: { model, now in
      PastTime.scrub(forward: false, &model, now)
    })

  static let scrubForward = Command(
    "scrub-forward", .showing, [.character(".")], "forward in time", isEnabled: { $0.hasPast && $0.isFrozen },
    refusal: { model in
      if model.isFrozen { return noPast }
      return "this is the present" + (model.keys.label(scrubBack).map { "; \($0) shows the past" } ?? "")
    },
    word: { $0.isPast ? "forward" : nil },
    effects: { model, now in
      PastTime.scrub(forward: true, &model, now)
    })

  private static let noPast = "the run is not recorded: there is no past to show"

  static let mouse = Command(
    "mouse", .showing, [.character("m")], "give or take the mouse", worksOnHelpPage: true
  ) { model, now -> [Effect] in
    model.hasMouse.toggle()
    model.say(model.hasMouse ? "the mouse works here" : "the mouse is the terminal's: select and copy", now)
    return [.setMouse(model.hasMouse)]
  }

  static let redraw = Command(
    "redraw", .showing, [.control("l")], "draw the screen anew", worksOnHelpPage: true
  ) { _, _ -> [Effect] in [.redraw] }

  /// A refusal with the key that leads back to the list.
  static func leavesPage(_ reason: String, _ model: Model) -> String {
    reason + (model.keys.label(back).map { ": \($0) goes back" } ?? "")
  }

  /// A panel has the name of its command.
  private static func panel(_ panel: Panel, _ key: Character, _ help: String) -> Command {
    Command(
      panel.rawValue, .showing, [.character(key)], help, worksOnHelpPage: true,
      word: { model in
        // In the tree, `tree-or-list` names the list.
        let isNamed = panel == .list ? model.panel != .tree : panel != .tree
        return isNamed && model.page == .list && model.panel != panel ? panel.rawValue : nil
      },
      change: { model, _ in
        model.setPanel(panel)
      })
  }

  private static func window(
    _ name: String, _ key: Character, _ help: String, word: @escaping Words,
    _ change: @escaping @Sendable (inout TimeWindow, Int, Duration, Duration) -> Void
  ) -> Command {
    Command(
      name, .showing, [.character(key)], help, isEnabled: { $0.page == .list && $0.panel == .timeline },
      refusal: { "that is for the timeline" + ($0.keys.label(timeline).map { ", \($0)" } ?? "") },
      word: word,
      change: { model, _ in
        Moving.changeWindow(&model, change)
      })
  }

  private static func sorting(
    _ name: String, _ keys: [Key], _ help: String, _ change: @escaping @Sendable (inout JobOrder) -> Void
  ) -> Command {
    Command(
      name, .showing, keys, help, isEnabled: { $0.page == .list && $0.panel == .list },
      refusal: { _ in "only the list is sorted" },
      change: { model, _ in
        change(&model.order)
      })
  }
}

extension CaseIterable where Self: Equatable, AllCases == [Self] {
  /// The case `step` places after this one; after the last comes the first.
  func moved(by step: Int) -> Self {
    let all = Self.allCases
    return all[((all.firstIndex(of: self) ?? 0) + step + all.count) % all.count]
  }
}
