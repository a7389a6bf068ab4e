import JobModel

/// The column that the list is sorted by.
enum SortColumn: CaseIterable {
  case attention
  case name
  case progress
  case rate
  case time
  case eta
  /// The timeline's: by the first attempt, then what has none.
  case start

  /// Those that a person chooses from.
  static let allCases: [SortColumn] = [.attention, .name, .progress, .rate, .time, .eta]

  var word: String {
    switch self {
    case .attention: "attention"
    case .name: "name"
    case .progress: "progress"
    case .rate: "rate"
    case .time: "time"
    case .eta: "eta"
    case .start: "start"
    }
  }

  /// Whether a job's place changes with its progress or with time alone.
  var movesWithTime: Bool {
    switch self {
    case .attention, .name, .start: false
    case .progress, .rate, .time, .eta: true
    }
  }
}

/// The jobs in the list's order, those that the filter shuts out left out.
///
/// Facts only note what has changed; `settle` puts it right once a frame, in time linear in the jobs.
struct JobOrder {
  /// What the list shows, first row first.
  private(set) var rows: [JobID] = []
  private(set) var sort = SortColumn.attention
  private(set) var isInverted = false
  private(set) var filter = JobFilter.everything
  /// The jobs that were skipped because of another, by that other: in the order of attention they stand under it.
  private(set) var skipped: [JobID: [JobID]] = [:]
  /// Those whose skipped jobs are shown.
  private(set) var unfolded: Set<JobID> = []

  private var sorted: [Int] = []
  private var keys: [Double] = []
  private var passes: [Bool] = []
  private var haystacks: [[UInt8]] = []
  private var nameRanks: [Int] = []
  private var changed: [Int] = []
  private var isNoted: [Bool] = []
  private var mustSort = true
  private var mustFilter = true
  private var mustRow = true

  init(_ sort: SortColumn = .attention) { self.sort = sort }

  /// Whether what was skipped stands under its cause; a filter shows what it admits, wherever it is.
  var groups: Bool { sort == .attention && !isInverted && filter.isEmpty }

  var isSettled: Bool { !mustSort && !mustFilter && !mustRow && changed.isEmpty }

  mutating func note(_ id: JobID) {
    guard id.index < isNoted.count, !isNoted[id.index] else { return }
    isNoted[id.index] = true
    changed.append(id.index)
  }

  /// Jobs came or everything may have changed.
  mutating func invalidate() {
    mustSort = true
    mustFilter = true
  }

  mutating func setSort(_ column: SortColumn, inverted: Bool) {
    sort = column
    isInverted = inverted
    mustSort = true
  }

  mutating func setFilter(_ filter: JobFilter) {
    guard filter != self.filter else { return }
    self.filter = filter
    mustFilter = true
  }

  /// Shows or hides what was skipped because of a job.
  mutating func toggle(_ id: JobID) {
    if unfolded.remove(id) == nil { unfolded.insert(id) }
    mustRow = true
  }

  func admits(_ id: JobID) -> Bool { filter.isEmpty || passes[id.index] }

  mutating func settle(_ run: Run, _ index: JobIndex, now: Duration) {
    if run.jobs.count != keys.count { resize(run) }
    if sort.movesWithTime { for id in index.open { note(id) } }
    guard !isSettled else { return }
    // Past a quarter, sorting everything is the cheaper way.
    if mustSort || changed.count > keys.count / 4 {
      for job in keys.indices { keys[job] = key(job, run, index, now: now) }
      sorted = sorted.sorted { precedes($0, $1) }
    } else if !changed.isEmpty {
      merge(run, index, now: now)
    }
    if !filter.isEmpty { pass(run, index) }
    for job in changed { isNoted[job] = false }
    changed.removeAll(keepingCapacity: true)
    mustSort = false
    mustFilter = false
    mustRow = false
    select(run, index)
  }

