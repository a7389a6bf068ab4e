import JobModel
import Screen

/// Which key does what: the defaults with a person's changes.
///
/// Dispatch, the bottom line, the hints on the screen, the help page, the palette and `opdash keys` all read this one value.
package struct KeyMap: Sendable {
  /// In the order in which the bottom line gives room.
  let bindings: [Binding]
  private let byKey: [Key: Int]

  package static let standard = KeyMap()

  /// Gives actions other keys, by their names: each has those that are given for it and no others.
  ///
  /// A key that is given to one action is taken from the others.
  package init(changes: [String: [Key]] = [:]) {
    let given = Set(changes.values.joined())
    bindings = Self.defaults.map { binding in
      var binding = binding
      binding.keys = changes[binding.action.rawValue] ?? binding.keys.filter { !given.contains($0) }
      return binding
    }
    var byKey: [Key: Int] = [:]
    for (index, binding) in bindings.enumerated() { for key in binding.keys { byKey[key] = index } }
    self.byKey = byKey
  }

  func binding(for key: Key) -> Binding? { byKey[key].map { bindings[$0] } }

  func keys(of action: Action) -> [Key] { bindings.first { $0.action == action }?.keys ?? [] }

  /// The name of the key to tell a person of; nil where no key does it.
  func label(_ action: Action) -> String? { keys(of: action).first.map { $0.name() } }

  /// A key with what it does, as in `r retry`; empty where no key does it.
  func hint(_ action: Action, _ words: String) -> String { label(action).map { "\($0) \(words)" } ?? "" }

  static let defaults: [Binding] = [
    Binding(
      .copy, [.character("y")], .logging, "copy line, range or command",
      naming: { model in
        guard model.focus == .log, model.lines?.isEmpty == false else { return nil }
        guard let marked = model.markedCount else { return "copy line" }
        return "copy \(Format.count(marked, "line"))"
      }, refusal: "nothing to copy", when: { $0.cursor != nil }),
    Binding(
      .range, [.character("v")], .logging, "mark a range of lines",
      naming: { $0.readsLog ? "range" : nil },
      refusal: "no log is shown", when: { $0.showsLog }),
    Binding(
      .follow, [.character("f")], .logging, "follow the newest line",
      naming: { $0.focus == .log && !$0.log.follows ? "follow" : nil }, refusal: "no log is shown",
      when: { $0.showsLog }),
    Binding(
      .copyPath, [.character("F")], .logging, "copy the path of its file",
      naming: { $0.focus == .log && $0.isLogClipped ? "path" : nil }, refusal: "nothing to copy",
      when: { $0.cursor != nil && $0.run.start?.folder != nil }),
    Binding(
      .firstError, [.character("E")], .logging, "to the first error",
      naming: { $0.readsLog ? "error" : nil }, refusal: "no log is shown",
      when: { $0.showsLog }),
    Binding(
      .merged, [.character("L")], .logging, "the log of many, or of one",
      naming: { !$0.readsLog || $0.page == .zoom ? nil : $0.log.isMerged ? "one job" : "merged" },
      refusal: "no log is shown", when: { $0.showsLog && $0.page == .list }),
    Binding(
      .cancel, [.character("x"), .function(9)], .acting, "cancel", word: "cancel", refusal: "nothing to cancel",
      when: { $0.someTarget { !$0.isTerminal } }),
    Binding(
      .pause, [.character("p"), .function(7)], .acting, "pause, or go on",
      naming: { $0.someTarget { $0 == .paused } && !$0.someTarget(\.isPausable) ? "resume" : "pause" },
      refusal: "nothing to pause", when: { $0.someTarget(able: .pause) { $0.isPausable || $0 == .paused } }),
    Binding(
      .retry, [.character("r"), .function(8)], .acting, "retry", word: "retry", refusal: "nothing to retry",
      when: { $0.live.summary == nil && $0.someTarget(able: .retry, \.isRetryable) }),
    Binding(
      .retryDependents, [.character("R")], .acting, "retry with its dependents", word: "retry all",
      refusal: "nothing to retry",
      when: {
        $0.live.summary == nil && $0.someTarget(able: .retry, \.isRetryable) && $0.someTargetHasDependents
      }),
    Binding(
      .back, [.escape], .moving, "back one level",
      naming: { model in
        if model.focus == .log, model.log.mark != nil { return "end range" }
        if model.page != .list { return "back" }
        return !model.order.filter.isEmpty && model.focus == .list ? "clear filter" : nil
      }),
    Binding(
      .zoom, [.enter], .showing, "one job on the whole screen",
      naming: { $0.page != .list ? nil : $0.focus == .log && $0.showsMerged ? "its job" : "zoom" },
      refusal: "no job here", when: { $0.cursor != nil }),
    Binding(
      .fold, [.character("e")], .showing, "show or hide what is under a row",
      naming: { model in
        guard model.focus == .list, let id = model.foldable else { return nil }
        return model.isFolded(id) ? "expand" : "fold"
      }, refusal: "nothing is under it", when: { $0.page == .list && $0.foldable != nil }),
    Binding(
      .zoomIn, [.character("i")], .showing, "timeline: zoom in", naming: { $0.panel == .timeline ? "in" : nil },
      refusal: "that is for the timeline", when: { $0.page == .list && $0.panel == .timeline }),
    Binding(
      .zoomOut, [.character("o")], .showing, "timeline: zoom out", naming: { $0.panel == .timeline ? "out" : nil },
      refusal: "that is for the timeline", when: { $0.page == .list && $0.panel == .timeline }),
    Binding(
      .zoomAll, [.character("0")], .showing, "timeline: the whole run",
      naming: { $0.panel == .timeline && $0.window != TimeWindow() ? "all" : nil },
      refusal: "that is for the timeline", when: { $0.page == .list && $0.panel == .timeline }),
    Binding(
      .filter, [.character("/"), .function(3), .function(4)], .showing,
      "filter, or search the log",
      naming: { $0.focus == .log ? "search" : "filter" }),
    Binding(
      .next, [.character("n")], .logging, "next match",
      naming: { $0.log.matches.isEmpty ? nil : "next" }, refusal: "nothing is found", when: { !$0.log.matches.isEmpty }),
    Binding(
      .previous, [.character("N")], .logging, "match before", refusal: "nothing is found",
      when: { !$0.log.matches.isEmpty }),
    Binding(.help, [.character("?"), .function(1)], .showing, "this page", word: "help"),
    Binding(.quit, [.character("q"), .function(10)], .running, "quit; asks while jobs run", word: "quit"),
    Binding(
      .treeOrList, [.character("t"), .function(5)], .showing, "tree or list",
      naming: { $0.page != .list ? nil : $0.panel == .tree ? "list" : "tree" }),
    Binding(.timeline, [.character("3")], .showing, "the timeline", naming: { $0.word(for: .timeline) }),
    Binding(.log, [.character("l")], .showing, "log: half, full, off", naming: { $0.page == .list ? "log" : nil }),
    Binding(
      .nextPane, [.tab, .backTab], .moving, "the other pane", naming: { $0.showsLog ? "pane" : nil },
      refusal: "there is one pane", when: { $0.showsLog }),
    Binding(
      .tag, [.character(" ")], .acting, "tag, and on to the next", naming: { $0.page == .list ? "tag" : nil },
      refusal: "no job here", when: { $0.cursor != nil }),
    Binding(
      .untag, [.character("U")], .acting, "untag all", word: "untag", refusal: "nothing is tagged",
      when: { !$0.tags.isEmpty }),
    Binding(
      .kill, [.character("X")], .acting, "kill now, without grace", word: "kill", refusal: "nothing executes there",
      when: { $0.someTargetIsActive }),
    Binding(
      .wrap, [.character("w")], .logging, "wrap long lines", naming: { $0.focus == .log ? "wrap" : nil },
      refusal: "no log is shown", when: { $0.showsLog }),
    Binding(.list, [.character("1")], .showing, "the list", naming: { $0.panel == .tree ? nil : $0.word(for: .list) }),
    Binding(.critical, [.character("4")], .showing, "the critical path", naming: { $0.word(for: .critical) }),
    Binding(.events, [.character("5")], .showing, "the events", naming: { $0.word(for: .events) }),
    Binding(.tree, [.character("2")], .showing, "the tree"),
    Binding(.palette, [.character(":")], .showing, "every action by its name", word: "actions"),
    Binding(
      .drain, [.character("P")], .running, "drain: start nothing new",
      naming: { $0.live.isDraining ? "go on" : "drain" }, refusal: "the run is over",
      when: { !$0.isOver && $0.live.stopping == nil }),
    Binding(
      .moreSlots, [.character("+"), .character("=")], .running, "one slot more", word: "slots",
      refusal: "no slot to add", when: { !$0.isOver && $0.live.slots < Run.unlimited }),
    Binding(
      .fewerSlots, [.character("-")], .running, "one slot fewer", refusal: "one slot is the least",
      when: { !$0.isOver && $0.live.slots > 1 }),
    Binding(
      .raise, [.character("]")], .acting, "priority up", refusal: "only what has not started has a priority",
      when: { $0.someTarget(\.hasPriority) }),
    Binding(
      .lower, [.character("[")], .acting, "priority down", refusal: "only what has not started has a priority",
      when: { $0.someTarget(\.hasPriority) }),
    Binding(
      .tagDependents, [.character("c")], .acting, "tag with its dependents", refusal: "no job here",
      when: { $0.cursor != nil }),
    Binding(.up, [.up, .character("k")], .moving, "up"),
    Binding(.down, [.down, .character("j")], .moving, "down"),
    Binding(.pageUp, [.pageUp], .moving, "a page up"),
    Binding(.pageDown, [.pageDown], .moving, "a page down"),
    Binding(.halfUp, [.control("u")], .moving, "half a page up"),
    Binding(.halfDown, [.control("d")], .moving, "half a page down"),
    Binding(.first, [.character("g"), .home], .moving, "to the first"),
    Binding(.last, [.character("G"), .end], .moving, "to the last, or follow"),
    Binding(
      .left, [.left], .moving, "left: long lines, time, a branch", refusal: "no log is shown",
      when: { $0.movesSideways }),
    Binding(
      .right, [.right], .moving, "right", refusal: "no log is shown", when: { $0.movesSideways }),
    Binding(
      .sortNext, [.character(">"), .function(6)], .showing, "sort by the next column",
      refusal: "only the list is sorted", when: { $0.panel == .list }),
    Binding(
      .sortPrevious, [.character("<")], .showing, "sort by the column before", refusal: "only the list is sorted",
      when: { $0.panel == .list }),
    Binding(
      .invert, [.character("I")], .showing, "turn the order round", refusal: "only the list is sorted",
      when: { $0.panel == .list }),
    Binding(
      .copyAll, [.character("Y")], .logging, "copy the whole log",
      naming: { $0.readsLog ? "copy all" : nil }, refusal: "nothing to copy",
      when: { $0.lines?.isEmpty == false }),
    Binding(.times, [.character("T")], .logging, "times: relative, clock, off"),
    Binding(.freeze, [.character("Z")], .showing, "freeze the display"),
    Binding(.mouse, [.character("m")], .showing, "give or take the mouse"),
    Binding(.redraw, [.control("l")], .showing, "draw the screen anew"),
  ]
}

