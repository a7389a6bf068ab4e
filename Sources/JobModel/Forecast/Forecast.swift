/// An estimate of the rest of a run: the chain of needs that decides its end, and the slack of every other job.
///
/// Takes time linear in jobs and needs; `schedule(slots:)` and `saving(byHalving:)` are further passes.
package struct Forecast: Sendable {
  /// A job of the critical chain.
  package struct Link: Sendable, Equatable {
    package var job: JobID
    /// When its last need ended; the job's share of the run begins there.
    package var from: Duration
    package var finish: Duration
    /// The part of the share in which the job executes; in the rest it waits for a slot, a pool, a retry or a person.
    package var executing: Duration

    package var share: Duration { finish - from }
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
  private let order: [Int]
  /// The needs of each job, without jobs that have not been added yet.
  private let needs: [[Int]]
  private let run: Run
  private var finish: [Double]
  private var tail: [Double]

  /// `expected` estimates the duration of a whole attempt of a job that has not ended; nil counts one second.
  package init(_ run: Run, now: Duration, expected: (JobID) -> Duration?) {
    self.run = run
    self.now = now / .seconds(1)
    needs = run.jobs.map { $0.job.needs.map(\.job.index).filter { $0 < run.jobs.count } }
    order = DependencyOrder(needs).order
    var rest = [Double](repeating: 0, count: run.jobs.count)
    var wait = rest
    var isOpen = [Bool](repeating: false, count: run.jobs.count)
    var isActive = isOpen
    for (index, record) in run.jobs.enumerated() where !record.state.isTerminal {
      isOpen[index] = true
      isActive[index] = record.state.isActive
      if case .backingOff(let until, _, _, _) = record.state { wait[index] = max(.zero, until - now) / .seconds(1) }
      rest[index] = wait[index] + Self.rest(record, now: now, expected: expected(JobID(index)) ?? .seconds(1))
    }
    (self.rest, self.wait, self.isOpen, self.isActive) = (rest, wait, isOpen, isActive)
    finish = []
    tail = Array(repeating: 0, count: run.jobs.count)
    finish = finishes(rest)
    for job in order.reversed() where isOpen[job] && !isActive[job] {
      for need in needs[job] where isOpen[need] { tail[need] = max(tail[need], rest[job] + tail[job]) }
    }
    link()
  }

  private static func rest(_ record: JobRecord, now: Duration, expected: Duration) -> Double {
    guard record.state.isActive, let elapsed = record.elapsed(at: now) else { return expected / .seconds(1) }
    return (record.remaining(at: now) ?? max(.zero, expected - elapsed)) / .seconds(1)
  }

  private func finishes(_ rest: [Double]) -> [Double] {
    var finish = [Double](repeating: 0, count: rest.count)
    for job in order {
      guard isOpen[job] else {
        finish[job] = run.jobs[job].since / .seconds(1)
        continue
      }
      var start = now
      if !isActive[job] { for need in needs[job] { start = max(start, finish[need]) } }
      finish[job] = start + rest[job]
    }
    return finish
  }

  private mutating func link() {
    // An ended job that never executed has delayed nothing.
    let candidates = finish.indices.filter { isOpen[$0] || !run.jobs[$0].attempts.isEmpty }
    guard var job = candidates.max(by: { finish[$0] < finish[$1] }) else { return }
    end = .seconds(finish[job])
    var links: [Link] = []
    while true {
      let record = run.jobs[job]
      let before = needs[job].max { finish[$0] < finish[$1] }
      let from = before.map { min(finish[$0], finish[job]) } ?? 0
      var executing = record.spent(.executing, until: .seconds(now)) / .seconds(1)
      if isOpen[job] { executing += rest[job] - wait[job] }
      links.append(
        Link(
          job: JobID(job), from: .seconds(from), finish: .seconds(finish[job]),
          executing: .seconds(min(executing, finish[job] - from))))
      guard let before else { break }
      job = before
    }
    chain = links.reversed()
  }

  package func finish(_ id: JobID) -> Duration { .seconds(finish[id.index]) }

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
    let last = finish.indices.lazy.filter { isOpen[$0] }.map { finish[$0] }.max() ?? now
    return max(.zero, end - .seconds(last))
  }

  // MARK: Slots

  private struct Running: Comparable {
    var finish: Double
    var job: Int

    static func < (left: Running, right: Running) -> Bool { left.finish < right.finish }
  }

  /// The times at which jobs would execute with a given number of slots.
  package struct Schedule: Sendable {
    package fileprivate(set) var end: Duration
    /// Seconds that each job executes before it finishes.
    fileprivate var lasts: [Double]
    fileprivate var finishes: [Double]

    /// When the rest of a job executes, without a back-off before it.
    package func expected(_ id: JobID) -> Range<Duration> {
      .seconds(finishes[id.index] - lasts[id.index])..<(.seconds(finishes[id.index]))
    }
  }

  /// Simulates the rest of the run with `slots` slots, each given to the ready job with the longest chain behind it.
  ///
  /// Pools are respected; jobs in back-off or paused before their start are treated as ready. Takes O(n log n) in the
  /// jobs that have not ended, besides their needs.
  package func schedule(slots: Int) -> Schedule {
    var plan = SlotPlan(run, slots: max(1, slots))
    var finishes = finish
    // The longest chain first.
    let byRank = isOpen.indices.filter { isOpen[$0] }.sorted { left, right in
      let (a, b) = (rest[left] + tail[left], rest[right] + tail[right])
      return a == b ? left < right : a > b
    }
    var rank = [Int](repeating: 0, count: isOpen.count)
    for (place, job) in byRank.enumerated() { rank[job] = place }
    var unmet = [Int](repeating: 0, count: isOpen.count)
    for job in byRank where !isActive[job] {
      unmet[job] = needs[job].count { isOpen[$0] }
    }
    var running: [Running] = []
    var last = now
    for job in byRank where isActive[job] {
      plan.start(job)
      running.insertSorted(Running(finish: now + rest[job], job: job), by: >)
    }
    for job in byRank where !isActive[job] && unmet[job] == 0 { plan.enqueue(rank[job]) }
    while true {
      while let place = plan.next(byRank) {
        let job = byRank[place]
        finishes[job] = last + rest[job]
        running.insertSorted(Running(finish: last + rest[job], job: job), by: >)
      }
      guard let done = running.popLast() else {
        return Schedule(end: .seconds(last), lasts: zip(rest, wait).map { $0 - $1 }, finishes: finishes)
      }
      last = max(last, done.finish)
      plan.finish(done.job)
      for dependent in run.jobs[done.job].dependents where isOpen[dependent.index] && unmet[dependent.index] > 0 {
        unmet[dependent.index] -= needs[dependent.index].count { $0 == done.job }
        if unmet[dependent.index] == 0 { plan.enqueue(rank[dependent.index]) }
      }
    }
  }
}

