import JobModel

extension Update {
  static func command(_ action: Action, _ model: inout Model, _ now: Duration) -> [Effect] {
    switch action {
    case .quit:
      return quit(&model, now)
    case .moreSlots, .fewerSlots:
      say(action == .moreSlots ? "one slot more" : "one slot fewer", &model, now)
      return [.send(.changeSlots(by: action == .moreSlots ? 1 : -1))]
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
      if (ends && jobs.count > 1 && model.someTargetWorks) || jobs.contains(where: { !model.isOnScreen($0) }) {
        model.prompt = .confirm(action)
        return []
      }
      return commandJobs(action, &model, now)
    }
  }

  /// The targets on which an action has an effect.
  static func chosen(_ action: Action, _ model: Model) -> [JobID] {
    let (run, classes) = (model.run, model.index.classes)
    func targets(_ test: (JobID) -> Bool) -> [JobID] { model.targets.filter(test) }
    switch action {
    case .cancel: return targets { !classes[$0.index].isTerminal }
    case .kill: return targets { run.jobs[$0.index].state.isActive && model.isAble($0, .kill) }
    case .pause:
      let pausable = targets { classes[$0.index].isPausable && model.isAble($0, .pause) }
      return pausable.isEmpty ? targets { classes[$0.index] == .paused } : pausable
    case .retry, .retryDependents: return targets { classes[$0.index].isRetryable && model.isAble($0, .retry) }
    case .raise, .lower: return targets { classes[$0.index].hasPriority }
    default: return []
    }
  }

  /// The word of an action at the beginning of a question.
  static func verb(_ action: Action, _ model: Model) -> String {
    switch action {
    case .kill: "Kill"
    case .pause: chosen(.pause, model).contains { model.index.classes[$0.index].isPausable } ? "Pause" : "Resume"
    case .retry, .retryDependents: "Retry"
    case .raise: "Raise"
    case .lower: "Lower"
    default: "Cancel"
    }
  }

  static func commandJobs(_ action: Action, _ model: inout Model, _ now: Duration) -> [Effect] {
    model.takeCursor()
    let ids = chosen(action, model)
    switch action {
    case .cancel:
      say("cancelling \(naming(ids, model))", &model, now)
      return [.send(.cancel(ids, by: .person))]
    case .kill:
      say("killing \(naming(ids, model))", &model, now)
      return [.send(.kill(ids))]
    case .pause:
      let pauses = verb(.pause, model) == "Pause"
      say("\(pauses ? "pausing" : "resuming") \(naming(ids, model))", &model, now)
      return [.send(pauses ? .pause(ids) : .resume(ids))]
    case .retry, .retryDependents:
      let more = action == .retryDependents ? " and what depended on it" : ""
      say("retrying \(naming(ids, model))\(more)", &model, now)
      return [.send(.retry(ids, withDependents: action == .retryDependents))]
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

  /// Leaves a run that is over, asks while jobs run, escalates the stop of a run that is being stopped.
  static func quit(_ model: inout Model, _ now: Duration) -> [Effect] {
    if model.isOver { return [.leave(.quit)] }
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