extension Action {
  /// What a job must be able to do for it.
  var ability: JobAbility? {
    switch self {
    case .pause: .pause
    case .retry, .retryDependents: .retry
    case .kill: .kill
    default: nil
    }
  }
}

extension StateClass {
  var isPausable: Bool {
    switch self {
    case .executing, .backingOff, .ready, .waiting: true
    default: false
    }
  }

  /// A skipped job is retried by retrying, with its dependents, the one that caused the skip.
  var isRetryable: Bool {
    switch self {
    case .failed, .timedOut, .allowedFailure, .cancelled: true
    default: false
    }
  }

  var hasPriority: Bool {
    switch self {
    case .waiting, .ready, .backingOff: true
    default: false
    }
  }
}

extension Model {
  func someTarget(_ test: (StateClass) -> Bool) -> Bool {
    if tags.isEmpty { return cursor.map { test(index.classes[$0.index]) } ?? false }
    return tags.contains { test(index.classes[$0.index]) }
  }

  /// Those of the targets that an end would change.
  var cancellable: [JobID] { targets.filter { !index.classes[$0.index].isTerminal } }

  /// The job whose row can show or hide others: the cursor's, or the one under which it stands.
  var foldable: JobID? {
    guard let cursor else { return nil }
    switch panel {
    case .list:
      guard order.groups else { return nil }
      if order.skipped[cursor] != nil { return cursor }
      guard case .skipped(let cause) = run.jobs[cursor.index].state else { return nil }
      return order.skipped[cause] == nil ? nil : cause
    case .tree:
      guard let row = cursorRow, tree.rows.indices.contains(row) else { return nil }
      return tree.rows[row].hasNeeds && !tree.rows[row].isRepeat ? cursor : nil
    case .timeline, .critical, .events: return nil
    }
  }

