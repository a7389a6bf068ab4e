import JobModel

extension Update {
  static func command(_ action: Action, _ model: inout Model, _ now: Duration) -> [Effect] {
    switch action {
    case .quit:
      return quit(&model, now)
    case .moreSlots, .fewerSlots:
      // A queue without a limit gets one relative to the executing jobs.
      let present = model.live.slots == Run.unlimited ? model.live.counts.active : model.live.slots
      let slots = max(1, present + (action == .moreSlots ? 1 : -1))
      say(Format.slots(slots), &model, now)
      return [.send(.setSlots(slots))]
    case .drain:
      let drains = !model.live.isDraining
      say(drains ? "draining: nothing new starts" : "starting jobs again", &model, now)
      return [.send(.setDraining(drains))]
    default:
      model.takeCursor()
      // Ending several jobs needs a confirmation, because not all of them need be on the screen.
      if action == .cancel || action == .kill, model.targets.count > 1, model.someTargetWorks {
        model.prompt = .confirm(action)
        return []
      }
      return commandJobs(action, &model, now)
    }
  }

  static func commandJobs(_ action: Action, _ model: inout Model, _ now: Duration) -> [Effect] {
    func chosen(_ test: (JobID) -> Bool) -> [JobID] { model.targets.filter(test) }
    func state(_ id: JobID) -> StateClass { model.index.classes[id.index] }
    switch action {
    case .cancel:
      let ids = chosen { !state($0).isTerminal }
      say("cancelling \(naming(ids, model))", &model, now)
      return [.send(.cancel(ids, by: .person))]
    case .kill:
      let ids = chosen { model.run.jobs[$0.index].state.isActive && model.isAble($0, .kill) }
      say("killing \(naming(ids, model))", &model, now)
      return [.send(.kill(ids))]
    case .pause:
      let pausable = chosen { state($0).isPausable && model.isAble($0, .pause) }
      if !pausable.isEmpty {
        say("pausing \(naming(pausable, model))", &model, now)
        return [.send(.pause(pausable))]
      }
      let paused = chosen { state($0) == .paused }
      say("going on with \(naming(paused, model))", &model, now)
      return [.send(.resume(paused))]
    case .retry, .retryDependents:
      let ids = chosen { state($0).isRetryable && model.isAble($0, .retry) }
      let more = action == .retryDependents ? " and what depended on it" : ""
      say("retrying \(naming(ids, model))\(more)", &model, now)
      return [.send(.retry(ids, withDependents: action == .retryDependents))]
    case .raise, .lower:
      return changePriority(chosen { state($0).hasPriority }, raise: action == .raise, &model, now)
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
