import JobModel

extension Scheduler {
  mutating func handle(_ command: JobCommand) {
    switch command {
    case .cancel(let jobs, let canceller): for id in jobs where isKnown(id) { cancel(id, by: canceller, kill: false) }
    case .kill(let jobs): for id in jobs where isKnown(id) { cancel(id, by: .person, kill: true) }
    case .pause(let jobs): for id in jobs where isKnown(id) { pause(id) }
    case .resume(let jobs): for id in jobs where isKnown(id) { resume(id) }
    case .retry(let jobs, let withDependents): retry(jobs.filter(isKnown), withDependents: withDependents)
    case .setPriority(let jobs, let priority): for id in jobs where isKnown(id) { prioritize(id, priority) }
    case .setSlots(let slots): setSlots(slots)
    case .changeSlots(let change): setSlots(run.slots(changedBy: change))
    case .setDraining(let draining): setDraining(draining)
    case .stop(let level, let canceller): stop(level, by: canceller)
    case .changePool(let name, let change): changePool(name, by: change)
    case .approve(let jobs): for id in jobs where isKnown(id) { approve(id) }
    case .inputsChanged(let changes): inputsChanged(changes)
    case .setTerminalSize, .setWatching, .showStack, .holdReplay, .skipToFailure: break
    case .finish: break
    }
    admit()
  }

  private func isKnown(_ id: JobID) -> Bool { nodes.indices.contains(id.index) }

  private mutating func approve(_ id: JobID) {
    guard state(id) == .ready(for: .person) else { return }
    nodes[id.index].approved = run.values(of: graph[id].outputsToApprove)
    makeReady(id)
  }

  /// Cancels a job; with `inOrder`, a service ends after the jobs that need it.
  mutating func cancel(_ id: JobID, by canceller: JobState.Canceller, kill: Bool, inOrder: Bool = false) {
    let node = nodes[id.index]
    let state = state(id)
    guard !state.isTerminal else { return }
    guard let ticket = node.ticket else {
      // A job that awaits a retry or an approval when the run's time limit is reached has failed.
      var isFailure = state == .ready(for: .person)
      if case .backingOff = state { isFailure = true }
      return end(id, isFailure ? ending(of: id, cancelledBy: canceller) : .cancelled(by: canceller))
    }
    let isRestarting = node.canceller == .restart
    if node.canceller == nil || isRestarting { nodes[id.index].canceller = canceller }
    if inOrder, !kill, node.canceller == nil, mustOutlast(id) {
      nodes[id.index].isHeld = true
      // A job of `finally` may still need the service.
      return resume(id)
    }
    nodes[id.index].isHeld = false
    if kill { nodes[id.index].mustKill = true }
    if state.isActive {
      nodes[id.index].deadline = nil
      guard kill ? !node.mustKill : node.canceller == nil || node.isHeld || isRestarting else { return }
      stateEnding(id, by: canceller, kill: kill)
      // The attempt of a restart, or one that has exceeded a limit, is being ended already.
      let isEnding = isRestarting || node.excess != nil
      if kill || !isEnding { actions.append(kill ? .kill(ticket: ticket) : .cancel(ticket: ticket)) }
    } else {
      withdraw(id, ticket)
    }
  }

  private mutating func pause(_ id: JobID) {
    let node = nodes[id.index]
    guard !state(id).isTerminal, node.canceller ?? .restart == .restart, node.excess == nil else { return }
    if node.isWithdrawing || node.isTakenBack || node.canceller == .restart {
      // The attempt is being ended, and the pause is for the next one.
      nodes[id.index].mustPause = true
      if !state(id).isActive { set(id, .paused(started: false)) }
      return
    }
    if case .paused(let hasStarted) = state(id) {
      // The job stays paused when the cluster continues it.
      guard hasStarted, node.isSuspended, !node.mustPause, let ticket = node.ticket else { return }
      nodes[id.index].mustPause = true
      return actions.append(.pause(ticket: ticket))
    }
    guard let ticket = node.ticket else { return set(id, .paused(started: false)) }
    if state(id).isActive {
      pauseStarted(id, ticket: ticket)
    } else if graph[id].cluster != nil, steps == nil {
      // The job keeps its place in the cluster's queue.
      actions.append(.pause(ticket: ticket))
      set(id, .paused(started: false))
    } else {
      nodes[id.index].mustPause = true
      withdraw(id, ticket)
    }
  }

  mutating func pauseStarted(_ id: JobID, ticket: Int) {
    nodes[id.index].mustPause = true
    actions.append(.pause(ticket: ticket))
    suspend(id)
  }