  func isFolded(_ id: JobID) -> Bool { panel == .tree ? tree.folded.contains(id) : !order.unfolded.contains(id) }

  /// The bottom line's word for another panel; nil for the one that is shown.
  func word(for panel: Panel) -> String? { page == .list && self.panel != panel ? panel.word : nil }

  var movesSideways: Bool { showsLog || panel == .tree || panel == .timeline }

  func someTarget(able ability: JobAbility, _ test: (StateClass) -> Bool) -> Bool {
    if tags.isEmpty { return cursor.map { test(index.classes[$0.index]) && isAble($0, ability) } ?? false }
    return tags.contains { test(index.classes[$0.index]) && isAble($0, ability) }
  }

  /// Whether the job's kind of work can do that at all.
  func isAble(_ id: JobID, _ ability: JobAbility) -> Bool {
    run.jobs[id.index].job.work.refusal(of: ability) == nil
  }

  /// Whether an end would lose what a target has done so far.
  var someTargetWorks: Bool { targets.contains { run.jobs[$0.index].state.isActive } }
  var someTargetIsActive: Bool {
    targets.contains { run.jobs[$0.index].state.isActive && isAble($0, .kill) }
  }
  var someTargetHasDependents: Bool { targets.contains { !run.jobs[$0.index].dependents.isEmpty } }

  /// Whether a log is on the screen for keys to act on.
  var showsLog: Bool { !Layout(self).log.isEmpty }
}