/// The ready jobs of a simulated schedule, and its free slots and pools.
private struct SlotPlan {
  private let run: Run
  private var free: Int
  private var pools: [String: Int]
  /// Ranks, the highest last.
  private var ready: [Int] = []
  /// Ranks of ready jobs that wait for a pool, by the pool's name.
  private var parked: [String: [Int]] = [:]

  init(_ run: Run, slots: Int) {
    self.run = run
    free = slots
    pools = run.start?.pools ?? [:]
  }

  mutating func enqueue(_ place: Int) { ready.insertSorted(place, by: >) }

  mutating func start(_ job: Int) {
    free -= 1
    for (pool, units) in run.jobs[job].job.uses { pools[pool]? -= units }
  }

  /// Starts the highest-ranked job whose pools have room.
  mutating func next(_ byRank: [Int]) -> Int? {
    while free > 0, let place = ready.popLast() {
      let job = byRank[place]
      if let full = run.jobs[job].job.uses.first(where: { (pools[$0.key] ?? .max) < $0.value })?.key {
        parked[full, default: []].insertSorted(place, by: >)
        continue
      }
      start(job)
      return place
    }
    return nil
  }

  mutating func finish(_ job: Int) {
    free += 1
    for (pool, units) in run.jobs[job].job.uses where units > 0 {
      pools[pool]? += units
      for _ in 0..<units { if let place = parked[pool]?.popLast() { enqueue(place) } }
    }
  }
}

extension Array {
  /// Inserts into an array that is sorted by `precedes`.
  fileprivate mutating func insertSorted(_ element: Element, by precedes: (Element, Element) -> Bool) {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if precedes(self[middle], element) { low = middle + 1 } else { high = middle }
    }
    insert(element, at: low)
  }
}
