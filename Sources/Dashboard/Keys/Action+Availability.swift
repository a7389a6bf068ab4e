import JobModel

/// When an action does something, and what the screen says about it.
extension Action {
  func isEnabled(in model: Model) -> Bool {
    guard model.page != .help || worksOnHelpPage, pastRefusal(in: model) == nil else { return false }
    return switch self {
    case .copy, .zoom, .tag, .tagDependents: model.cursor != nil
    case .copyPath: model.cursor != nil && model.run.start?.folder != nil
    case .copyAll: model.lines?.isEmpty == false
    case .range, .follow, .firstError, .wrap, .nextPane: model.showsLog
    case .merged: model.page == .list && model.showsLog
    case .next, .previous: !model.log.matches.isEmpty
    case .left, .right: model.panel == .tree || model.panel == .timeline || model.showsLog
    case .cancel: model.someTarget { !$0.isTerminal }
    case .kill: model.someOpenTarget { model.run.jobs[$0.index].state.isActive && model.isAble($0, .kill) }
    case .pause: model.someTarget(able: .pause) { $0.isPausable || $0 == .paused }
    case .retry, .retryDependents: model.canRetry && model.someTarget(able: .retry, \.isRetryable)
    case .retryFailed: model.canRetry && model.run.counts.failed > model.run.counts.allowed && !model.failures.isEmpty
    case .tagAll: model.page == .list && model.rowCount > 0
    case .raise, .lower: model.someTarget(\.hasPriority)
    case .approve: !model.index.asking.isEmpty
    case .untag: !model.tags.isEmpty
    case .fold: model.page == .list && model.foldable != nil
    case .zoomIn, .zoomOut, .zoomAll: model.page == .list && model.panel == .timeline
    case .sortNext, .sortPrevious, .invert: model.panel == .list
    case .scrubBack: model.hasPast && model.live.start != nil
    case .scrubForward: model.isPast
    case .drain: !model.isOver && model.live.stopping == nil
    case .moreSlots: !model.isOver && model.live.slots < Run.unlimited
    case .fewerSlots: !model.isOver && model.live.slots > 1
    case .morePool: !model.isOver && model.pool != nil
    case .fewerPool: !model.isOver && model.pool.map { model.live.pools[$0, default: 0] > 1 } == true
    default: true
    }
  }

  /// Why the action can't change the run while a recording or a past instant is shown; nil where it can.
  private func pastRefusal(in model: Model) -> String? {
    guard KeyMap.reach(of: self) == .run else { return nil }
    if model.isReplay { return "this is a replay: its run can't be changed" }
    guard model.isPast else { return nil }
    let way = model.presentKey.map { ": \($0) returns to the present" } ?? ""
    return "this is the past, which can't be changed\(way)"
  }

  private var worksOnHelpPage: Bool {
    [
      .up, .down, .pageUp, .pageDown, .halfUp, .halfDown, .first, .last, .back, .help, .quit, .redraw, .mouse, .list,
      .tree, .timeline, .critical, .events,
    ].contains(self)
  }

