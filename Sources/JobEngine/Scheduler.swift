import Basics
import JobModel

/// Decides which job runs next: inputs and commands change the run's journal and leave actions for the operation queue.
///
/// No thread, no clock, no operation. Jobs that cannot run yet wait here. A job is admitted to the operation queue when its
/// needs are met and its pools have room, at most `ahead` more than the width. Each admission has a ticket, which tells
/// late news of an earlier attempt apart.
struct Scheduler {
  struct Admission: Equatable {
    var ticket: Int
    var job: JobID
    var attempt: Int
    var priority: JobPriority
  }

  enum Action: Equatable {
    case admit(Admission)
    /// Take it back if it has not begun, and call `attemptWithdrawn`; otherwise `attemptStarted` will be called.
    case withdraw(ticket: Int)
    case cancel(ticket: Int)
    case kill(ticket: Int)
    case pause(ticket: Int)
    case resume(ticket: Int)
    case prioritize(ticket: Int, JobPriority)
    case setWidth(Int)
    case setSuspended(Bool)
  }

  struct Entry: Comparable {
    var level: Int
    var rank: Duration
    var order: Int
    var job: JobID
    var stamp: Int

    static func < (left: Entry, right: Entry) -> Bool {
      if left.level != right.level { return left.level > right.level }
      if left.rank != right.rank { return left.rank > right.rank }
      return left.order < right.order
    }
  }

  struct Alarm: Comparable {
    var time: Duration
    var job: JobID

    static func < (left: Alarm, right: Alarm) -> Bool { left.time < right.time }
  }

  /// The free units of a pool, and the ready jobs that have found too few of them, by the units that each needs.
  struct Pool {
    let name: String
    var free: Int
    var parked: [Int: Heap<Entry>] = [:]
  }

  let graph: JobGraph
  let journal: RunJournal
  let ranks: [Duration]
  let uses: [[(pool: Int, amount: Int)]]
  var nodes: [Node]
  var pools: [Pool]
  /// Whether a failure has ended the run, as the graph's policy says.
  var hasGivenUp = false
  var ready = Heap<Entry>()
  var alarms = Heap<Alarm>()
  var admitted: [Int: JobID] = [:]
  var nextTicket = 0
  var nextOrder = 0
  var random: SplitMix
  var actions: [Action] = []

  /// A scheduler of `graph`, whose slots must be set, that states its decisions in `journal`.
  init(_ graph: JobGraph, journal: RunJournal, seed: UInt64) {
    self.graph = graph
    self.journal = journal
    ranks = graph.schedule == .criticalPath ? CriticalPath.ranks(of: graph) : []
    pools = graph.pools.sorted { $0.key < $1.key }.map { Pool(name: $0.key, free: $0.value) }
    let index = Dictionary(uniqueKeysWithValues: pools.enumerated().map { ($1.name, $0) })
    uses = graph.jobs.map { job in
      job.uses.sorted { $0.key < $1.key }.compactMap { name, amount in index[name].map { ($0, amount) } }
    }
    nodes = Array(repeating: Node(), count: graph.jobs.count)
    random = SplitMix(seed: seed)
  }

  var run: Run { _read { yield journal.run } }

  func state(_ id: JobID) -> JobState { run.jobs[id.index].state }

  func isMet(_ id: JobID) -> Bool { run.jobs[id.index].unmetNeeds == 0 }

  /// Whether no attempt may begin any more, whatever its needs.
  var isClosed: Bool { run.stopping != nil || hasGivenUp }

  /// Attempts admitted, begun or not.
  var inQueue: Int { admitted.count }

  /// When `wake` must be called; nil if no job waits for an instant.
  var nextWake: Duration? {
    mutating get {
      while let alarm = alarms.first, !isDue(alarm) { _ = alarms.pop() }
      return alarms.first?.time
    }
  }

