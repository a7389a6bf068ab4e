import Basics
import JobModel

/// The sort keys of the list and of the timeline; the raw value is the key's name.
enum SortColumn: String, CaseIterable {
  case attention
  case name
  case progress
  case rate
  case time
  case eta
  /// The timeline's: by the first attempt; jobs without attempts follow.
  case start

  static let allCases: [SortColumn] = [.attention, .name, .progress, .rate, .time, .eta]

  /// The column's name in `sorted by time left`.
  var words: String { self == .eta ? "time left" : rawValue }

  /// Whether a job's place changes with its progress or as time passes.
  var movesWithTime: Bool { [.progress, .rate, .time, .eta].contains(self) }
}

/// The jobs that the filter admits, in the order of the list.
///
/// Events only mark jobs as changed; `update` sorts them in once a frame, at the cost of the changed jobs and one copy of
/// the order.
struct JobOrder {
  /// The list from its first row.
  private(set) var rows: [JobID] = []
  private(set) var sort = SortColumn.attention
  private(set) var isInverted = false
  /// The skipped jobs by the job that caused the skip: in the order of attention they follow it.
  private(set) var skipped: [JobID: [JobID]] = [:]
  /// The causes whose skipped jobs are shown.
  private(set) var unfolded: Set<JobID> = []

  /// All jobs by key, then by identifier: a total order, so that a job is found by binary search.
  private var sorted: [JobID] = []
  private var keys: [Double] = []
  private var nameRanks: [Int] = []
  private var changed: [Int] = []
  private var isNoted: [Bool] = []
  /// Whether each job was skipped, and whether it follows its cause.
  private var wasSkipped: [Bool] = []
  private var isUnder: [Bool] = []
  /// Whether `rows` have the order of `sorted`: no skipped job follows its cause.
  private var isPlain = true
  /// The number of rows in each class; nil where the rows are all jobs.
  private var rowCounts: [Int]?
  private var mustSort = true
  private var mustGroup = true
  private var mustRow = true
  /// The version of the filtered jobs that `rows` show.
  private var filtered = 0

  init(_ sort: SortColumn = .attention) { self.sort = sort }

  /// Whether skipped jobs follow their cause, unless there is a filter.
  var groups: Bool { sort == .attention && !isInverted }

  /// Marks a job whose sort key may have changed.
  mutating func note(_ id: JobID) {
    guard id.index < isNoted.count, !isNoted[id.index] else { return }
    isNoted[id.index] = true
    changed.append(id.index)
  }

  mutating func invalidate() {
    mustSort = true
    mustGroup = true
  }

  mutating func setSort(_ column: SortColumn, inverted: Bool) {
    sort = column
    isInverted = inverted
    invalidate()
  }

  mutating func toggle(_ id: JobID) {
    if unfolded.remove(id) == nil { unfolded.insert(id) }
    mustRow = true
  }

  /// The row of a job; nil if it has none.
  func row(of id: JobID) -> Int? {
    guard id.index < keys.count else { return nil }
    guard isPlain else { return rows.firstIndex(of: id) }
    let place = place(of: (keys[id.index], id), in: rows)
    return place < rows.count && rows[place] == id ? place : nil
  }

  func counts(_ index: JobIndex, from row: Int) -> [Int] {
    guard row < rows.count / 2 else { return index.counts(of: rows[min(row, rows.count)...]) }
    return zip(rowCounts ?? index.counts, index.counts(of: rows[..<max(0, row)])).map { $0 - $1 }
  }

  mutating func update(_ run: Run, _ index: JobIndex, _ jobs: FilteredJobs, now: Duration) {
    if run.jobs.count != keys.count { resize(run) }
    if sort.movesWithTime { for id in index.open { note(id) } }
    if filtered != jobs.version {
      filtered = jobs.version
      mustRow = true
      mustGroup = true
    }
    guard mustSort || mustRow || !changed.isEmpty else { return }
    // Sorting everything is cheaper than merging more than a quarter.
    if mustSort || changed.count > keys.count / 4 {
      sortAll(run, index, now: now)
    } else if !changed.isEmpty {
      merge(run, index, now: now)
    }
    for job in changed {
      isNoted[job] = false
      if wasSkipped[job] || index.classes[job] == .skipped { mustGroup = true }
    }
    changed.removeAll(keepingCapacity: true)
    mustSort = false
    mustRow = false
    if mustGroup { group(run, index, isFiltered: !jobs.filter.isEmpty) }
    select(index, jobs)
  }

  private mutating func select(_ index: JobIndex, _ jobs: FilteredJobs) {
    rowCounts = nil
    isPlain = true
    if !jobs.filter.isEmpty {
      rows = sorted.filter(jobs.admits)
      rowCounts = index.counts(of: rows)
    } else if skipped.isEmpty {
      rows = sorted
      return
    } else {
      isPlain = unfolded.isEmpty
      rows = []
      rows.reserveCapacity(sorted.count)
      for id in sorted where !isUnder[id.index] {
        rows.append(id)
        if !isPlain, unfolded.contains(id) { rows += skipped[id] ?? [] }
      }
      // The others are skipped, and under their cause.
      var counts = index.counts
      counts[Int(StateClass.skipped.rawValue)] -= sorted.count - rows.count
      rowCounts = counts
    }
  }