  /// The bottom line's word for the action; nil keeps it out.
  func word(in model: Model) -> String? {
    let (focus, page, panel) = (model.focus, model.page, model.panel)
    func panelWord(_ other: Panel) -> String? { page == .list && panel != other ? other.rawValue : nil }
    return switch self {
    case .copy:
      focus != .log || model.lines?.isEmpty != false
        ? nil : "copy " + (model.markedCount.map { Format.count($0, "line") } ?? "line")
    case .range: model.readsLog ? "range" : nil
    case .follow: focus == .log && !model.log.follows ? "follow" : nil
    case .copyPath: focus == .log && model.isLogClipped ? "path" : nil
    case .firstError: model.readsLog ? "error" : nil
    case .merged:
      if !model.readsLog || page == .zoom {
        nil
      } else {
        switch model.log.subject {
        case .job: "merged"
        case .merged where !model.run.programLog.isEmpty: "program"
        case .merged, .program: "one job"
        }
      }
    case .copyAll: model.readsLog ? "copy all" : nil
    case .wrap: focus == .log ? "wrap" : nil
    case .next: model.log.matches.isEmpty ? nil : "next"
    case .filter: focus == .log ? "search" : "filter"
    case .cancel: "cancel"
    case .pause: model.someTarget { $0 == .paused } && !model.someTarget(\.isPausable) ? "resume" : "pause"
    case .retry: "retry"
    case .retryDependents:
      model.someTarget(where: model.canSkipDependents) ? "retry + skipped" : nil
    case .retryFailed: model.isOver ? "retry all failed" : nil
    case .kill: "kill"
    case .tag: page == .list ? "tag" : nil
    case .untag: "untag"
    case .back:
      if focus == .log, model.log.mark != nil {
        "end range"
      } else if page != .list {
        "back"
      } else {
        !model.filter.isEmpty && focus == .list ? "clear filter" : nil
      }
    case .zoom: page != .list ? nil : focus == .log && model.showsMerged ? "its job" : "zoom"
    case .fold: focus != .list ? nil : model.foldable.map { model.isFolded($0) ? "expand" : "fold" }
    case .zoomIn: panel == .timeline ? "in" : nil
    case .zoomOut: panel == .timeline ? "out" : nil
    case .zoomAll: panel == .timeline && model.window != TimeWindow() ? "all" : nil
    case .treeOrList: page != .list ? nil : panel == .tree ? "list" : "tree"
    case .list: panel == .tree ? nil : panelWord(.list)
    case .timeline: panelWord(.timeline)
    case .critical: panelWord(.critical)
    case .events: panelWord(.events)
    case .log: page == .list ? "log" : nil
    case .nextPane: model.showsLog ? "pane" : nil
    case .palette: "actions"
    case .help: "help"
    case .quit: "quit"
    case .scrubBack: model.isPast ? "back" : nil
    case .scrubForward: model.isPast ? "forward" : nil
    case .drain: model.live.isDraining ? "start again" : "drain"
    case .moreSlots: "slots"
    case .approve: "approve"
    default: nil
    }
  }

  /// The answer to the key of an action that is not enabled, as specific as possible.
  func refusal(in model: Model) -> String {
    if let why = pastRefusal(in: model) { return why }
    if let ability, let why = model.record?.job.work.refusal(of: ability) { return why }
    if self == .retry || self == .retryDependents, let record = model.record,
      case .skipped(.job(let cause)) = record.state
    {
      let name = model.run.jobs[cause.index].job.name
      let way = model.keys.label(.retryDependents).map { ": \($0) on \(name) retries both" } ?? ""
      return "\(record.job.name) was skipped because of \(name)\(way)"
    }
    return switch self {
    case .copy, .copyPath, .copyAll: "nothing to copy"
    case .range, .follow, .firstError, .merged, .wrap, .left, .right: "no log is shown"
    case .cancel: "this job has ended"
    case .pause: "nothing to pause"
    case .retryFailed where model.run.counts.failed > 0, .retry where !model.canRetry,
      .retryDependents where !model.canRetry:
      model.live.summary == nil ? "the run is stopping" : "the run has ended"
    case .retry, .retryDependents: "this job has not failed"
    case .retryFailed: "no job has failed"
    case .tagAll: "no job here"
    case .kill: "this job is not running"
    case .zoom, .tag, .tagDependents: "no job here"
    case .untag: "nothing is tagged"
    case .fold: "no row is under it"
    case .zoomIn, .zoomOut, .zoomAll: "that is for the timeline" + (model.keys.label(.timeline).map { ", \($0)" } ?? "")
    case .next, .previous: "nothing is found"
    case .nextPane: "there is one pane"
    case .drain: "the run has ended"
    case .scrubBack: "the run is not recorded: there is no past to show"
    case .scrubForward: "this is the present" + (model.keys.label(.scrubBack).map { "; \($0) shows the past" } ?? "")
    case .moreSlots: "no slot to add"
    case .fewerSlots: "one slot is the least"
    case .approve: "no job waits for approval"
    case .morePool, .fewerPool: model.pool.map { "one unit is the least of pool \($0)" } ?? "this job uses no pool"
    case .raise, .lower: "only a job that has not started has a priority"
    case .sortNext, .sortPrevious, .invert: "only the list is sorted"
    default: ""
    }
  }

  /// The ability that a job's kind of work needs for the action.
  private var ability: JobAbility? {
    switch self {
    case .pause: .pause
    case .retry, .retryDependents: .retry
    case .kill: .kill
    default: nil
    }
  }
}
