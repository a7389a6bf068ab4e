import Basics
import JobModel

/// Decides what runs next: facts and commands in, actions out; no thread, no clock, no operation.
///
/// What waits, waits here. A job is admitted to the operation queue when its needs are met and its pools have room, at
/// most a small window more than the width. Each admission has a ticket, so that late news of an old one is told apart.
struct Scheduler {
  struct Admission: Equatable {
    var ticket: Int
    var job: JobID
    var attempt: Int
    var priority: JobPriority
  }

  enum Action: Equatable {
    case fact(JobFact)
    case admit(Admission)
    /// Take it back if it has not begun, and say so with `withdrawn`; otherwise `started` is on its way.
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

  let graph: JobGraph
  let dependents: [[JobGraph.Dependent]]
  let ranks: [Duration]
  let pools: [String]
  let uses: [[(pool: Int, amount: Int)]]
  var nodes: [Node]
  var slots: Int
  var isDraining = false
  var stopping: StopLevel?
  /// Why nothing that has not begun may begin any more, whatever its needs.
  var isClosed: Bool { stopping != nil || hasGivenUp }
  var hasGivenUp = false
  var free: [Int]
  var ready = Heap<Entry>()
  var parked: [Heap<Entry>]
  var alarms = Heap<Alarm>()
  var admitted: [Int: JobID] = [:]
  var nextTicket = 0
  var nextOrder = 0
  var random: SplitMix
  var actions: [Action] = []

  init(_ graph: JobGraph, slots: Int, seed: UInt64) {
    self.graph = graph
    self.slots = slots
    dependents = graph.dependents
    ranks = graph.schedule == .criticalPath ? CriticalPath.ranks(of: graph) : []
    let pools = graph.pools.keys.sorted()
    self.pools = pools
    let index = Dictionary(uniqueKeysWithValues: pools.enumerated().map { ($1, $0) })
    uses = graph.jobs.map { job in
      job.uses.sorted { $0.key < $1.key }.compactMap { name, amount in index[name].map { ($0, amount) } }
    }
    nodes = graph.jobs.map { Node(unmet: $0.needs.count, priority: $0.priority) }
    free = pools.map { graph.pools[$0] ?? 0 }
    parked = Array(repeating: Heap<Entry>(), count: pools.count)
    random = SplitMix(seed: seed)
  }

  /// Attempts admitted, begun or not.
  var inQueue: Int { admitted.count }

  /// When `wake` wants to be called; nil while nothing waits for time.
  var nextWake: Duration? {
    mutating get {
      while let alarm = alarms.first, !isDue(alarm) { _ = alarms.pop() }
      return alarms.first?.time
    }
  }

  /// Whether the job still waits for this alarm.
  private func isDue(_ alarm: Alarm) -> Bool {
    let node = nodes[alarm.job.index]
    if case .backingOff(alarm.time, _, _, _) = node.state { return true }
    return node.deadline == alarm.time && node.ticket != nil
  }

  /// Whether an attempt with this ticket is still of interest.
  func job(of ticket: Int) -> JobID? { admitted[ticket] }

  mutating func takeActions() -> [Action] {
    defer { actions = [] }
    return actions
  }

  // MARK: Inputs

  mutating func start() {
    for index in nodes.indices where nodes[index].unmet == 0 { makeReady(JobID(index)) }
    admit()
  }

  mutating func attemptStarted(ticket: Int, pid: Int32?, now: Duration) {
    guard let id = admitted[ticket] else { return }
    nodes[id.index].attempts += 1
    nodes[id.index].isWithdrawing = false
    set(id, .executing, pid: pid)
    if let timeout = graph[id].timeout { arm(id, deadline: now + timeout) }
    let node = nodes[id.index]
    if let canceller = node.canceller {
      actions.append(.fact(.cancelRequested(id, by: canceller, kill: node.mustKill)))
      actions.append(node.mustKill ? .kill(ticket: ticket) : .cancel(ticket: ticket))
    } else if node.mustPause {
      pauseStarted(id, ticket: ticket, now: now)
    }
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
      makeReady(id)
    }
    admit()
  }

  mutating func attemptEnded(ticket: Int, _ outcome: AttemptOutcome, now: Duration) {
    guard let id = admitted.removeValue(forKey: ticket) else { return }
    release(id)
    let node = nodes[id.index]
    nodes[id.index].deadline = nil
    nodes[id.index].timeLeft = nil
    nodes[id.index].mustPause = false
    switch outcome {
    case .succeeded:
      end(id, .succeeded(upToDate: false))
    case .failed(let failure):
      if let canceller = node.canceller { end(id, .cancelled(by: canceller)) } else { fail(id, failure, now: now) }
    case .cancelled:
      if let canceller = node.canceller {
        end(id, .cancelled(by: canceller))
      } else if node.hasTimedOut {
        let limit = graph[id].timeout.map { " after \(DurationText.exact($0))" } ?? ""
        fail(id, JobFailure(.timedOut, "timed out\(limit)"), now: now)
      } else {
        end(id, .cancelled(by: .policy))
      }
    }
    admit()
  }