  /// Whether the job still waits for this alarm.
  private func isDue(_ alarm: Alarm) -> Bool {
    let node = nodes[alarm.job.index]
    if case .backingOff(alarm.time, _, _, _) = state(alarm.job) { return true }
    return node.deadline == alarm.time && node.ticket != nil
  }

  /// Whether an attempt with this ticket is still of interest.
  func job(of ticket: Int) -> JobID? { admitted[ticket] }

  mutating func takeActions() -> [Action] {
    defer { actions = [] }
    return actions
  }

  // MARK: Inputs

  /// States the run and its jobs, ends those that were done before, and admits those whose needs are met.
  mutating func start(_ start: RunStart, restored: [JobID: EarlierSuccess] = [:], inputs: [JobID: String] = [:]) {
    journal.state(.runStarted(start))
    for (index, job) in graph.jobs.enumerated() { journal.state(.jobAdded(JobID(index), job.stated)) }
    for index in nodes.indices {
      guard let success = restored[JobID(index)] else { continue }
      if let hash = inputs[JobID(index)] { journal.state(.inputsHashed(JobID(index), hash)) }
      journal.state(.jobRestored(JobID(index), success))
      set(JobID(index), .succeeded(upToDate: true))
    }
    // A restored job may rule out a need for its failure; a skip may make other jobs ready.
    for index in nodes.indices where state(JobID(index)) == .waiting { reconsider(JobID(index)) }
    admit()
  }

  mutating func attemptStarted(ticket: Int, pid: Int32?) {
    guard let id = admitted[ticket] else { return }
    nodes[id.index].isWithdrawing = false
    set(id, .executing, attempt: attempts(id) + 1, pid: pid)
    if let timeout = graph[id].timeout { arm(id, deadline: journal.now + timeout) }
    let node = nodes[id.index]
    if let canceller = node.canceller {
      journal.state(.cancelRequested(id, by: canceller, kill: node.mustKill))
      actions.append(node.mustKill ? .kill(ticket: ticket) : .cancel(ticket: ticket))
    } else if node.mustPause {
      pauseStarted(id, ticket: ticket)
    }
  }

  /// The program of an attempt that has started already has this process, which leads its group.
  mutating func attemptLaunched(ticket: Int, pid: Int32) {
    guard let id = admitted[ticket], state(id).isActive, run.jobs[id.index].attempt?.pid == nil else { return }
    journal.state(.jobState(id, state(id), attempt: attempts(id), pid: pid))
  }

  mutating func attemptWithdrawn(ticket: Int) {
    guard let id = admitted.removeValue(forKey: ticket) else { return }
    release(id)
    let node = nodes[id.index]
    if let canceller = node.canceller {
      end(id, .cancelled(by: canceller))
    } else if node.mustPause {
      nodes[id.index].mustPause = false
      set(id, .paused(started: false))
    } else {
      reconsider(id)
    }
    admit()
  }

  /// The program of an attempt was stopped by a signal of someone else, or continues.
  ///
  /// Its time limit is not suspended: a job that stops itself must not escape from it.
  mutating func attemptStopped(ticket: Int, isStopped: Bool) {
    guard let id = admitted[ticket], nodes[id.index].canceller == nil else { return }
    switch state(id) {
    case .executing where isStopped: set(id, .paused(started: true))
    case .paused(started: true) where !isStopped: set(id, .executing)
    default: break
    }
  }

  mutating func attemptEnded(ticket: Int, _ outcome: AttemptOutcome) {
    guard let id = admitted.removeValue(forKey: ticket) else { return }
    release(id)
    let node = nodes[id.index]
    nodes[id.index].deadline = nil
    nodes[id.index].timeLeft = nil
    nodes[id.index].mustPause = false
    switch outcome {
    case .succeeded:
      end(id, .succeeded(upToDate: false))
    case .upToDate:
      end(id, .succeeded(upToDate: true))
    case .failed(let failure):
      if let canceller = node.canceller { end(id, .cancelled(by: canceller)) } else { fail(id, failure) }
    case .cancelled:
      if let canceller = node.canceller {
        end(id, .cancelled(by: canceller))
      } else if node.hasTimedOut {
        let limit = graph[id].timeout.map { " after \(DurationText.exact($0))" } ?? ""
        fail(id, JobFailure(.timedOut, "timed out\(limit)"))
      } else {
        end(id, .cancelled(by: .policy))
      }
    }
    admit()
  }

