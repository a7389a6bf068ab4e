import JobModel

extension Scheduler {
  /// Notes that the service of an attempt can be used, so that the jobs that need it may start.
  ///
  /// Returns whether that is so, and new.
  @discardableResult
  mutating func serviceIsReady(ticket: Int) -> Bool {
    guard let id = admitted[ticket], graph[id].service != nil, !nodes[id.index].isReady,
      nodes[id.index].canceller == nil, nodes[id.index].excess == nil
    else { return false }
    nodes[id.index].isReady = true
    nodes[id.index].readyAt = journal.now
    nodes[id.index].deadline = nil
    nodes[id.index].timeLeft = nil
    if state(id) == .executing { serve(id) }
    admit()
    return true
  }

  /// Ends the attempt of a service that can't be used any more, with this failure.
  mutating func serviceHasDied(ticket: Int, _ failure: JobFailure) {
    guard let id = admitted[ticket], nodes[id.index].canceller == nil, nodes[id.index].excess == nil else { return }
    endAttempt(of: id, ticket: ticket, because: failure)
  }

  /// States that the end of an attempt is requested, and makes the jobs wait that need its service and have not begun.
  mutating func stateEnding(_ id: JobID, by canceller: JobState.Canceller, kill: Bool = false) {
    journal.state(.cancelRequested(id, by: canceller, kill: kill))
    nodes[id.index].isReady = false
    guard state(id) == .serving else { return }
    set(id, .executing)
    holdDependents(of: id)
  }

  /// States that a service can be used, and makes the jobs ready that only waited for it.
  mutating func serve(_ id: JobID) {
    set(id, .serving)
    for edge in run.jobs[id.index].edges
    where edge.when == .ready && state(edge.job) == .waiting && isMet(edge.job) && !isClosed(to: edge.job) {
      makeReady(edge.job)
    }
  }

  /// Handles a service that has ended with success without being asked to.
  mutating func serviceEnded(_ id: JobID) {
    if graph[id].service?.restart == .always {
      fail(id, Self.unaskedEnd)
    } else if run.jobs[id.index].edges.isEmpty {
      end(id, .succeeded(upToDate: false))
    } else {
      end(id, .failed(Self.unaskedEnd, allowed: graph[id].allowFailure))
    }
  }

  /// The failure of a service that has ended without being asked to.
  static let unaskedEnd = JobFailure(.exit(0), "ended by itself (exit 0) while it was needed")

  /// Whether a service is still of use: for the jobs that need it or, if no job does, for all others.
  private func isNeeded(_ id: JobID) -> Bool {
    if keepsServices { return true }
    let edges = run.jobs[id.index].edges
    if edges.isEmpty { return ending.openOrdinary > 0 || !ending.hasOrdinary || run.isOpen }
    return edges.contains { !state($0.job).isTerminal }
  }

  func isUnneeded(_ id: JobID) -> Bool { graph[id].service != nil && !isNeeded(id) }

  /// Whether a service has ended because no job needed it, or is being ended for that or because of a failure.
  func isRetired(_ id: JobID) -> Bool {
    guard graph[id].service != nil else { return false }
    return switch state(id) {
    case .succeeded, .skipped(because: .unneeded): true
    default: nodes[id.index].canceller?.isOfSchedule == true
    }
  }

  /// Ends the services that only this job, which has ended, still needed.
  mutating func retireServices(neededBy id: JobID) {
    for need in graph[id].needs where need.when == .ready && graph[need.job].service != nil { retire(need.job) }
  }

  /// Ends an unneeded service, including one whose requested end was deferred until now.
  mutating func retire(_ id: JobID) {
    let node = nodes[id.index]
    guard !state(id).isTerminal, !isNeeded(id) else { return }
    if node.isHeld, let ticket = node.ticket, let canceller = node.canceller {
      return request(id, ticket: ticket, by: canceller)
    }
    guard node.canceller == nil else { return }
    guard let ticket = node.ticket else {
      return end(id, attempts(id) > 0 ? .succeeded(upToDate: false) : .skipped(because: .unneeded))
    }
    nodes[id.index].canceller = .unneeded
    if state(id).isActive { request(id, ticket: ticket, by: .unneeded) } else { withdraw(id, ticket) }
  }

  private mutating func request(_ id: JobID, ticket: Int, by canceller: JobState.Canceller) {
    nodes[id.index].isHeld = false
    nodes[id.index].deadline = nil
    journal.state(.cancelRequested(id, by: canceller, kill: false))
    actions.append(.cancel(ticket: ticket))
  }

  /// Whether the end of an executing service must wait for jobs that need it.
  func mustOutlast(_ id: JobID) -> Bool {
    graph[id].service != nil && state(id).isActive && run.jobs[id.index].edges.contains { !state($0.job).isTerminal }
  }
}

extension Job {
  /// The policy for another attempt after a failed one; a service that is restarted has its own limit.
  var attemptPolicy: RetryPolicy {
    guard let service, service.restart != .never, retry.max == 0 else { return retry }
    return RetryPolicy(max: Service.restarts)
  }

  /// The failure of an attempt at its time limit.
  var excess: JobFailure {
    if let service {
      return JobFailure(.timedOut, "could not be used within \(DurationText.exact(service.limit))")
    }
    return JobFailure(.timedOut, "timed out" + (timeout.map { " after \(DurationText.exact($0))" } ?? ""))
  }

  /// How long an attempt may write nothing.
  var silence: Duration? {
    if case .shell(let work) = work { return work.silence }
    return nil
  }
}

extension Service {
  /// The restarts of a service whose job has no retry policy.
  static let restarts = 5
  /// How long a service serves until its restarts are counted anew: a later end is not the fault of its start.
  static let steadyTime: Duration = .seconds(10)
}

// MARK: Limits

extension Scheduler {
  /// Ends an attempt in progress with this failure, unless it is being ended already.
  mutating func endAttempt(of id: JobID, ticket: Int, because failure: JobFailure) {
    let node = nodes[id.index]
    if let canceller = node.canceller {
      // A service that was kept for other jobs, and that they can't use in time.
      if node.isHeld { request(id, ticket: ticket, by: canceller) }
      return
    }
    guard node.excess == nil else { return }
    nodes[id.index].excess = failure
    nodes[id.index].deadline = nil
    stateEnding(id, by: .timeout)
    actions.append(.cancel(ticket: ticket))
  }

  /// The time without output after which an attempt is ended.
  ///
  /// The output of a cluster job is polled, 16 times in its limit and each four seconds: it is seen that much later.
  func silenceLimit(of id: JobID) -> Duration? {
    let isPolled = graph[id].cluster != nil && graph.allocation == nil
    return graph[id].silence.map { isPolled ? $0 + min(.seconds(4), max(.milliseconds(250), $0 / 16)) : $0 }
  }

  mutating func watchSilence(_ id: JobID, until time: Duration) {
    nodes[id.index].silenceEnd = time
    setAlarm(id, at: time)
  }

  /// Ends an attempt that wrote nothing during its time of silence, unless it has written since the alarm was set.
  mutating func endSilence(_ id: JobID, ticket: Int) {
    guard let silence = graph[id].silence, let limit = silenceLimit(of: id) else { return }
    let end = (nodes[id.index].spokeAt ?? .zero) + limit
    if end > journal.now, nodes[id.index].spokeAt != nil { return watchSilence(id, until: end) }
    nodes[id.index].silenceEnd = nil
    let failure = JobFailure(.timedOut, "wrote nothing for \(DurationText.exact(silence))")
    endAttempt(of: id, ticket: ticket, because: failure)
  }
}