  private mutating func select(_ run: Run, _ index: JobIndex) {
    skipped = [:]
    guard groups else {
      rows = filter.isEmpty ? sorted.map { JobID($0) } : sorted.filter { passes[$0] }.map { JobID($0) }
      return
    }
    for job in sorted { if let cause = cause(of: job, run, index) { skipped[cause, default: []].append(JobID(job)) } }
    guard !skipped.isEmpty else {
      rows = sorted.map { JobID($0) }
      return
    }
    rows.removeAll(keepingCapacity: true)
    for job in sorted where cause(of: job, run, index) == nil {
      rows.append(JobID(job))
      if unfolded.contains(JobID(job)) { rows += skipped[JobID(job)] ?? [] }
    }
  }

  /// The job under which a skipped one stands; one whose cause was skipped in its turn stands for itself.
  private func cause(of job: Int, _ run: Run, _ index: JobIndex) -> JobID? {
    guard index.classes[job] == .skipped, case .skipped(let cause) = run.jobs[job].state else { return nil }
    return index.classes[cause.index] == .skipped ? nil : cause
  }

  private mutating func resize(_ run: Run) {
    let count = run.jobs.count
    sorted = Array(0..<count)
    keys = Array(repeating: 0, count: count)
    passes = Array(repeating: true, count: count)
    isNoted = Array(repeating: false, count: count)
    changed = []
    haystacks = []
    nameRanks = []
    invalidate()
  }

  private func precedes(_ left: Int, _ right: Int) -> Bool {
    keys[left] == keys[right] ? left < right : keys[left] < keys[right]
  }

  /// Takes the changed jobs out, sorts them and puts them back in one pass.
  private mutating func merge(_ run: Run, _ index: JobIndex, now: Duration) {
    for job in changed { keys[job] = key(job, run, index, now: now) }
    let moved = changed.sorted { precedes($0, $1) }
    var merged: [Int] = []
    merged.reserveCapacity(sorted.count)
    var next = 0
    for job in sorted where !isNoted[job] {
      while next < moved.count, precedes(moved[next], job) {
        merged.append(moved[next])
        next += 1
      }
      merged.append(job)
    }
    merged += moved[next...]
    sorted = merged
  }

  private mutating func pass(_ run: Run, _ index: JobIndex) {
    if haystacks.isEmpty { haystacks = run.jobs.map { Needle.haystack($0.job.name) } }
    if mustFilter {
      for job in passes.indices { passes[job] = admits(job, run, index) }
    } else {
      for job in changed { passes[job] = admits(job, run, index) }
    }
  }

  private func admits(_ job: Int, _ run: Run, _ index: JobIndex) -> Bool {
    filter.admits(name: haystacks[job], state: index.classes[job], kind: run.jobs[job].job.work.kind)
  }

  /// Smaller comes first.
  private mutating func key(_ job: Int, _ run: Run, _ index: JobIndex, now: Duration) -> Double {
    let key =
      switch sort {
      case .attention: attention(job, run, index)
      case .name: Double(nameRank(job, run))
      case .progress: -(share(job, run, index))
      case .rate: -(index.classes[job] == .executing ? run.jobs[job].rate ?? -1 : -1)
      case .time: -((run.jobs[job].elapsed(at: now) ?? .seconds(-1)) / .seconds(1))
      case .eta: (run.jobs[job].remaining(at: now) ?? .seconds(1e9)) / .seconds(1)
      case .start: start(job, run, index)
      }
    return isInverted ? -key : key
  }

  private func attention(_ job: Int, _ run: Run, _ index: JobIndex) -> Double {
    let state = index.classes[job]
    let since = run.jobs[job].since / .seconds(1)
    let place: Double =
      switch state.attention {
      case 0, 2: since
      case 1: (run.jobs[job].attempt?.startedAt ?? .zero) / .seconds(1)
      case 3: Double(2 - run.jobs[job].job.priority.level)
      case 4: 0
      // What ended last is the most interesting of what is done.
      default: 1e8 - since
      }
    return Double(state.attention) * 1e9 + place
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
      let byName = run.jobs.indices.sorted { run.jobs[$0].job.name < run.jobs[$1].job.name }
      nameRanks = Array(repeating: 0, count: byName.count)
      for (rank, job) in byName.enumerated() { nameRanks[job] = rank }
    }
    return nameRanks[job]
  }
}
