import Basics
import JobModel

/// Decides which job runs next: inputs and commands change the run's journal and produce actions for the operation
/// queue.
///
/// The scheduler has no thread, no clock and no operations. Jobs that cannot run yet wait here. A job is admitted to
/// the operation queue when its needs are met and its pools have room, at most `ahead` more than the width. Each
/// admission has a ticket, which distinguishes late events of an earlier attempt.
package struct Scheduler {
  /// The settings of the scheduler that come neither from the graph nor from the run.
  struct Options {
    /// Decides the jitter of back-offs.
    var seed: UInt64 = 0
    /// Whether a user can approve jobs; otherwise jobs that ask for approval fail.
    var canAsk = true
    /// Jobs that are approved from the start.
    var approved: Set<JobID> = []
    /// Whether the resumed run has unfinished jobs outside this graph, so that the run as a whole is not a success.
    var leavesWork = false
    /// Whether the values of executed jobs are unknown, as in a rehearsal: conditions hold unless they can't with any.
    var assumesValues = false
    /// The maximum number of cluster jobs that are admitted at once.
    var clusterJobs = 1000
    /// Whether cluster jobs are steps of one allocation.
    var hasAllocation = false
    /// Whether inputs are watched from the start.
    var isWatching = false
  }

  enum Action: Equatable {
    case admit(Admission)
    /// Withdraw the attempt if it has not begun, and call `attemptWithdrawn`; otherwise `attemptStarted` will be
    /// called.
    case withdraw(ticket: Int)
    case cancel(ticket: Int)
    case kill(ticket: Int)
    case pause(ticket: Int)
    case resume(ticket: Int)
    case prioritize(ticket: Int, JobPriority)
    case setWidth(Int)
    case setSuspended(Bool)
    /// Request an allocation, and call `allocationHeld` or `allocationEnded`.
    case requestAllocation
    case releaseAllocation
  }

  struct Alarm: Comparable {
    var time: Duration
    var job: JobID

    static func < (left: Alarm, right: Alarm) -> Bool { left.time < right.time }
  }

  var graph: JobGraph
  let journal: RunJournal
  let options: Options
  /// The gate that each attempt passes when it starts.
  let gate = AttemptGate()
  /// True while the gate is being closed; the scheduler admits nothing then.
  private(set) var isClosing = false
  var ranks: [Duration]
  /// Whether the ranks of jobs differ.
  private(set) var ordersByRank: Bool
  /// How fast attempts end.
  var pace = AttemptPace(most: Self.ahead + 1)
  var nodes: [Node]
  var pools: Pools
  /// The counts of jobs that must end before the jobs of `finally` may start.
  var ending: FinalJobs
  /// Whether a failure has ended the run under the graph's policy.
  var hasGivenUp = false
  /// Whether a signal has ended the run, which then asks no more questions.
  var isUnattended = false
  var ready = Heap<ReadyJob>()
  /// Services, which need no slot.
  var readyServices = Heap<ReadyJob>()
  /// Cluster jobs, which need no slot of this machine.
  var readyClusterJobs = Heap<ReadyJob>()
  /// The jobs that have just ended, whose dependents must be checked.
  private var ended: [JobID] = []
  private var isSettling = false
  /// When the time limit of the whole run is reached.
  private var limit: Duration?
  var alarms = Heap<Alarm>()
  var admitted: [Int: JobID] = [:]
  /// The part of `admitted` that needs slots.
  var admittedToSlots = 0
  /// The part of `admitted` that the cluster executes.
  var admittedToCluster = 0
  /// The allocation whose steps are the cluster jobs; nil if they are separate jobs.
  var steps: NodeAllocator?
  var nextTicket = 0
  var nextOrder = 0
  var random: SplitMix
  var actions: [Action] = []

  /// A scheduler of `graph`, whose slots must be set, that states its decisions in `journal`.
  init(_ graph: JobGraph, journal: RunJournal, options: Options = Options()) {
    self.graph = graph
    self.journal = journal
    self.options = options
    let ranks = graph.schedule == .criticalPath ? CriticalPath.ranks(of: graph, slots: graph.slots ?? 1) : []
    self.ranks = ranks
    ordersByRank = ranks.contains { $0 != ranks[0] }
    pools = Pools(graph)
    ending = FinalJobs(graph)
    nodes = Array(repeating: Node(), count: graph.jobs.count)
    random = SplitMix(seed: options.seed)
    steps = options.hasAllocation ? NodeAllocator() : nil
  }

  var run: Run { _read { yield journal.run } }

  func state(_ id: JobID) -> JobState { run.jobs[id.index].state }

  func isMet(_ id: JobID) -> Bool {
    run.jobs[id.index].unmetNeeds == 0 && (graph[id].finally == nil || ending.haveBegun)
  }

  /// Whether no attempt of the job may begin any longer, whatever its needs; a job of `finally` may until the run is
  /// killed.
  func isClosed(to id: JobID) -> Bool {
    if graph[id].finally != nil { return run.stopping?.level == .kill }
    return run.stopping != nil || hasGivenUp
  }

  /// Attempts admitted, begun or not.
  var inQueue: Int { admitted.count }

  /// When `wake` must be called; nil if no job waits for a time.
  var nextWake: Duration? {
    mutating get {
      while let alarm = alarms.first, !isDue(alarm) { _ = alarms.pop() }
      return [alarms.first?.time, limit].compactMap(\.self).min()
    }
  }

  /// Whether the job still waits for this alarm.
  private func isDue(_ alarm: Alarm) -> Bool {
    let node = nodes[alarm.job.index]
    if case .backingOff(alarm.time, _, _, _) = state(alarm.job) { return true }
    return (node.deadline == alarm.time || node.silenceEnd == alarm.time) && node.ticket != nil
  }

  /// The job of an admitted attempt; nil if the ticket is no longer valid.
  func job(of ticket: Int) -> JobID? { admitted[ticket] }

  var hasActions: Bool { !actions.isEmpty }

  mutating func takeActions() -> [Action] {
    defer { actions = [] }
    return actions
  }

  // MARK: Inputs

  /// States the run and its jobs, ends jobs that were done before, and admits the ones whose needs are met.
  mutating func start(_ start: RunStart, restored: [JobID: EarlierSuccess] = [:], inputs: [JobID: String] = [:]) {
    journal.state(.runStarted(start))
    limit = start.timeout.map { journal.now + $0 }
    for (index, job) in graph.jobs.enumerated() { journal.state(.jobAdded(JobID(index), job.stated)) }
    if options.isWatching { journal.state(.watchChanged(true, fault: nil)) }
    for index in nodes.indices {
      guard var success = restored[JobID(index)] else { continue }
      if let values = success.outputs, !values.isEmpty { journal.state(.jobOutputs(JobID(index), values)) }
      success.outputs = [:]
      if let hash = inputs[JobID(index)] { journal.state(.inputsHashed(JobID(index), hash)) }
      journal.state(.jobRestored(JobID(index), success))
      set(JobID(index), .succeeded(upToDate: true))
    }
    if !restored.isEmpty { for id in ending.services { retire(id) } }
    let manual = nodes.indices.map { JobID($0) }.filter { graph[$0].isManual && state($0) == .waiting }
    end(manual, .skipped(because: .manual))
    // A restored job may rule out a need for its failure; a skip may make other jobs ready.
    for index in nodes.indices where state(JobID(index)) == .waiting { reconsider(JobID(index)) }
    beginFinalJobsIfDue()
    admit()
  }

  /// Adds jobs without needs to a run that began open.
  mutating func add(_ jobs: [Job]) {
    guard run.isOpen else { return }
    extend(by: jobs)
  }

  /// Why no job may be added to the run; nil where some may.
  var closure: String? {
    if run.isComplete { return "all of its jobs have ended" }
    if ending.haveBegun { return "its jobs of 'finally' have begun, which follow all others" }
    if run.stopping != nil { return "it is being stopped" }
    if hasGivenUp { return "a failure has ended it: on_failure is \(graph.onFailure.rawValue)" }
    return nil
  }

  /// Adds jobs whose needs are jobs of the run, ended or not, or of `jobs`, and pools that it lacks.
  ///
  /// Jobs that may not start any more are cancelled, so that a run that resumes this one has them.
  mutating func extend(by jobs: [Job], pools new: [String: Int] = [:]) {
    for (name, size) in new.sorted(by: { $0.key < $1.key }) where pools.add(name, size) {
      journal.state(.poolChanged(name, size))
    }
    let first = nodes.count
    if graph.schedule == .criticalPath {
      ranks += CriticalPath.ranks(of: jobs, from: first)
      ordersByRank = ordersByRank || ranks[first...].contains { $0 != ranks[0] }
    }
    for job in jobs {
      ending.append(job)
      graph.jobs.append(job)
      pools.append(job)
      nodes.append(Node())
      journal.state(.jobAdded(JobID(nodes.count - 1), job.stated))
    }
    let ids = (first..<nodes.count).map { JobID($0) }
    var users = ids.filter { graph[$0].finally != nil }
    while let id = users.popLast() {
      users += graph[id].needs.map(\.job).filter { ending.keep($0, isOpen: !state($0).isTerminal) }
    }
    end(ids.filter { isClosed(to: $0) }, .cancelled(by: run.stopping?.by ?? .policy))
    end(ids.filter { graph[$0].isManual && state($0) == .waiting }, .skipped(because: .manual))
    startServices(neededBy: ids)
    for id in ids where state(id) == .waiting { reconsider(id) }
    admit()
  }

  /// Notes that no further job is added.
  mutating func endArrivals() {
    guard run.isOpen else { return }
    journal.state(.arrivalsEnded)
    beginFinalJobsIfDue()
    admit()
  }

  /// Notes the start of an attempt; only the process has an effect if the start is stated already, as by the end of a
  /// run.
  ///
  /// The time limit of the attempt includes `executedFor`, the time that the cluster has executed it before.
  mutating func attemptStarted(ticket: Int, pid: Int32?, executedFor: Duration = .zero) {
    guard let id = admitted[ticket] else { return }
    if state(id).isActive {
      if let pid { attemptLaunched(ticket: ticket, pid: pid) }
      return
    }
    gate.tell(ticket)
    let isTakenBack = nodes[id.index].isWithdrawing && nodes[id.index].canceller == nil
    // A local job, or a step, that has begun can't be withdrawn: it continues.
    nodes[id.index].isTakenBack = isTakenBack && graph[id].cluster != nil && steps == nil
    nodes[id.index].isWithdrawing = false
    // The cluster job was held too late.
    if state(id) == .paused(started: false), !nodes[id.index].isTakenBack { nodes[id.index].mustPause = true }
    set(id, .executing, attempt: attempts(id) + (nodes[id.index].isRequeued ? 0 : 1), pid: pid)
    nodes[id.index].isRequeued = false
    nodes[id.index].earlier = nil
    nodes[id.index].isRepeated = false
    if let time = graph[id].service.map(\.limit) ?? graph[id].timeout {
      arm(id, deadline: journal.now + max(.zero, time - executedFor))
    }
    if let silence = silenceLimit(of: id) { watchSilence(id, until: journal.now + silence) }
    if let service = graph[id].service, service.probe == nil { serviceIsReady(ticket: ticket) }
    let node = nodes[id.index]
    if let canceller = node.canceller {
      journal.state(.cancelRequested(id, by: canceller, kill: node.mustKill))
      actions.append(node.mustKill ? .kill(ticket: ticket) : .cancel(ticket: ticket))
    } else if node.mustPause, !node.isTakenBack {
      pauseStarted(id, ticket: ticket)
    }
  }

  /// Notes that an attempt was submitted to the cluster and has not started, with the reason of the cluster's
  /// scheduler.
  mutating func attemptWaits(ticket: Int, reason: String?) {
    guard let id = admitted[ticket], nodes[id.index].canceller == nil, case .ready = state(id) else { return }
    set(id, .ready(for: .cluster(reason: reason)))
  }

  /// Notes that the cluster will execute an attempt again from its beginning; false if the attempt is being ended.
  mutating func attemptRequeued(ticket: Int) -> Bool {
    guard let id = admitted[ticket], nodes[id.index].canceller == nil, nodes[id.index].excess == nil,
      state(id) == .executing || nodes[id.index].isSuspended && !nodes[id.index].mustPause
    else { return false }
    (nodes[id.index].deadline, nodes[id.index].silenceEnd, nodes[id.index].timeLeft) = (nil, nil, nil)
    nodes[id.index].isSuspended = false
    nodes[id.index].isRequeued = true
    set(id, .ready(for: .cluster(reason: nil)))
    return true
  }

  /// Notes the process of an attempt that has started already; the process leads its group.
  mutating func attemptLaunched(ticket: Int, pid: Int32) {
    guard let id = admitted[ticket], state(id).isActive, run.jobs[id.index].attempt?.pid == nil else { return }
    journal.state(.jobLaunched(id, pid: pid))
  }

  mutating func attemptWithdrawn(ticket: Int) {
    guard let id = admitted.removeValue(forKey: ticket) else { return }
    release(id)
    gate.leave(ticket)
    let node = nodes[id.index]
    nodes[id.index].isRequeued = false
    nodes[id.index].mustPause = false
    if node.canceller == .unneeded {
      end(id, .skipped(because: .unneeded))
    } else if let cause = obstacle(to: id) {
      // As the dependents that were not in the operation queue, whatever has happened since.
      end(id, .skipped(because: .job(cause)))
    } else if let canceller = node.canceller {
      end(id, .cancelled(by: canceller))
    } else {
      reconsider(id, isPaused: node.mustPause)
    }
    admit()
  }

  /// Notes that an attempt's program was stopped by a signal from elsewhere, or that it continues.
  ///
  /// The time limit is not suspended: a job that stops itself must not escape it.
  mutating func attemptStopped(ticket: Int, isStopped: Bool) {
    guard let id = admitted[ticket], nodes[id.index].canceller == nil, nodes[id.index].excess == nil else { return }
    switch state(id) {
    case .executing where isStopped, .serving where isStopped:
      set(id, .paused(started: true))
      if graph[id].service != nil { holdDependents(of: id) }
    case .paused(started: true) where !isStopped:
      nodes[id.index].mustPause = false
      if nodes[id.index].isReady { serve(id) } else { set(id, .executing) }
    default: break
    }
    admit()
  }

  /// Notes that the cluster has suspended an attempt, and with it its limits, or has continued it.
  mutating func attemptSuspended(ticket: Int, isSuspended: Bool) {
    guard let id = admitted[ticket], state(id).isActive, nodes[id.index].isSuspended != isSuspended else { return }
    nodes[id.index].isSuspended = isSuspended
    // A person's pause, and the end of the attempt, have suspended its limits already.
    guard nodes[id.index].canceller == nil, nodes[id.index].excess == nil, !nodes[id.index].mustPause else { return }
    if isSuspended { suspend(id) } else { proceed(id) }
    admit()
  }

  /// Notes the end of an attempt; with `outputMatches`, a line of its output matched a pattern of the retry policy.
  mutating func attemptEnded(ticket: Int, _ outcome: AttemptOutcome, outputMatches: Bool = false) {
    guard let id = admitted.removeValue(forKey: ticket) else { return }
    release(id)
    pace.ended(at: journal.now)
    settle(id, outcome, outputMatches: outputMatches)
    gate.leave(ticket)
    admit()
  }

  private mutating func settle(_ id: JobID, _ outcome: AttemptOutcome, outputMatches: Bool) {
    let node = nodes[id.index]
    if let readyAt = node.readyAt, journal.now - readyAt >= Service.steadyTime { nodes[id.index].retries = 0 }
    nodes[id.index].readyAt = nil
    nodes[id.index].deadline = nil
    nodes[id.index].silenceEnd = nil
    nodes[id.index].timeLeft = nil
    nodes[id.index].mustPause = false
    nodes[id.index].isTakenBack = false
    nodes[id.index].isSuspended = false
    nodes[id.index].isReady = false
    nodes[id.index].isHeld = false
    // A service that was asked to end because no job needs it has succeeded, however it ended.
    if node.canceller == .unneeded { return end(id, .succeeded(upToDate: false)) }
    if node.canceller == .restart { return begin(again: id, isPaused: node.mustPause) }
    switch outcome {
    case .succeeded where graph[id].service != nil && node.canceller == nil:
      serviceEnded(id)
    case .succeeded:
      end(id, .succeeded(upToDate: false))
    case .upToDate:
      end(id, .succeeded(upToDate: true))
    case .failed, .cancelled:
      if let canceller = node.canceller {
        // At a limit of the attempt, a cancellation only prevents the next attempt.
        if let excess = node.excess, canceller != .timeout, !prevents(canceller, id, excess, outputMatches) {
          end(id, .failed(excess, allowed: graph[id].allowFailure))
        } else {
          end(id, ending(of: id, cancelledBy: canceller))
        }
      } else if case .failed(let failure) = outcome {
        fail(id, failure, outputMatches: outputMatches)
      } else if let excess = node.excess {
        fail(id, excess, outputMatches: outputMatches)
      } else if node.isTakenBack, !isClosed(to: id) {
        // Not as one that the cluster has requeued: its next attempt is submitted again.
        set(id, .waiting)
        reconsider(id, isPaused: node.mustPause)
      } else {
        end(id, .cancelled(by: .policy))
      }
    }
  }

  /// The limit that made the engine cancel the attempt; nil if the attempt has another canceller.
  func excess(of ticket: Int) -> JobFailure? {
    guard let id = admitted[ticket], nodes[id.index].canceller == nil else { return nil }
    return nodes[id.index].excess
  }

  /// The state of a cancelled job.
  ///
  /// A job that was executing or awaited a retry at the run's time limit has failed, whether or not it may: the run has.
  func ending(of id: JobID, cancelledBy canceller: JobState.Canceller) -> JobState {
    guard canceller == .timeout else { return .cancelled(by: canceller) }
    let limit = run.start?.timeout.map { " of \(DurationText.exact($0))" } ?? ""
    var last = ""
    if case .backingOff(_, _, _, let failure) = state(id) { last = ", after \(failure.reason)" }
    return .failed(JobFailure(.timedOut, "the time limit of the run\(limit) was over\(last)"), allowed: false)
  }

  /// Notes that an attempt has written output.
  mutating func attemptSpoke(ticket: Int) {
    guard let id = admitted[ticket], nodes[id.index].silenceEnd != nil else { return }
    nodes[id.index].spokeAt = journal.now
  }

  /// Handles the time of `nextWake`: back-offs end and deadlines pass.
  mutating func wake() {
    if let end = limit, end <= journal.now {
      limit = nil
      stop(.terminate, by: .timeout)
    }
    while let alarm = alarms.first, alarm.time <= journal.now {
      _ = alarms.pop()
      let node = nodes[alarm.job.index]
      if case .backingOff(alarm.time, _, _, _) = state(alarm.job) {
        reconsider(alarm.job)
      } else if node.deadline == alarm.time, let ticket = node.ticket {
        nodes[alarm.job.index].deadline = nil
        endAttempt(of: alarm.job, ticket: ticket, because: graph[alarm.job].excess)
      } else if node.silenceEnd == alarm.time, let ticket = node.ticket {
        endSilence(alarm.job, ticket: ticket)
      }
    }
    admit()
  }

  // MARK: Moves

  /// The number of attempts that have begun, over the whole run.
  func attempts(_ id: JobID) -> Int { run.jobs[id.index].attempts.last?.number ?? 0 }

  mutating func set(_ id: JobID, _ state: JobState, attempt: Int? = nil, pid: Int32? = nil) {
    let old = self.state(id)
    guard old != state else { return }
    ending.moved(id, from: old, to: state)
    journal.state(.jobState(id, state, attempt: attempt ?? attempts(id), pid: pid))
  }

  mutating func fail(_ id: JobID, _ failure: JobFailure, outputMatches: Bool = false) {
    guard mayRetry(id, after: failure, outputMatches), !isClosed(to: id) else {
      return end(id, .failed(failure, allowed: graph[id].allowFailure))
    }
    let policy = graph[id].attemptPolicy
    let number = nodes[id.index].retries + 1
    nodes[id.index].retries = number
    nodes[id.index].excess = nil
    let delay = policy.delay(beforeRetry: number, random: random.unit())
    let until = (journal.now + max(delay, failure.retryAfter ?? .zero)).wholeMicroseconds
    set(id, .backingOff(until: until, number: number, limit: policy.max, after: failure))
    setAlarm(id, at: until)
    // A service may have been in use a moment ago.
    if graph[id].service != nil { holdDependents(of: id) }
  }

  /// Whether the retry policy and the needs of the job let another attempt follow this failure.
  private func mayRetry(_ id: JobID, after failure: JobFailure, _ outputMatches: Bool) -> Bool {
    let policy = graph[id].attemptPolicy
    return nodes[id.index].retries < policy.max && policy.allows(failure, outputMatches: outputMatches)
      && obstacle(to: id) == nil
  }

  /// Whether another attempt would follow this failure if the job had not been cancelled, by itself or with the run.
  private func prevents(
    _ canceller: JobState.Canceller, _ id: JobID, _ failure: JobFailure, _ outputMatches: Bool
  ) -> Bool {
    let wasClosed = hasGivenUp && canceller != .policy && graph[id].finally == nil
    return !wasClosed && mayRetry(id, after: failure, outputMatches)
  }

  /// Ends a job, skips the jobs that can't start because of it, and applies the failure policy.
  ///
  /// Uses a loop instead of recursion, because a chain of jobs may have any length.
  mutating func end(_ id: JobID, _ state: JobState) { end(CollectionOfOne(id), state) }

  /// Ends several jobs before their dependents are checked, so that none of them starts because of another.
  mutating func end(_ ids: some Sequence<JobID>, _ state: JobState) {
    for id in ids {
      if closesRun(id, state) { close(to: .final) }
      set(id, state)
      ended.append(id)
    }
    guard !isSettling else { return }
    isSettling = true
    while let id = ended.popLast() { settleDependents(of: id) }
    isSettling = false
    beginFinalJobsIfDue()
  }

  private mutating func settleDependents(of id: JobID) {
    let state = self.state(id)
    for edge in run.jobs[id.index].edges {
      let dependent = self.state(edge.job)
      guard !dependent.isTerminal else { continue }
      if let ticket = nodes[edge.job.index].ticket {
        // Admitted while its needs were met, it is skipped if it has not begun.
        if edge.when.isRuledOut(by: state), !dependent.isActive { withdraw(edge.job, ticket) }
        continue
      }
      guard edge.when.isRuledOut(by: state) else {
        if dependent == .waiting, isMet(edge.job), !isClosed(to: edge.job) { makeReady(edge.job) }
        continue
      }
      set(edge.job, .skipped(because: .job(root(of: id))))
      ended.append(edge.job)
    }
    retireServices(neededBy: id)
    if closesRun(id, state) {
      hasGivenUp = true
      cancelAll(by: .policy, kill: false, active: graph.onFailure == .stopNow)
    }
  }

  /// Whether this end of a job is the failure that ends the run under the graph's policy.
  private func closesRun(_ id: JobID, _ state: JobState) -> Bool {
    // A run that is being stopped is closed, and its services end in order.
    guard case .failed(_, allowed: false) = state, !hasGivenUp, run.stopping == nil else { return false }
    // Asked before and after the end is stated.
    let failures = run.counts.failed + (self.state(id) == state ? 0 : 1)
    guard failures >= graph.failureLimit else { return false }
    return graph.onFailure != .keepGoing && graph[id].finally == nil
  }

  /// Closes the gate, then states the starts of all attempts that passed it earlier.
  mutating func close(to stand: AttemptGate.Stand) {
    let wasClosing = isClosing
    isClosing = true
    gate.close(to: stand)
    for ticket in gate.takePassed() { attemptStarted(ticket: ticket, pid: nil) }
    isClosing = wasClosing
  }

  /// Makes a job without an attempt in the queue wait, be ready or be skipped, according to the states of its needs.
  ///
  /// With `isPaused`, one that is not skipped waits for a person.
  mutating func reconsider(_ id: JobID, isPaused: Bool = false) {
    if let cause = obstacle(to: id) {
      end(id, .skipped(because: .job(cause)))
    } else if isPaused {
      set(id, .paused(started: false))
    } else if isMet(id) {
      makeReady(id)
    } else {
      set(id, .waiting)
    }
  }

  /// The job that prevents the needs of `id` from ever being met, if there is one.
  func obstacle(to id: JobID) -> JobID? {
    let need = graph[id].needs.first { $0.when.isRuledOut(by: state($0.job)) }
    return need.map { root(of: $0.job) }
  }

  /// The job at the root of a chain of skips, which is not skipped itself; it is a need of the others, so the chain
  /// ends.
  private func root(of id: JobID) -> JobID {
    var root = id
    while case .skipped(.job(let cause)) = state(root) { root = cause }
    return root
  }

  mutating func makeReady(_ id: JobID) {
    if !holds(graph[id].condition, of: id) { return end(id, .skipped(because: .condition)) }
    if lacksFailure(id) { return end(id, .skipped(because: .outcome)) }
    if isUnneeded(id) { return end(id, .skipped(because: .unneeded)) }
    if mustAsk(id) {
      guard options.canAsk else {
        return end(id, .failed(JobFailure(.approval, "needs approval, and no person can give it here"), allowed: false))
      }
      return isUnattended ? end(id, .cancelled(by: .signal)) : set(id, .ready(for: .person))
    }
    set(id, .ready(for: room(for: id)))
    enqueue(id)
  }

  /// Whether a person must approve the job: for the first time, or because its question or work has other values now.
  private func mustAsk(_ id: JobID) -> Bool {
    guard graph[id].approval != nil, !options.approved.contains(id) else { return false }
    return nodes[id.index].approved != run.values(of: graph[id].outputsToApprove)
  }

  /// Whether the job has needs of the kind `anyFailed`, and none of these jobs failed.
  private func lacksFailure(_ id: JobID) -> Bool {
    var needsFailure = false
    for need in graph[id].needs where need.when == .anyFailed {
      if JobNeed.Condition.failed.isMet(by: state(need.job)) { return false }
      needsFailure = true
    }
    return needsFailure
  }

  /// The room that a job waits for once all of its needs are met.
  func room(for id: JobID) -> JobState.Room { graph[id].cluster == nil ? .slot : .cluster(reason: steps?.reason) }

  private func holds(_ condition: JobCondition?, of id: JobID) -> Bool {
    guard let condition else { return true }
    let outputs = graph[id].outputs
    let values = outputs.map { ($0.text, run.jobs[$0.job.index].outputs[$0.name] ?? "") }
    let unknown = options.assumesValues ? outputs.filter { attempts($0.job) > 0 }.map(\.text) : []
    return condition.mayHold(without: unknown) { $0.replacing(values) }
  }

  /// The priority of a job, which counts nothing in the order of the file.
  func urgency(of id: JobID) -> JobPriority { graph.schedule == .fifo ? .normal : run.jobs[id.index].job.priority }

  /// Adds a job to the ready ones; `order` keeps the place of a job that has waited before.
  mutating func enqueue(_ id: JobID, order: Int? = nil) {
    nodes[id.index].stamp += 1
    nodes[id.index].order = order ?? nextOrder
    let entry = ReadyJob(
      level: urgency(of: id).level,
      rank: graph.schedule == .criticalPath ? ranks[id.index] : .zero, order: nodes[id.index].order, job: id,
      lane: graph[id].lane, stamp: nodes[id.index].stamp)
    switch entry.lane {
    case .slots: ready.push(entry)
    case .services: readyServices.push(entry)
    case .cluster: readyClusterJobs.push(entry)
    }
    nextOrder += 1
  }

  mutating func arm(_ id: JobID, deadline: Duration) {
    nodes[id.index].deadline = deadline
    setAlarm(id, at: deadline)
  }

  /// Sets an alarm; called once the job waits for it.
  mutating func setAlarm(_ id: JobID, at time: Duration) {
    alarms.push(Alarm(time: time, job: id))
    // Otherwise the deadlines of ended attempts would stay until their time.
    if alarms.count > 2 * nodes.count { alarms = alarms.filter(isDue) }
  }

  mutating func withdraw(_ id: JobID, _ ticket: Int) {
    guard !nodes[id.index].isWithdrawing else { return }
    nodes[id.index].isWithdrawing = true
    actions.append(.withdraw(ticket: ticket))
  }

  /// One job's place in the schedule, in addition to the run's record of it.
  struct Node {
    /// Retries since the job was first started, or since a user last requested one.
    var retries = 0
    var ticket: Int?
    /// Increases whenever the job enters or leaves the ready ones, so that its old heap entries are void.
    var stamp = 0
    /// Its place among the ready ones of the same urgency.
    var order = 0
    /// Who has requested the end of an admitted attempt, set before it is known whether the attempt has begun.
    var canceller: JobState.Canceller?
    var mustKill = false
    /// Whether a person has paused the attempt, or has asked for it before it is known whether it has begun; an attempt
    /// that takes its place is paused too.
    var mustPause = false
    /// Whether a person has asked for an attempt after a success, which no check of files replaces.
    var isRepeated = false
    /// Whether the attempt of a service can be used.
    var isReady = false
    /// Whether a service that is to end waits for the jobs that need it.
    var isHeld = false
    var isWithdrawing = false
    /// Whether the cluster will execute the attempt once more.
    var isRequeued = false
    /// Whether the cluster has suspended the attempt.
    var isSuspended = false
    /// Whether the attempt has started in the cluster although it was to be withdrawn, and will be ended for that.
    var isTakenBack = false
    private var rare: Shared<Rare>?

    /// Only for jobs with a limit, services, approved jobs, and jobs whose inputs are watched.
    private struct Rare {
      var excess: JobFailure?
      var deadline: Duration?
      var silenceEnd: Duration?
      var spokeAt: Duration?
      var readyAt: Duration?
      var earlier: EarlierAttempt?
      var read: [String: String] = [:]
      var echo: InputEcho?
      var timeLeft: Duration?
      var approved: [String: String]?
    }

    private mutating func change(_ body: (inout Rare) -> Void) {
      var all = rare.take() ?? Shared(Rare())
      body(&all.value)
      rare = all
    }

    /// The limit that the attempt in progress has exceeded.
    var excess: JobFailure? {
      get { rare?.value.excess }
      set { if newValue != excess { change { $0.excess = newValue } } }
    }
    var deadline: Duration? {
      get { rare?.value.deadline }
      set { if newValue != deadline { change { $0.deadline = newValue } } }
    }
    /// When the attempt is ended if it writes nothing more.
    var silenceEnd: Duration? {
      get { rare?.value.silenceEnd }
      set { if newValue != silenceEnd { change { $0.silenceEnd = newValue } } }
    }
    var spokeAt: Duration? {
      get { rare?.value.spokeAt }
      set { if newValue != spokeAt { change { $0.spokeAt = newValue } } }
    }
    /// When the attempt in progress of a service could be used.
    var readyAt: Duration? {
      get { rare?.value.readyAt }
      set { if newValue != readyAt { change { $0.readyAt = newValue } } }
    }
    /// The attempt whose inputs have changed since; nil where the next attempt does not answer a change.
    var earlier: EarlierAttempt? {
      get { rare?.value.earlier }
      set { if newValue != earlier { change { $0.earlier = newValue } } }
    }
    /// The values of other jobs with which its newest attempt was admitted, by the references to them.
    var read: [String: String] {
      get { rare?.value.read ?? [:] }
      set { if newValue != read { change { $0.read = newValue } } }
    }
    /// The changes of its inputs that it may have made itself.
    var echo: InputEcho? {
      get { rare?.value.echo }
      set { if newValue != echo { change { $0.echo = newValue } } }
    }
    /// How much of the deadline was left when the attempt was paused.
    var timeLeft: Duration? {
      get { rare?.value.timeLeft }
      set { if newValue != timeLeft { change { $0.timeLeft = newValue } } }
    }
    /// The values for its question and work with which a user has approved the job.
    var approved: [String: String]? {
      get { rare?.value.approved }
      set { if newValue != approved { change { $0.approved = newValue } } }
    }

    /// Forgets the attempts so far: the next one is like a first.
    mutating func forgetAttempts() {
      (retries, canceller, mustKill, excess) = (0, nil, false, nil)
    }
  }
}
