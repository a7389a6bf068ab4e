import JobModel

extension Scheduler {
  /// The maximum number of attempts beyond the width in the operation queue: enough that a slot never waits for the
  /// engine.
  static let ahead = 16

  /// How many attempts beyond the width may be in the operation queue now.
  ///
  /// The queue executes them in the order of their admission, so a job of a higher rank that becomes ready later comes
  /// after them. Where ranks differ, as many are admitted as the pace of the last ends requires.
  private var ahead: Int { ordersByRank ? min(Self.ahead, pace.recent) : Self.ahead }

  mutating func admit() {
    defer { releaseAllocationIfUnneeded() }
    guard !run.isDraining, !isClosing, !gate.isHeld else { return }
    while let entry = popReady() {
      let id = entry.job
      guard isCurrent(entry), case .ready(let room) = state(id), room != .person, !isClosed(to: id) else { continue }
      // A step that has waited for a pool may have no room any longer.
      if !hasNode(id) {
        set(id, .ready(for: self.room(for: id)))
        enqueue(id, order: entry.order)
        continue
      }
      if let pool = pools.take(for: entry) {
        set(id, .ready(for: .pool(pool)))
        continue
      }
      if room != self.room(for: id) { set(id, .ready(for: self.room(for: id))) }
      // Voids the job's other entries, in the pools that it has waited for.
      nodes[id.index].stamp += 1
      nodes[id.index].ticket = nextTicket
      if !graph[id].inputs.isEmpty { nodes[id.index].read = run.values(of: graph[id].outputsInWork) }
      admitted[nextTicket] = id
      count(id, 1)
      actions.append(
        .admit(
          Admission(
            ticket: nextTicket, job: id, attempt: attempts(id) + 1, priority: urgency(of: id),
            node: takeNode(id), earlier: nodes[id.index].earlier, mustExecute: mustExecute(id), endRule: endRule(of: id)
          )))
      nextTicket += 1
    }
  }

  /// Whether the next attempt executes whatever its files say: one that has failed may have created only a part of its
  /// products.
  private func mustExecute(_ id: JobID) -> Bool {
    nodes[id.index].earlier == nil && (attempts(id) > 0 || nodes[id.index].isRepeated)
  }

  private func endRule(of id: JobID) -> EndRule? {
    let job = graph[id]
    guard graph.onFailure != .keepGoing, !job.allowFailure, job.finally == nil else { return nil }
    let policy = job.attemptPolicy
    let isLast = nodes[id.index].retries >= policy.max
    let successCloses =
      switch job.service?.restart {
      case nil: false
      case .always: isLast || !policy.allows(Self.unaskedEnd)
      case .never, .onFailure: !run.jobs[id.index].edges.isEmpty
      }
    return EndRule(policy: policy, isLast: isLast, successCloses: successCloses)
  }

  /// Whether the job still waits with this entry.
  func isCurrent(_ entry: ReadyJob) -> Bool { nodes[entry.job.index].stamp == entry.stamp }

  /// Removes the first job that may be admitted; a job that waits for pools counts only if they have its units now.
  private mutating func popReady() -> ReadyJob? {
    if let entry = readyServices.pop() { return entry }
    if let entry = popClusterJob() { return entry }
    let hasSlot = admittedToSlots < run.slots + ahead
    // Steps are limited by the room of their allocation.
    let hasPlaceInCluster = steps != nil || admittedToCluster < options.clusterJobs
    let (nodes, journal) = (nodes, journal)
    let parked = pools.popFitting(
      before: hasSlot ? ready.first : nil,
      isOpen: { lane in
        switch lane {
        case .slots: hasSlot
        case .services: true
        case .cluster: hasPlaceInCluster
        }
      },
      isCurrent: { entry in
        nodes[entry.job.index].stamp == entry.stamp && journal.run.jobs[entry.job.index].state.isReady
      })
    return parked ?? (hasSlot ? ready.pop() : nil)
  }

  private mutating func count(_ id: JobID, _ change: Int) {
    switch graph[id].lane {
    case .slots: admittedToSlots += change
    case .services: break
    case .cluster: admittedToCluster += change
    }
  }

  /// Ends the stay of an attempt in the operation queue.
  mutating func release(_ id: JobID) {
    if nodes[id.index].ticket != nil { count(id, -1) }
    nodes[id.index].ticket = nil
    nodes[id.index].isWithdrawing = false
    pools.release(id)
    steps?.release(id)
  }

  /// Adds or removes units of a pool, but keeps as many as any job that has not ended needs at once.
  mutating func changePool(_ name: String, by change: Int) {
    guard let size = run.pools[name] else { return }
    let new = max(run.leastUnits(of: name), size + change)
    guard new != size else { return }
    pools.resize(name, by: new - size)
    journal.state(.poolChanged(name, new))
  }

  // MARK: The jobs of finally

  /// Once all other jobs have ended, starts the `finally` jobs whose condition matches their outcome.
  mutating func beginFinalJobsIfDue() {
    if ending.openOrdinary == 0, !run.isOpen { for id in ending.services { retire(id) } }
    guard !ending.haveBegun, ending.open == 0, !ending.jobs.isEmpty, !run.isOpen else { return }
    ending.haveBegun = true
    let open = ending.jobs.filter { state($0) == .waiting || state($0) == .paused(started: false) }
    if run.stopping?.level == .kill { return end(open, .cancelled(by: run.stopping?.by ?? .policy)) }
    let outcomes = outcomes
    end(open.filter { !outcomes.contains(graph[$0].finally ?? .always) }, .skipped(because: .outcome))
    for id in open where state(id) == .waiting { reconsider(id) }
  }

  /// The conditions of `finally` jobs that match the ends of all other jobs.
  private var outcomes: Set<FinalCondition> {
    var (hasFailed, isOK) = (false, !options.leavesWork)
    for index in nodes.indices where graph.jobs[index].finally == nil {
      switch state(JobID(index)) {
      case .failed(_, allowed: false): hasFailed = true
      case .cancelled: isOK = false
      default: break
      }
    }
    return hasFailed ? [.failed, .always] : isOK ? [.ok, .always] : [.always]
  }

  /// Makes the jobs of `finally` wait again after another job is reopened; an executing one continues.
  mutating func resetFinalJobs() {
    guard ending.haveBegun else { return }
    ending.haveBegun = false
    for id in ending.jobs where !state(id).isActive {
      // Only a person starts it.
      if graph[id].isManual, state(id).isTerminal { continue }
      let isPaused = state(id) == .paused(started: false)
      if let ticket = nodes[id.index].ticket {
        if isPaused { nodes[id.index].mustPause = true }
        withdraw(id, ticket)
      } else if !isPaused {
        nodes[id.index].forgetAttempts()
        set(id, .waiting)
      }
    }
  }
}

extension JobState {
  fileprivate var isReady: Bool { if case .ready(let room) = self { room != .person } else { false } }
}