  /// The journal's time has come to `nextWake`: back-offs end, deadlines pass.
  mutating func wake() {
    while let alarm = alarms.first, alarm.time <= journal.now {
      _ = alarms.pop()
      let node = nodes[alarm.job.index]
      if case .backingOff(alarm.time, _, _, _) = state(alarm.job) {
        reconsider(alarm.job)
      } else if node.deadline == alarm.time, let ticket = node.ticket {
        nodes[alarm.job.index].deadline = nil
        nodes[alarm.job.index].hasTimedOut = true
        actions.append(.cancel(ticket: ticket))
      }
    }
    admit()
  }

  // MARK: Moves

  /// Attempts that have begun, over the whole run.
  func attempts(_ id: JobID) -> Int { run.jobs[id.index].attempts.last?.number ?? 0 }

  mutating func set(_ id: JobID, _ state: JobState, attempt: Int? = nil, pid: Int32? = nil) {
    guard self.state(id) != state else { return }
    journal.state(.jobState(id, state, attempt: attempt ?? attempts(id), pid: pid))
  }

  mutating func fail(_ id: JobID, _ failure: JobFailure) {
    let policy = graph[id].retry
    let number = nodes[id.index].retries + 1
    guard number <= policy.max, policy.allows(failure), !isClosed, obstacle(to: id) == nil else {
      return end(id, .failed(failure, allowed: graph[id].allowFailure))
    }
    nodes[id.index].retries = number
    nodes[id.index].hasTimedOut = false
    let delay = policy.delay(beforeRetry: number, random: random.unit())
    let until = (journal.now + max(delay, failure.retryAfter ?? .zero)).wholeMicroseconds
    set(id, .backingOff(until: until, number: number, limit: policy.max, after: failure))
    setAlarm(id, at: until)
  }

  /// Ends a job, skips the jobs that can't start because of it, and applies the failure policy.
  mutating func end(_ id: JobID, _ state: JobState) {
    set(id, state)
    var ended = [id]
    while let id = ended.popLast() {
      let state = self.state(id)
      for edge in run.jobs[id.index].edges {
        let dependent = self.state(edge.job)
        guard !dependent.isTerminal, nodes[edge.job.index].ticket == nil else { continue }
        guard edge.when.isRuledOut(by: state) else {
          if dependent == .waiting, isMet(edge.job), !isClosed { makeReady(edge.job) }
          continue
        }
        set(edge.job, .skipped(because: .job(root(of: id))))
        ended.append(edge.job)
      }
    }
    if case .failed(_, allowed: false) = state, graph.onFailure != .keepGoing, !hasGivenUp {
      hasGivenUp = true
      cancelAll(by: .policy, kill: false, active: graph.onFailure == .stopNow)
    }
  }

  /// Has a job without an attempt in the queue wait, be ready or be skipped, as the states of its needs are now.
  mutating func reconsider(_ id: JobID) {
    if let cause = obstacle(to: id) {
      end(id, .skipped(because: .job(cause)))
    } else if isMet(id) {
      makeReady(id)
    } else {
      set(id, .waiting)
    }
  }

  /// The job because of which the needs of `id` can't be met any more, if there is one.
  func obstacle(to id: JobID) -> JobID? {
    let need = graph[id].needs.first { $0.when.isRuledOut(by: state($0.job)) }
    return need.map { root(of: $0.job) }
  }

  /// The job that is not skipped itself at the root of a chain of skips; it is a need of the others, so the chain ends.
  private func root(of id: JobID) -> JobID {
    var root = id
    while case .skipped(.job(let cause)) = state(root) { root = cause }
    return root
  }

