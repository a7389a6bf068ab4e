import Basics

/// An estimate of the rest of a run: the chain of needs that decides its end, and the slack of every other job.
///
/// Takes time linear in jobs and needs; `schedule(slots:)` and `saving(byHalving:)` are further passes.
package struct Forecast: Sendable {
  /// A job of the critical chain.
  package struct Link: Sendable, Equatable {
    package var job: JobID
    /// When its last need ended, or it was added; the job's share of the run begins there.
    package var from: Duration
    package var finish: Duration
    /// The time that the job executes within its share.
    package var executing: Duration
    /// The time in its share when the job had ended, before it was executed again.
    package var idle: Duration

    package var share: Duration { finish - from }
    /// The time that the job waits for a slot, a pool, a retry or a person.
    package var waited: Duration { max(.zero, share - executing - idle) }
  }

  /// The properties of a run's jobs that stay until jobs are added, in a form that is quick to walk.
  package struct Graph: Sendable {
    /// The needs of each job, each once and without jobs that have not been added yet.
    fileprivate let needs: [[Int]]
    /// Needs before their dependents, and the jobs of `finally` after all others.
    fileprivate let order: [Int]
    fileprivate let isFinal: [Bool]
    /// The jobs that the jobs of `finally` wait for, as if they needed them; none without `finally`.
    fileprivate let isOrdinary: [Bool]
    fileprivate let isOnCluster: [Bool]
    fileprivate let isService: [Bool]
    /// The jobs that need each job.
    fileprivate let dependents: [[Int]]
    /// The units of the pools that each job takes.
    fileprivate let uses: [[String: Int]]

    package var jobs: Int { needs.count }

    package init(_ run: Run) {
      let jobs = run.jobs.indices
      let needs = jobs.map { job in
        let needs = run.jobs[job].job.needs.map(\.job.index).filter { $0 < jobs.count }
        guard needs.count > 1 else { return needs }
        var seen: Set<Int> = []
        return needs.filter { seen.insert($0).inserted }
      }
      let isFinal = jobs.map { run.jobs[$0].job.finally != nil }
      let hasFinal = isFinal.contains(true)
      let isService = jobs.map { run.jobs[$0].job.service != nil }
      isOrdinary = jobs.map { hasFinal && !isFinal[$0] && !isService[$0] }
      isOnCluster = jobs.map { run.jobs[$0].job.cluster != nil }
      let sorted = DependencyOrder(needs).order
      order = hasFinal ? sorted.filter { !isFinal[$0] } + sorted.filter { isFinal[$0] } : sorted
      var dependents = [[Int]](repeating: [], count: jobs.count)
      for job in jobs { for need in needs[job] { dependents[need].append(job) } }
      uses = jobs.map { run.jobs[$0].job.uses }
      (self.needs, self.dependents, self.isFinal, self.isService) = (needs, dependents, isFinal, isService)
    }
  }

  /// The critical chain, first job first.
  package private(set) var chain: [Link] = []
  /// When the last job ends if no job waits for a slot or a pool.
  package private(set) var end: Duration = .zero

  private let now: Double
  private let isOpen: [Bool]
  private let isActive: [Bool]
  /// Seconds until a job ends once its needs are met; 0 for an ended job.
  private let rest: [Double]
  /// The part of `rest` that is back-off, in seconds.
  private let wait: [Double]
  private let graph: Graph
  private let pools: [String: Int]
  /// When each ended job ended.
  private let ended: [Double]
  private var finish: [Double]
  private var tail: [Double]
  /// The open jobs, those with the longest chain behind them first, and the place of each among them.
  private let byRank: [Int]
  private let rank: [Int]
  /// The number of open needs of each open job; a need on two conditions counts once.
  private let unmet: [Int]

  /// `expected` estimates the duration of a whole attempt of a job that has not ended; nil counts one second.
  ///
  /// A caller of several forecasts makes the run's `graph` once. The forecast does not keep the run: its next change would
  /// copy all records.
  package init(_ run: Run, _ graph: Graph? = nil, now: Duration, expected: (JobID) -> Duration?) {
    let graph = graph ?? Graph(run)
    self.graph = graph
    pools = run.start?.pools ?? [:]
    self.now = now / .seconds(1)
    var rest = [Double](repeating: 0, count: run.jobs.count)
    var wait = rest
    var isOpen = [Bool](repeating: false, count: run.jobs.count)
    var isActive = isOpen
    var ended = rest
    // Without local copies of the records, which would retain all of their storage, for a hundred thousand jobs.
    for index in run.jobs.indices {
      guard !run.jobs[index].state.isTerminal else {
        ended[index] = run.jobs[index].since / .seconds(1)
        continue
      }
      isOpen[index] = true
      isActive[index] = run.jobs[index].state.isActive
      if case .backingOff(let until, _, _, _) = run.jobs[index].state {
        wait[index] = max(.zero, until - now) / .seconds(1)
      }
      let expected = expected(JobID(index)) ?? .seconds(1)
      rest[index] =
        wait[index]
        + (isActive[index] ? Self.rest(run.jobs[index], now: now, expected: expected) : expected / .seconds(1))
    }
    (self.rest, self.wait, self.isOpen, self.isActive, self.ended) = (rest, wait, isOpen, isActive, ended)
    var tail = [Double](repeating: 0, count: run.jobs.count)
    var unmet = [Int](repeating: 0, count: run.jobs.count)
    // The longest chain of jobs of `finally`, which is behind each ordinary one.
    var finalChain = 0.0
    for job in graph.order.reversed() where isOpen[job] {
      if graph.isOrdinary[job] { tail[job] = max(tail[job], finalChain) }
      if isActive[job] { continue }
      if graph.isFinal[job] { finalChain = max(finalChain, rest[job] + tail[job]) }
      for need in graph.needs[job] where isOpen[need] {
        tail[need] = max(tail[need], rest[job] + tail[job])
        unmet[job] += 1
      }
    }
    let chains = zip(rest, tail).map { $0 + $1 }
    let byRank = isOpen.indices.filter { isOpen[$0] }
      .sorted { chains[$0] == chains[$1] ? $0 < $1 : chains[$0] > chains[$1] }
    var rank = [Int](repeating: 0, count: isOpen.count)
    for (place, job) in byRank.enumerated() { rank[job] = place }
    (self.tail, self.unmet, self.byRank, self.rank) = (tail, unmet, byRank, rank)
    finish = []
    finish = finishes(rest)
    link(run)
  }

  /// Whether the end of `need` can be what `job` has waited for: a service outlives the jobs that need it, and delays them
  /// only until it serves.
  private func mayDelay(_ need: Int, _ job: Int, _ run: Run) -> Bool {
    guard graph.isService[need] else { return true }
    let state = run.jobs[need].state
    let isAwaited = run.jobs[job].job.needs.contains { $0.job.index == need && $0.when == .ready }
    return !(isAwaited && (state == .serving || state.isTerminal)) && finish[need] <= finish[job]
  }

  private static func rest(_ record: borrowing JobRecord, now: Duration, expected: Duration) -> Double {
    guard record.state.isActive, let elapsed = record.elapsed(at: now) else { return expected / .seconds(1) }
    return (record.remaining(at: now) ?? max(.zero, expected - elapsed)) / .seconds(1)
  }

  private func finishes(_ rest: [Double]) -> [Double] {
    var finish = [Double](repeating: 0, count: rest.count)
    var ordinaryEnd = 0.0
    for job in graph.order {
      guard isOpen[job] else {
        finish[job] = ended[job]
        continue
      }
      var start = now
      if !isActive[job] {
        for need in graph.needs[job] { start = max(start, finish[need]) }
        if graph.isFinal[job] { start = max(start, ordinaryEnd) }
      }
      finish[job] = start + rest[job]
      if graph.isOrdinary[job] { ordinaryEnd = max(ordinaryEnd, finish[job]) }
    }
    return finish
  }

  private mutating func link(_ run: Run) {
    // An ended job that never executed has delayed nothing.
    let executed = finish.indices.filter { isOpen[$0] || !run.jobs[$0].attempts.isEmpty }
    // A service ends because all others have.
    let others = executed.filter { !graph.isService[$0] }
    let candidates = others.isEmpty ? executed : others
    guard var job = candidates.max(by: { finish[$0] < finish[$1] }) else { return }
    end = .seconds(finish[job])
    let lastOrdinary = candidates.filter { graph.isOrdinary[$0] }.max { finish[$0] < finish[$1] }
    var links: [Link] = []
    // The needs of a program's operations, and of a recording, may form a cycle.
    var seen: Set<Int> = []
    while true {
      seen.insert(job)
      let needed = graph.needs[job] + (graph.isFinal[job] ? [lastOrdinary].compactMap(\.self) : [])
      let before = needed.filter { !seen.contains($0) && mayDelay($0, job, run) }.max { finish[$0] < finish[$1] }
      let to = end(of: job, in: run)
      let from = min(before.map { end(of: $0, in: run) } ?? run.jobs[job].addedAt, to)
      let past = min(to, .seconds(now))
      func spent(_ kind: Phase.Kind) -> Duration { run.jobs[job].spent(kind, from: from, until: past) }
      let left: Duration = isOpen[job] ? .seconds(rest[job] - wait[job]) : .zero
      let idle = Phase.Kind.allCases.filter(\.isTerminal).reduce(.zero) { $0 + spent($1) }
      links.append(
        Link(job: JobID(job), from: from, finish: to, executing: min(spent(.executing) + left, to - from), idle: idle))
      guard let before else { break }
      job = before
    }
    chain = links.reversed()
  }

  package func finish(_ id: JobID) -> Duration { .seconds(finish[id.index]) }

  /// As recorded for a job that has ended.
  private func end(of job: Int, in run: Run) -> Duration {
    isOpen[job] ? .seconds(finish[job]) : run.jobs[job].since
  }

  /// How much later a job could end without delaying the run; nil for a job that has ended or was added since.
  package func slack(_ id: JobID) -> Duration? {
    guard id.index < isOpen.count, isOpen[id.index] else { return nil }
    return .seconds(max(0, end / .seconds(1) - finish[id.index] - tail[id.index]))
  }

  /// How much sooner the run would end if the rest of a job took half as long.
  package func saving(byHalving id: JobID) -> Duration {
    guard isOpen[id.index] else { return .zero }
    var rest = rest
    rest[id.index] /= 2
    let finish = finishes(rest)
    let last = finish.indices.lazy.filter { isOpen[$0] && !graph.isService[$0] }.map { finish[$0] }.max() ?? now
    return max(.zero, end - .seconds(last))
  }

  // MARK: Slots

  private struct Running: Comparable {
    var finish: Double
    var job: Int

    static func < (left: Running, right: Running) -> Bool { left.finish < right.finish }
  }

  /// The execution of the jobs by time with a given number of slots.
  package struct Schedule: Sendable {
    package fileprivate(set) var end: Duration
    /// Seconds that each job executes before it finishes.
    fileprivate var lasts: [Double]
    fileprivate var finishes: [Double]

    /// When the rest of a job executes, without a back-off before it.
    package func expected(_ id: JobID) -> Range<Duration> {
      let finish = Duration.seconds(finishes[id.index])
      return min(finish, .seconds(finishes[id.index] - lasts[id.index]))..<finish
    }
  }

  /// Simulates the rest of the run with `slots` slots, each given to the ready job with the longest chain behind it.
  ///
  /// Of the cluster's jobs as many execute at a time as do now. Pools are respected, among the jobs of the cluster and among
  /// the others; jobs in back-off or paused before their start are treated as ready. Takes O(n log n) in the jobs that
  /// have not ended, besides their needs.
  package func schedule(slots: Int) -> Schedule {
    // Most jobs of a large graph are ready from the start: in an array, which is sorted already, and not in the heap.
    let (isFinal, isOrdinary, isOnCluster) = (graph.isFinal, graph.isOrdinary, graph.isOnCluster)
    var openOrdinary = isOrdinary.indices.count { isOrdinary[$0] && isOpen[$0] }
    let ready = byRank.indices.filter { place in
      let job = byRank[place]
      return !isActive[job] && self.unmet[job] == 0 && !(isFinal[job] && openOrdinary > 0)
    }
    let active = byRank.count { isActive[$0] && isOnCluster[$0] }
    var here = SlotPlan(graph.uses, pools, slots: max(1, slots), ready: ready.filter { !isOnCluster[byRank[$0]] })
    var there = SlotPlan(graph.uses, pools, slots: max(1, active), ready: ready.filter { isOnCluster[byRank[$0]] })
    var finishes = finish
    var unmet = unmet
    var running = Heap<Running>()
    var last = now
    for job in byRank where isActive[job] {
      if isOnCluster[job] { there.start(job) } else { here.start(job) }
      running.push(Running(finish: now + rest[job], job: job))
    }
    while true {
      while let place = here.next(byRank) ?? there.next(byRank) {
        let job = byRank[place]
        finishes[job] = last + rest[job]
        running.push(Running(finish: last + rest[job], job: job))
      }
      guard let done = running.pop() else {
        return Schedule(end: .seconds(last), lasts: zip(rest, wait).map { $0 - $1 }, finishes: finishes)
      }
      last = max(last, done.finish)
      if isOnCluster[done.job] { there.finish(done.job) } else { here.finish(done.job) }
      func enqueue(_ job: Int) {
        if isOnCluster[job] { there.enqueue(rank[job]) } else { here.enqueue(rank[job]) }
      }
      if isOrdinary[done.job] {
        openOrdinary -= 1
        if openOrdinary == 0 {
          for job in byRank where isFinal[job] && !isActive[job] && unmet[job] == 0 { enqueue(job) }
        }
      }
      for dependent in graph.dependents[done.job] where isOpen[dependent] && unmet[dependent] > 0 {
        unmet[dependent] -= 1
        if unmet[dependent] == 0, !isFinal[dependent] || openOrdinary == 0 { enqueue(dependent) }
      }
    }
  }
}

