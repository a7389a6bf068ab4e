import JobModel
import Screen

/// Applies messages to the model and returns effects; nothing else changes the model, and it changes nothing else.
enum Update {
  private static let noticeTime: Duration = .seconds(4)

  static func apply(_ message: Message, to model: inout Model, now: Duration) -> [Effect] {
    switch message {
    case .facts(let events):
      let wasOver = model.isOver
      let hadOutput = model.live.programLog.total > 0
      model.apply(events)
      if !hadOutput, model.live.programLog.total > 0, model.log.subject == .job, let key = model.keys.label(.merged) {
        say("the program has printed: \(key) shows it", &model, now)
      }
      review(&model, after: events)
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
    case .past(let run, let time):
      return show(run, at: time, &model, now)
    case .unrecorded(let reason):
      model.isUnrecorded = true
      say(reason, &model, now)
      return []
    case .tick:
      if let notice = model.notice, notice.until <= now { model.notice = nil }
      return []
    }
  }

  /// Withdraws the question whose jobs have changed; one that asks a person again is another question.
  static func review(_ model: inout Model, after events: [JobEvent] = []) {
    switch model.prompt {
    case .quit where model.isOver: model.prompt = nil
    case .confirm(let action, var jobs):
      if action == .approve {
        for case .jobState(let id, _, _, _) in events.lazy.map(\.fact) { jobs.removeAll { $0 == id } }
      }
      jobs = able(action, jobs, model)
      model.prompt = jobs.isEmpty || !action.isEnabled(in: model) ? nil : .confirm(action, jobs)
    default: break
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
    // A stop by a policy keeps the dashboard open to show the failure, and a recorded one is part of what is shown.
    let isWanted = !model.isReplay && run.stopping.map { $0.by != .policy } ?? false
    if isWanted || model.quits > 0 {
      let isGone = run.summary != nil || run.isComplete || run.isStopped
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
    if model.isPast || model.wantedPast != nil, key == .end, action == .last {
      model.setFrozen(false)
      return []
    }
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
    case .cancel, .kill, .pause, .retry, .retryDependents, .retryFailed, .approve, .raise, .lower, .moreSlots,
      .fewerSlots, .morePool, .fewerPool, .drain, .quit:
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
    case .scrubBack, .scrubForward:
      return scrub(forward: action == .scrubForward, &model, now)
    case .next, .previous, .wrap, .follow, .times, .merged, .firstError, .range:
      performInLog(action, &model, now)
    }
    return []
  }

  // MARK: Commands

  static func command(_ action: Action, _ model: inout Model, _ now: Duration) -> [Effect] {
    switch action {
    case .quit:
      return quit(&model, now)
    case .moreSlots, .fewerSlots:
      say(action == .moreSlots ? "one slot more" : "one slot fewer", &model, now)
      return [.send(.changeSlots(by: action == .moreSlots ? 1 : -1))]
    case .morePool, .fewerPool:
      guard let pool = model.pool else { return [] }
      let change = action == .morePool ? 1 : -1
      let (size, least) = (model.live.pools[pool, default: 0], model.live.leastUnits(of: pool))
      guard size + change >= least else {
        say("a job needs \(Format.count(least, "unit")) of pool \(pool) at once", &model, now)
        return []
      }
      say("pool \(pool): \(Format.count(size + change, "unit"))", &model, now)
      return [.send(.changePool(pool, by: change))]
    case .drain:
      let drains = !model.live.isDraining
      say(drains ? "nothing new starts" : "jobs start again", &model, now)
      return [.send(.setDraining(drains))]
    case .retryFailed:
      let ids = model.failures
      say("retrying \(naming(ids, model)) and the skipped dependents", &model, now)
      return [.send(.retry(ids, withDependents: true))]
    default:
      let ends = action == .cancel || action == .kill
      let jobs = chosen(action, model)
      if action == .approve || (ends && jobs.count > 1 && model.someTargetWorks)
        || jobs.contains(where: { !model.isOnScreen($0) })
      {
        model.prompt = .confirm(action, jobs)
        return []
      }
      return commandJobs(action, jobs, &model, now)
    }
  }

  /// The targets on which an action has an effect; where none of them asks for approval, the first job that does.
  static func chosen(_ action: Action, _ model: Model) -> [JobID] {
    let jobs = able(action, model.targets, model)
    return action == .approve && jobs.isEmpty ? model.index.asking.min().map { [$0] } ?? [] : jobs
  }

  /// The elements of `jobs` on which an action has an effect.
  private static func able(_ action: Action, _ jobs: [JobID], _ model: Model) -> [JobID] {
    let (run, classes) = (model.run, model.index.classes)
    func targets(_ test: (JobID) -> Bool) -> [JobID] { jobs.filter(test) }
    switch action {
    case .cancel: return targets { !classes[$0.index].isTerminal }
    case .kill: return targets { run.jobs[$0.index].state.isActive && model.isAble($0, .kill) }
    case .pause:
      let pausable = targets { classes[$0.index].isPausable && model.isAble($0, .pause) }
      return pausable.isEmpty ? targets { classes[$0.index] == .paused } : pausable
    case .retry, .retryDependents: return targets { classes[$0.index].isRetryable && model.isAble($0, .retry) }
    case .approve: return targets { model.index.asking.contains($0) }
    case .raise, .lower: return targets { classes[$0.index].hasPriority }
    default: return []
    }
  }

  /// The word of an action at the beginning of a question.
  static func verb(_ action: Action, _ jobs: [JobID], _ model: Model) -> String {
    switch action {
    case .kill: "Kill"
    case .pause: jobs.contains { model.index.classes[$0.index].isPausable } ? "Pause" : "Resume"
    case .retry, .retryDependents: "Retry"
    case .approve: "Approve"
    case .raise: "Raise"
    case .lower: "Lower"
    default: "Cancel"
    }
  }

  static func commandJobs(
    _ action: Action, _ ids: [JobID], _ model: inout Model, _ now: Duration
  ) -> [Effect] {
    model.takeCursor()
    switch action {
    case .cancel:
      say("cancelling \(naming(ids, model))", &model, now)
      return [.send(.cancel(ids, by: .person))]
    case .kill:
      say("killing \(naming(ids, model))", &model, now)
      return [.send(.kill(ids))]
    case .pause:
      let pauses = verb(.pause, ids, model) == "Pause"
      say("\(pauses ? "pausing" : "resuming") \(naming(ids, model))", &model, now)
      return [.send(pauses ? .pause(ids) : .resume(ids))]
    case .retry, .retryDependents:
      let more = action == .retryDependents ? " and what depended on it" : ""
      say("retrying \(naming(ids, model))\(more)", &model, now)
      return [.send(.retry(ids, withDependents: action == .retryDependents))]
    case .approve:
      say("approved \(naming(ids, model))", &model, now)
      return [.send(.approve(ids))]
    case .raise, .lower:
      return changePriority(ids, raise: action == .raise, &model, now)
    default:
      return []
    }
  }

  /// Changes each job's priority by one level; jobs that reach the same level share a command.
  private static func changePriority(
    _ ids: [JobID], raise: Bool, _ model: inout Model, _ now: Duration
  ) -> [Effect] {
    var levels: [JobPriority: [JobID]] = [:]
    for id in ids {
      let old = model.run.jobs[id.index].job.priority
      let new = raise ? old.raised : old.lowered
      if new != old { levels[new, default: []].append(id) }
    }
    guard let (level, first) = levels.first else {
      say("already at the \(raise ? "highest" : "lowest") priority", &model, now)
      return []
    }
    if levels.count == 1 {
      say("\(naming(first, model)): priority \(level.rawValue)", &model, now)
    } else {
      say("\(naming(ids, model)): priority \(raise ? "up" : "down")", &model, now)
    }
    return levels.sorted { $0.key < $1.key }.map { .send(.setPriority($0.value, $0.key)) }
  }

  /// `fetch`, or `3 jobs`.
  private static func naming(_ ids: [JobID], _ model: Model) -> String {
    ids.count == 1 ? model.run.jobs[ids[0].index].job.name : Format.count(ids.count, "job")
  }

  // MARK: Quitting

  /// Leaves a run that is over or replayed, asks while jobs run, escalates the stop of a run that is being stopped.
  static func quit(_ model: inout Model, _ now: Duration) -> [Effect] {
    if model.isOver || model.isReplay { return [.leave(.quit)] }
    guard let stopping = model.live.stopping else {
      if model.quits > 0 { return escalate(&model, now) }
      if model.live.counts.active == 0, model.live.counts.backingOff == 0, model.live.counts.ready == 0 {
        return stop(&model)
      }
      model.prompt = .quit
      return []
    }
    model.quits = max(model.quits, stopping.level == .kill ? 2 : 1)
    return escalate(&model, now)
  }

  static func stop(_ model: inout Model) -> [Effect] {
    model.prompt = nil
    model.quits = 1
    // Shows the jobs that are still executing.
    model.setFrozen(false)
    return [.send(.stop(.terminate, by: .person))] + departure(model)
  }

  private static func escalate(_ model: inout Model, _ now: Duration) -> [Effect] {
    model.quits += 1
    guard model.quits == 2 else { return [.leave(.abandoned)] }
    return [.send(.stop(.kill, by: .person))]
  }
}