  mutating func makeReady(_ id: JobID) {
    set(id, .ready(for: .slot))
    enqueue(id)
  }

  mutating func enqueue(_ id: JobID) {
    nodes[id.index].stamp += 1
    ready.push(entry(id))
    nextOrder += 1
  }

  func entry(_ id: JobID) -> Entry {
    Entry(
      level: graph.schedule == .fifo ? 0 : run.jobs[id.index].job.priority.level,
      rank: graph.schedule == .criticalPath ? ranks[id.index] : .zero, order: nextOrder, job: id,
      stamp: nodes[id.index].stamp)
  }

  mutating func arm(_ id: JobID, deadline: Duration) {
    nodes[id.index].deadline = deadline
    setAlarm(id, at: deadline)
  }

  /// Called once the job waits for the alarm.
  private mutating func setAlarm(_ id: JobID, at time: Duration) {
    alarms.push(Alarm(time: time, job: id))
    // The deadlines of attempts that have ended would stay until their time.
    if alarms.count > 2 * nodes.count { alarms = alarms.filter(isDue) }
  }

  mutating func withdraw(_ id: JobID, _ ticket: Int) {
    guard !nodes[id.index].isWithdrawing else { return }
    nodes[id.index].isWithdrawing = true
    actions.append(.withdraw(ticket: ticket))
  }

  // MARK: Admission

  /// How many attempts beyond the width may be in the operation queue: enough that a slot never waits for the engine.
  static let ahead = 16

  mutating func admit() {
    guard !isClosed, !run.isDraining else { return }
    while admitted.count < run.slots + Self.ahead, let entry = popReady() {
      let id = entry.job
      guard nodes[id.index].stamp == entry.stamp, case .ready(let room) = state(id) else { continue }
      if let use = uses[id.index].first(where: { pools[$0.pool].free < $0.amount }) {
        pools[use.pool].parked[use.amount, default: Heap()].push(entry)
        set(id, .ready(for: .pool(pools[use.pool].name)))
        continue
      }
      for use in uses[id.index] { pools[use.pool].free -= use.amount }
      if room != .slot { set(id, .ready(for: .slot)) }
      nodes[id.index].ticket = nextTicket
      admitted[nextTicket] = id
      actions.append(
        .admit(
          Admission(
            ticket: nextTicket, job: id, attempt: attempts(id) + 1, priority: run.jobs[id.index].job.priority)))
      nextTicket += 1
    }
  }

  /// Takes the first ready job; a job that waits for a pool counts only if the pool has its units now.
  private mutating func popReady() -> Entry? {
    var best = ready.first
    var place: (pool: Int, amount: Int)?
    for index in pools.indices {
      for (amount, parked) in pools[index].parked where amount <= pools[index].free {
        guard let entry = parked.first, best.map({ entry < $0 }) ?? true else { continue }
        best = entry
        place = (index, amount)
      }
    }
    guard let place else { return ready.pop() }
    return pools[place.pool].parked[place.amount]?.pop()
  }

  /// Ends the stay of an attempt in the operation queue.
  mutating func release(_ id: JobID) {
    nodes[id.index].ticket = nil
    nodes[id.index].isWithdrawing = false
    for use in uses[id.index] { pools[use.pool].free += use.amount }
  }

  /// One job's place in the schedule, beside what the run knows of it.
  struct Node {
    /// Retries since the job was first started, or a person last asked for one.
    var retries = 0
    var ticket: Int?
    /// Who has asked for the end of an admitted attempt, known before it is known whether that has begun.
    var canceller: JobState.Canceller?
    var mustKill = false
    var mustPause = false
    var hasTimedOut = false
    var deadline: Duration?
    /// How much of the deadline was left when the attempt was paused.
    var timeLeft: Duration?
    /// Grows whenever the job enters or leaves the ready ones, so that its old heap entries are void.
    var stamp = 0
    var isWithdrawing = false
  }
}