  private mutating func group(_ run: Run, _ index: JobIndex, isFiltered: Bool) {
    for ids in skipped.values { for id in ids { isUnder[id.index] = false } }
    skipped = [:]
    guard groups, !isFiltered else { return }
    mustGroup = false
    for id in sorted {
      let job = id.index
      wasSkipped[job] = index.classes[job] == .skipped
      // A job follows its cause unless that was itself skipped.
      guard wasSkipped[job], case .skipped(.job(let cause)) = run.jobs[job].state,
        index.classes[cause.index] != .skipped
      else { continue }
      isUnder[job] = true
      skipped[cause, default: []].append(id)
    }
  }

  private mutating func resize(_ run: Run) {
    let count = run.jobs.count
    sorted = (0..<count).map { JobID($0) }
    keys = Array(repeating: 0, count: count)
    isNoted = Array(repeating: false, count: count)
    wasSkipped = isNoted
    isUnder = isNoted
    skipped = [:]
    changed = []
    nameRanks = []
    invalidate()
  }

  private typealias Place = (key: Double, id: JobID)

  private static func precedes(_ left: Place, _ right: Place) -> Bool {
    left.key == right.key ? left.id < right.id : left.key < right.key
  }

  /// The first index of the sorted `ids` whose job does not precede `wanted`.
  private func place(of wanted: Place, in ids: [JobID]) -> Int {
    ids.partitioningIndex { !Self.precedes((keys[$0.index], $0), wanted) }
  }

  private mutating func sortAll(_ run: Run, _ index: JobIndex, now: Duration) {
    for job in keys.indices { keys[job] = key(job, run, index, now: now) }
    var places = sorted.map { Place(keys[$0.index], $0) }
    places.sort(by: Self.precedes)
    sorted = places.map(\.id)
  }

  /// Removes the changed jobs and inserts them at their new places; the stretches between are copied.
  private mutating func merge(_ run: Run, _ index: JobIndex, now: Duration) {
    let leaving = changed.map { place(of: (keys[$0], JobID($0)), in: sorted) }.sorted()
    var moved: [Place] = []
    moved.reserveCapacity(changed.count)
    for job in changed { moved.append((key(job, run, index, now: now), JobID(job))) }
    moved.sort(by: Self.precedes)
    let entering = moved.map { place(of: $0, in: sorted) }
    var merged: [JobID] = []
    merged.reserveCapacity(sorted.count)
    var (from, left, entered) = (0, 0, 0)
    while left < leaving.count || entered < entering.count {
      let next = min(
        left < leaving.count ? leaving[left] : .max, entered < entering.count ? entering[entered] : .max)
      merged += sorted[from..<next]
      from = next
      while entered < entering.count, entering[entered] == next {
        merged.append(moved[entered].id)
        entered += 1
      }
      if left < leaving.count, leaving[left] == next {
        from += 1
        left += 1
      }
    }
    merged += sorted[from...]
    for place in moved { keys[place.id.index] = place.key }
    sorted = merged
  }

  private mutating func key(_ job: Int, _ run: Run, _ index: JobIndex, now: Duration) -> Double {
    let key =
      switch sort {
      case .attention: attention(job, run, index)
      case .name: Double(nameRank(job, run))
      case .progress: -(share(job, run, index))
      case .rate: -(index.classes[job] == .executing ? run.jobs[job].rate(at: now) ?? -1 : -1)
      case .time: -((run.jobs[job].elapsed(at: now) ?? .seconds(-1)) / .seconds(1))
      case .eta: (run.jobs[job].timeLeft(at: now)?.middle ?? .seconds(1e9)) / .seconds(1)
      case .start: start(job, run, index)
      }
    // A NaN would not be found again.
    return key.isNaN ? .infinity : isInverted ? -key : key
  }

  private func attention(_ job: Int, _ run: Run, _ index: JobIndex) -> Double {
    let state = index.classes[job]
    let since = run.jobs[job].since / .seconds(1)
    // A question precedes jobs that need no answer.
    let rank = run.jobs[job].state == .ready(for: .person) ? 1 : state.attention
    let place: Double =
      switch rank {
      case 0, 1, 3: since
      case 2: (run.jobs[job].attempt?.startedAt ?? .zero) / .seconds(1)
      case 4: Double(2 - run.jobs[job].job.priority.level)
      case 5: 0
      // The job that ended last comes first.
      default: 1e8 - since
      }
    return Double(rank) * 1e9 + place
  }

  private func start(_ job: Int, _ run: Run, _ index: JobIndex) -> Double {
    if let first = run.jobs[job].attempts.first { return first.startedAt / .seconds(1) }
    return (index.classes[job].isTerminal ? 2e9 : 1e9) + Double(index.classes[job].attention) * 1e6
  }

  private func share(_ job: Int, _ run: Run, _ index: JobIndex) -> Double {
    switch index.classes[job] {
    case .succeeded, .upToDate: 1
    default: run.jobs[job].progress?.fraction ?? -1
    }
  }

  private mutating func nameRank(_ job: Int, _ run: Run) -> Int {
    if nameRanks.isEmpty {
      // A child follows its parent.
      var names: [(name: String, job: Int)] = []
      for (index, record) in run.jobs.enumerated() {
        let above = record.job.parent.map { names[$0.index].name + "\0" } ?? ""
        names.append((above + record.job.name, index))
      }
      nameRanks = Array(repeating: 0, count: names.count)
      for (rank, name) in names.sorted(by: { $0.name < $1.name }).enumerated() { nameRanks[name.job] = rank }
    }
    return nameRanks[job]
  }
}