/// The ready jobs of a simulated schedule, and its free slots and pools.
private struct SlotPlan {
  private let uses: [[String: Int]]
  private var free: Int
  private var pools: [String: Int]
  /// Ranks, the highest first, of the jobs that are ready from the start; the first of them have been taken.
  private let readyAtStart: [Int]
  private var taken = 0
  /// The ranks of the other ready jobs.
  private var ready = Heap<Int>()
  /// Ranks of ready jobs that wait for a pool, by the pool's name.
  private var parked: [String: Heap<Int>] = [:]

  init(_ uses: [[String: Int]], _ pools: [String: Int], slots: Int, ready: [Int]) {
    (self.uses, self.pools) = (uses, pools)
    readyAtStart = ready
    free = slots
  }

  mutating func enqueue(_ place: Int) { ready.push(place) }

  mutating func start(_ job: Int) {
    free -= 1
    guard !pools.isEmpty else { return }
    for (pool, units) in uses[job] { pools[pool]? -= units }
  }

  /// Starts the highest-ranked job whose pools have room.
  mutating func next(_ byRank: [Int]) -> Int? {
    while free > 0, let place = takeReady() {
      let job = byRank[place]
      if !pools.isEmpty,
        let full = uses[job].first(where: { (pools[$0.key] ?? .max) < $0.value })?.key
      {
        parked[full, default: Heap()].push(place)
        continue
      }
      start(job)
      return place
    }
    return nil
  }

  private mutating func takeReady() -> Int? {
    guard taken < readyAtStart.count else { return ready.pop() }
    if let later = ready.first, later < readyAtStart[taken] { return ready.pop() }
    taken += 1
    return readyAtStart[taken - 1]
  }

  mutating func finish(_ job: Int) {
    free += 1
    guard !pools.isEmpty else { return }
    for (pool, units) in uses[job] where units > 0 {
      pools[pool]? += units
      for _ in 0..<units {
        guard let place = parked[pool]?.pop() else { break }
        enqueue(place)
      }
    }
  }
}
