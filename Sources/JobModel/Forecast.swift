/// How the rest of a run would go, as far as can be told now.
///
/// It knows the chain of needs that decides the end, and how much room every other job has. All of it is an estimate,
/// except for what has ended. Takes time linear in jobs and needs; `schedule(slots:)` and `saving(byHalving:)` are further passes of their own.
package struct Forecast: Sendable {
  /// A job of the chain that decides the end.
  package struct Link: Sendable, Equatable {
    package var job: JobID
    /// When the need that it waited for longest ended: its share of the whole begins there.
    package var from: Duration
    package var finish: Duration
    /// The part of it in which the job executes; the rest it waits for room, for a retry or for a person.
    package var executing: Duration

    package var share: Duration { finish - from }
  }

  /// From the first job to the last.
  package private(set) var chain: [Link] = []
  /// When the last job ends, were there a slot for each.
  package private(set) var end: Duration = .zero

  private let now: Double
  private let isOpen: [Bool]
  private let isActive: [Bool]
  /// Seconds that a job still takes once it may start; 0 for one that has ended.
  private let rest: [Double]
  /// Seconds of `rest` that pass before it executes.
  private let wait: [Double]
  private let order: [Int]
  /// Without those that have not been added yet.
  private let needs: [[Int]]
  private let run: Run
  private var finish: [Double]
  private var tail: [Double]

  /// `expected` is what one attempt of a job that has not ended takes in all; a job of which nothing is known counts one
  /// second.
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
    // Of what has ended, only what executed can have decided anything.
    let candidates = finish.indices.filter { isOpen[$0] || !run.jobs[$0].attempts.isEmpty }
    guard var job = candidates.max(by: { finish[$0] < finish[$1] }) else { return }
    end = .seconds(finish[job])
    var links: [Link] = []
    while true {
      let record = run.jobs[job]
      let before = needs[job].max { finish[$0] < finish[$1] }
      let from = before.map { min(finish[$0], finish[job]) } ?? 0
      var executing = record.spent.executing / .seconds(1)
      if isOpen[job] {
        if record.state == .executing { executing += max(0, now - record.since / .seconds(1)) }
        executing += rest[job] - wait[job]
      }
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

  /// How much later a job could end without the run ending later; nil for one that has ended, or was added since.
  package func slack(_ id: JobID) -> Duration? {
    guard id.index < isOpen.count, isOpen[id.index] else { return nil }
    return .seconds(max(0, end / .seconds(1) - finish[id.index] - tail[id.index]))
  }

  /// How much sooner the run would end if what is left of a job took half as long.
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

  /// When each job would run.
  package struct Schedule: Sendable {
    package fileprivate(set) var end: Duration
    /// Seconds that a job executes before it finishes.
    fileprivate var lasts: [Double]
    fileprivate var finishes: [Double]

    /// When what is left of a job executes; a back-off before it is left out.
    package func expected(_ id: JobID) -> Range<Duration> {
      .seconds(finishes[id.index] - lasts[id.index])..<(.seconds(finishes[id.index]))
    }
  }

  /// What would run when with so many slots, each given to the job with the longest chain behind it.
  ///
  /// Pools count; retries that are not due yet and jobs that a person holds count as if they could start. Takes
  /// O(n log n) in the jobs that have not ended, besides their needs.
  package func schedule(slots: Int) -> Schedule {
    var plan = SlotPlan(run, slots: max(1, slots))
    var finishes = finish
    // The place of each job among those that want to start: the longest chain first.
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
      plan.take(job)
      running.insertSorted(Running(finish: now + rest[job], job: job), by: >)
    }
    for job in byRank where !isActive[job] && unmet[job] == 0 { plan.want(rank[job]) }
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
      plan.give(done.job)
      for dependent in run.jobs[done.job].dependents where isOpen[dependent.index] && unmet[dependent.index] > 0 {
        unmet[dependent.index] -= needs[dependent.index].count { $0 == done.job }
        if unmet[dependent.index] == 0 { plan.want(rank[dependent.index]) }
      }
    }
  }
}

/// Who may start next while slots and pools are short.
private struct SlotPlan {
  private let run: Run
  private var free: Int
  private var pools: [String: Int]
  /// Places in the order of rank, the best last.
  private var ready: [Int] = []
  private var parked: [String: [Int]] = [:]

  init(_ run: Run, slots: Int) {
    self.run = run
    free = slots
    pools = run.start?.pools ?? [:]
  }

  mutating func want(_ place: Int) { ready.insertSorted(place, by: >) }

  mutating func take(_ job: Int) {
    free -= 1
    for (pool, units) in run.jobs[job].job.uses { pools[pool]? -= units }
  }

  /// Takes the best that has room.
  mutating func next(_ byRank: [Int]) -> Int? {
    while free > 0, let place = ready.popLast() {
      let job = byRank[place]
      if let full = run.jobs[job].job.uses.first(where: { (pools[$0.key] ?? .max) < $0.value })?.key {
        parked[full, default: []].insertSorted(place, by: >)
        continue
      }
      take(job)
      return place
    }
    return nil
  }

  mutating func give(_ job: Int) {
    free += 1
    for (pool, units) in run.jobs[job].job.uses where units > 0 {
      pools[pool]? += units
      for _ in 0..<units { if let place = parked[pool]?.popLast() { want(place) } }
    }
  }
}

extension Array {
  /// Into an array in the order of `precedes`.
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