  /// Time has come to `now`: back-offs end, deadlines pass.
  mutating func wake(now: Duration) {
    while let alarm = alarms.first, alarm.time <= now {
      _ = alarms.pop()
      let node = nodes[alarm.job.index]
      if case .backingOff(alarm.time, _, _, _) = node.state {
        makeReady(alarm.job)
      } else if node.deadline == alarm.time, let ticket = node.ticket {
        nodes[alarm.job.index].deadline = nil
        nodes[alarm.job.index].hasTimedOut = true
        actions.append(.cancel(ticket: ticket))
      }
    }
    admit()
  }

  // MARK: Moves

  mutating func set(_ id: JobID, _ state: JobState, pid: Int32? = nil) {
    let old = nodes[id.index].state
    guard old != state else { return }
    nodes[id.index].state = state
    actions.append(.fact(.jobState(id, state, attempt: nodes[id.index].attempts, pid: pid)))
    let isSettledAlike =
      old.isTerminal == state.isTerminal && old.isOK == state.isOK && old.isFailure == state.isFailure
    guard !isSettledAlike else { return }
    for edge in dependents[id.index] {
      nodes[edge.job.index].unmet += (edge.when.isMet(by: old) ? 1 : 0) - (edge.when.isMet(by: state) ? 1 : 0)
    }
  }

  mutating func fail(_ id: JobID, _ failure: JobFailure, now: Duration) {
    let policy = graph[id].retry
    let number = nodes[id.index].retries + 1
    guard number <= policy.max, policy.allows(failure), !isClosed else {
      return end(id, .failed(failure, allowed: graph[id].allowFailure))
    }
    nodes[id.index].retries = number
    nodes[id.index].hasTimedOut = false
    nodes[id.index].mustKill = false
    let until = now + policy.delay(beforeRetry: number, random: random.unit())
    alarms.push(Alarm(time: until, job: id))
    set(id, .backingOff(until: until, number: number, limit: policy.max, after: failure))
  }

  /// Ends a job, and what can't start because of it, and what the policy ends because of it.
  mutating func end(_ id: JobID, _ state: JobState) {
    nodes[id.index].stamp += 1
    set(id, state)
    var ended = [id]
    while let id = ended.popLast() {
      let state = nodes[id.index].state
      for edge in dependents[id.index] {
        let node = nodes[edge.job.index]
        guard !node.state.isTerminal, node.ticket == nil else { continue }
        guard edge.when.isRuledOut(by: state) else {
          if node.unmet == 0, node.state == .waiting, !isClosed { makeReady(edge.job) }
          continue
        }
        var root = id
        if case .skipped(let cause) = state { root = cause }
        nodes[edge.job.index].stamp += 1
        set(edge.job, .skipped(because: root))
        ended.append(edge.job)
      }
    }
    if case .failed(_, allowed: false) = state, graph.onFailure != .keepGoing, !hasGivenUp {
      hasGivenUp = true
      cancelAll(by: .policy, kill: false, active: graph.onFailure == .stopNow)
    }
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
    let node = nodes[id.index]
    return Entry(
      level: graph.schedule == .fifo ? 0 : node.priority.level,
      rank: graph.schedule == .criticalPath ? ranks[id.index] : .zero, order: nextOrder, job: id, stamp: node.stamp)
  }

  mutating func arm(_ id: JobID, deadline: Duration) {
    nodes[id.index].deadline = deadline
    alarms.push(Alarm(time: deadline, job: id))
  }

  mutating func withdraw(_ id: JobID, _ ticket: Int) {
    guard !nodes[id.index].isWithdrawing else { return }
    nodes[id.index].isWithdrawing = true
    actions.append(.withdraw(ticket: ticket))
  }

  // MARK: Admission

  /// How many attempts may stand in the operation queue beyond the width: enough that a slot never waits for the engine.
  static let ahead = 16

  private var window: Int { slots + Self.ahead }

  mutating func admit() {
    guard !isClosed, !isDraining else { return }
    while admitted.count < window, let entry = ready.pop() {
      let node = nodes[entry.job.index]
      guard node.stamp == entry.stamp, case .ready = node.state else { continue }
      if let pool = uses[entry.job.index].first(where: { free[$0.pool] < $0.amount })?.pool {
        parked[pool].push(entry)
        set(entry.job, .ready(for: .pool(pools[pool])))
        continue
      }
      for use in uses[entry.job.index] { free[use.pool] -= use.amount }
      if case .ready(for: .pool) = node.state { set(entry.job, .ready(for: .slot)) }
      nodes[entry.job.index].ticket = nextTicket
      admitted[nextTicket] = entry.job
      actions.append(
        .admit(Admission(ticket: nextTicket, job: entry.job, attempt: node.attempts + 1, priority: node.priority)))
      nextTicket += 1
    }
  }

  /// Gives back what an attempt held, and lets those that waited for it try again, the first ones first.
  mutating func release(_ id: JobID) {
    nodes[id.index].ticket = nil
    nodes[id.index].isWithdrawing = false
    for use in uses[id.index] {
      free[use.pool] += use.amount
      var room = free[use.pool]
      while room > 0, let entry = parked[use.pool].first {
        _ = parked[use.pool].pop()
        let node = nodes[entry.job.index]
        guard node.stamp == entry.stamp, case .ready = node.state else { continue }
        ready.push(entry)
        room -= uses[entry.job.index].first { $0.pool == use.pool }?.amount ?? 0
      }
    }
  }
}