  /// Pauses a started job and suspends its limits until `proceed`.
  mutating func suspend(_ id: JobID) {
    nodes[id.index].timeLeft = nodes[id.index].deadline.map { max(.zero, $0 - journal.now) }
    nodes[id.index].deadline = nil
    nodes[id.index].silenceEnd = nil
    set(id, .paused(started: true))
    if graph[id].service != nil { holdDependents(of: id) }
  }

  mutating func resume(_ id: JobID) {
    let node = nodes[id.index]
    nodes[id.index].mustPause = false
    switch state(id) {
    case .paused(started: true):
      guard let ticket = node.ticket else { return }
      actions.append(.resume(ticket: ticket))
      if !node.isSuspended { proceed(id) }
    case .paused(started: false):
      guard let ticket = node.ticket else { return reconsider(id) }
      // A need was retried meanwhile.
      guard isMet(id) else { return withdraw(id, ticket) }
      // Only a cluster job is held; the attempt of another one is being withdrawn.
      if !node.isWithdrawing { actions.append(.resume(ticket: ticket)) }
      set(id, .ready(for: room(for: id)))
    case .backingOff:
      // A user ends the wait.
      reconsider(id)
    default: break
    }
  }

  /// Ends a started job's pause.
  mutating func proceed(_ id: JobID) {
    if nodes[id.index].isReady { serve(id) } else { set(id, .executing) }
    if let silence = silenceLimit(of: id) { watchSilence(id, until: journal.now + silence) }
    if let left = nodes[id.index].timeLeft { arm(id, deadline: journal.now + left) }
    nodes[id.index].timeLeft = nil
  }

  private mutating func prioritize(_ id: JobID, _ priority: JobPriority) {
    let node = nodes[id.index]
    guard !state(id).isTerminal, run.jobs[id.index].job.priority != priority else { return }
    journal.state(.priorityChanged(id, priority))
    // The order of the file stands.
    guard graph.schedule != .fifo else { return }
    if let ticket = node.ticket {
      var tickets = [ticket]
      // The operation queue puts the job behind all others of its new priority, later admissions too.
      if graph[id].lane == .slots {
        tickets += admitted.keys.filter { $0 > ticket && mustFollow($0, priority) }.sorted()
      }
      for ticket in tickets { actions.append(.prioritize(ticket: ticket, priority)) }
    } else if case .ready(let room) = state(id), room != .person {
      enqueue(id, order: node.order)
    }
  }

  /// Whether the attempt has this priority and has not begun.
  private func mustFollow(_ ticket: Int, _ priority: JobPriority) -> Bool {
    guard let id = admitted[ticket], graph[id].lane == .slots, !state(id).isActive else { return false }
    return urgency(of: id) == priority
  }

  private mutating func setSlots(_ slots: Int) {
    let slots = max(1, slots)
    guard slots != run.slots else { return }
    actions.append(.setWidth(slots))
    journal.state(.slotsChanged(slots))
  }

  private mutating func setDraining(_ draining: Bool) {
    guard draining != run.isDraining else { return }
    actions.append(.setSuspended(draining))
    journal.state(.drainChanged(draining))
  }

  mutating func stop(_ level: StopLevel, by canceller: JobState.Canceller) {
    if canceller == .signal { isUnattended = true }
    if let stopping = run.stopping?.level, stopping >= level { return endWaitsForUser() }
    close(to: level == .kill ? .none : .final)
    journal.state(.stopRequested(level, by: canceller))
    // The run must end without a user.
    if !ending.haveBegun { for id in ending.jobs { resume(id) } }
    endKeptServices(by: canceller)
    cancelAll(by: canceller, kill: level == .kill, active: true)
    // Withdrawn operations leave a suspended queue only after it is resumed, and jobs of `finally` may have to start.
    setDraining(false)
  }

  /// In a run that has lost its user, lets no job of `finally` wait for one.
  private mutating func endWaitsForUser() {
    guard isUnattended else { return }
    for id in ending.jobs {
      switch state(id) {
      case .ready(for: .person): cancel(id, by: .signal, kill: false)
      case .paused: resume(id)
      default: break
      }
    }
  }

  mutating func cancelAll(by canceller: JobState.Canceller, kill: Bool, active: Bool) {
    // Cancelling the last of the other jobs lets them begin.
    let haveBegun = ending.haveBegun
    for index in nodes.indices where active || !state(JobID(index)).isActive {
      // The jobs of `finally` follow any end of the others; only a kill ends them with the others.
      if graph.jobs[index].finally != nil, !kill, !haveBegun || canceller == .policy { continue }
      // The service ends once the services that need it have ended.
      if nodes[index].canceller == .unneeded, !kill { continue }
      cancel(JobID(index), by: canceller, kill: kill, inOrder: true)
    }
  }
}
