import Basics
import JobModel

/// The units of the pools, and the ready jobs that have found too few of them.
///
/// Among the jobs that wait for a pool, the first in the schedule whose units are free takes them. A job that needs
/// many units would wait as long as jobs that need fewer arrive. Once these have taken units of a pool as often as
/// `patience` says, jobs of the same or a lower priority take no units of its pools until it has started.
struct Pools {
  /// The units that a parked job needs from the pool, and the lane of its attempt.
  private struct Want: Hashable {
    var amount: Int
    var lane: Lane
  }

  private struct Pool {
    let name: String
    var size: Int
    var free: Int
    var parked: [Want: Heap<ReadyJob>] = [:]
    /// How often units were taken.
    var takes = 0
    /// The parked jobs by their arrival, with the number of takes before it; some have left since.
    var arrivals: [(entry: ReadyJob, takes: Int)] = []
    var firstArrival = 0
    /// The stamps of the jobs in `arrivals`.
    var arrived: [JobID: Int] = [:]

    /// The number of takes that a job lets pass.
    var patience: Int { 2 * max(1, size) }
  }

  private var pools: [Pool]
  private var index: [String: Int]
  /// The pools that each job needs, in the order of their names.
  private var uses: [[(pool: Int, amount: Int)]]
  /// The job that has let too many others pass.
  private var first: ReadyJob?

  init(_ graph: JobGraph) {
    let pools = graph.pools.sorted { $0.key < $1.key }.map { Pool(name: $0.key, size: $0.value, free: $0.value) }
    let index = Dictionary(uniqueKeysWithValues: pools.enumerated().map { ($1.name, $0) })
    self.pools = pools
    self.index = index
    uses = graph.jobs.map { Self.uses($0, index) }
  }

  private static func uses(_ job: Job, _ index: [String: Int]) -> [(pool: Int, amount: Int)] {
    if job.uses.isEmpty { return [] }
    return job.uses.sorted { $0.key < $1.key }.compactMap { name, amount in index[name].map { ($0, amount) } }
  }

  /// Adds a pool; false if there is one of this name.
  mutating func add(_ name: String, _ size: Int) -> Bool {
    guard index[name] == nil else { return false }
    index[name] = pools.count
    pools.append(Pool(name: name, size: size, free: size))
    return true
  }

  mutating func append(_ job: Job) { uses.append(Self.uses(job, index)) }

  /// Takes the job's units of all its pools; returns the name of a pool if the job must wait for it.
  mutating func take(for entry: ReadyJob) -> String? {
    let uses = uses[entry.job.index]
    guard !uses.isEmpty else { return nil }
    let isFirst = first?.job == entry.job && first?.stamp == entry.stamp
    let short =
      uses.first { pools[$0.pool].free < $0.amount } ?? (isFirst ? nil : uses.first { isReserved($0.pool, entry) })
    if let short {
      park(entry, at: short.pool, short.amount)
      return pools[short.pool].name
    }
    if isFirst { first = nil }
    for use in uses {
      pools[use.pool].free -= use.amount
      pools[use.pool].takes += 1
    }
    return nil
  }

  /// Whether the units of a pool are reserved for the job that has let too many others pass.
  private func isReserved(_ pool: Int, _ entry: ReadyJob) -> Bool {
    guard let first, first.level >= entry.level else { return false }
    return uses[first.job.index].contains { $0.pool == pool }
  }

  private mutating func park(_ entry: ReadyJob, at pool: Int, _ amount: Int) {
    pools[pool].parked[Want(amount: amount, lane: entry.lane), default: Heap()].push(entry)
    guard pools[pool].arrived.updateValue(entry.stamp, forKey: entry.job) != entry.stamp else { return }
    pools[pool].arrivals.append((entry, pools[pool].takes))
  }

  mutating func release(_ id: JobID) {
    for use in uses[id.index] { pools[use.pool].free += use.amount }
  }

  mutating func resize(_ name: String, by change: Int) {
    guard let pool = index[name] else { return }
    pools[pool].size += change
    pools[pool].free += change
  }

  /// Removes the first parked job whose lane is open and whose pools have its units now, if it comes before `other`.
  mutating func popFitting(
    before other: ReadyJob?, isOpen: (Lane) -> Bool, isCurrent: (ReadyJob) -> Bool
  ) -> ReadyJob? {
    updateFirst(isCurrent)
    if let first, isOpen(first.lane), fits(first) {
      // Its entry among the parked ones is void once it is admitted.
      return first
    }
    var best = other
    var place: (pool: Int, want: Want)?
    for pool in pools.indices {
      for (want, parked) in pools[pool].parked where want.amount <= pools[pool].free && isOpen(want.lane) {
        guard let entry = parked.first, best.map({ entry < $0 }) ?? true, !isReserved(pool, entry) else { continue }
        best = entry
        place = (pool, want)
      }
    }
    return place.flatMap { pools[$0.pool].parked[$0.want]?.pop() }
  }

  private func fits(_ entry: ReadyJob) -> Bool {
    uses[entry.job.index].allSatisfy { $0.amount <= pools[$0.pool].free }
  }

  private mutating func updateFirst(_ isCurrent: (ReadyJob) -> Bool) {
    if let first, !isCurrent(first) { self.first = nil }
    for pool in pools.indices where first == nil {
      while pools[pool].firstArrival < pools[pool].arrivals.count {
        let arrival = pools[pool].arrivals[pools[pool].firstArrival]
        guard isCurrent(arrival.entry) else {
          pools[pool].firstArrival += 1
          if pools[pool].arrived[arrival.entry.job] == arrival.entry.stamp {
            pools[pool].arrived[arrival.entry.job] = nil
          }
          continue
        }
        if pools[pool].takes - arrival.takes > pools[pool].patience { first = arrival.entry }
        break
      }
      if pools[pool].firstArrival > 64, pools[pool].firstArrival * 2 > pools[pool].arrivals.count {
        pools[pool].arrivals.removeFirst(pools[pool].firstArrival)
        pools[pool].firstArrival = 0
      }
    }
  }
}
