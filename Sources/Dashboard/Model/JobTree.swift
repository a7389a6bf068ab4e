import JobModel
import Screen

/// The jobs as a tree of needs: jobs without dependents at the left edge, below each job its children, then its needs.
///
/// A child that another child of the same parent needs is below that one.
///
/// A job with several dependents shows its own needs below the first one only; the other rows refer to it. Rows follow
/// the order of the graph, so they don't move while the run progresses.
struct JobTree {
  struct Row: Equatable {
    let job: JobID
    var depth = 0
    /// The row of the dependent; -1 at the left edge.
    var parent = -1
    var isLast = false
    /// Whether the rows below it are below an earlier row of the same job.
    var isRepeat = false
    /// Whether there are rows below it, shown or not.
    var hasBranches = false
  }

  private(set) var rows: [Row] = []
  private(set) var folded: Set<JobID> = []
  /// Whether a filter chooses the rows: then no fold hides any.
  private(set) var isFiltered = false
  /// The width of guides and name of the widest row, in cells.
  private(set) var width = 0

  private var count = 0
  private var isStale = true
  /// The first row of each job; -1 for a job that is folded away or filtered out.
  private var places: [Int] = []
  private var cursor = 0

  /// Rows at this depth or deeper have the same indentation.
  static let deepest = 12

  mutating func invalidate() { isStale = true }

  mutating func toggle(_ id: JobID) {
    if folded.remove(id) == nil { folded.insert(id) }
    isStale = true
  }

  func isFolded(_ id: JobID) -> Bool { !isFiltered && folded.contains(id) }

  /// The row of the cursor: the last chosen one while it is of that job, otherwise the job's first row.
  func row(of id: JobID?) -> Int? {
    guard let id, id.index < places.count else { return nil }
    if rows.indices.contains(cursor), rows[cursor].job == id { return cursor }
    return places[id.index] < 0 ? nil : places[id.index]
  }

  mutating func choose(row: Int) { cursor = row }

  /// Unfolds the chain of first dependents, or parents, above a job.
  mutating func reveal(_ id: JobID, _ run: Run) {
    var next = id
    var seen: Set<JobID> = [id]
    while let above = run.jobs[next.index].dependents.first ?? run.jobs[next.index].job.parent,
      seen.insert(above).inserted
    {
      if folded.remove(above) != nil { isStale = true }
      next = above
    }
  }

  /// Builds the rows anew if they have changed; takes time linear in jobs and needs, without recursion.
  mutating func update(_ run: Run, _ jobs: FilteredJobs) {
    guard isStale || count != run.jobs.count else { return }
    isStale = false
    count = run.jobs.count
    isFiltered = !jobs.filter.isEmpty
    build(run)
    if isFiltered { keep(jobs) }
    places = Array(repeating: -1, count: count)
    width = 0
    for (place, row) in rows.enumerated() {
      if places[row.job.index] < 0 { places[row.job.index] = place }
      width = max(width, min(row.depth, Self.deepest) * 2 + TextWidth.of(run.jobs[row.job.index].job.name) + 3)
    }
  }

  private mutating func build(_ run: Run) {
    rows = []
    var isThere = [Bool](repeating: false, count: count)
    var open: [Row] = []
    let roots = run.ids.filter { run.jobs[$0.index].dependents.isEmpty && run.jobs[$0.index].job.parent == nil }
    for (place, id) in roots.enumerated().reversed() {
      open.append(row(id, depth: 0, parent: -1, isLast: place == roots.count - 1, run))
    }
    while var row = open.popLast() {
      let job = row.job
      row.isRepeat = isThere[job.index]
      isThere[job.index] = true
      let place = rows.count
      rows.append(row)
      guard !row.isRepeat, row.hasBranches, !isFolded(job) else { continue }
      let below = children(of: job, run) + needs(of: job, run)
      for (number, id) in below.enumerated().reversed() {
        open.append(self.row(id, depth: row.depth + 1, parent: place, isLast: number == below.count - 1, run))
      }
    }
  }

  private func row(_ id: JobID, depth: Int, parent: Int, isLast: Bool, _ run: Run) -> Row {
    let record = run.jobs[id.index]
    return Row(
      job: id, depth: depth, parent: parent, isLast: isLast,
      hasBranches: !record.job.needs.isEmpty || !record.children.isEmpty)
  }

  /// The children that no other child of the job needs.
  private func children(of id: JobID, _ run: Run) -> [JobID] {
    run.jobs[id.index].children.filter { child in
      !run.jobs[child.index].dependents.contains { run.jobs[$0.index].job.parent == id }
    }
  }

  /// The needed jobs that have been added, each once even if it is needed on two conditions.
  private func needs(of id: JobID, _ run: Run) -> [JobID] {
    var needs: [JobID] = []
    for need in run.knownNeeds(of: id) where needs.last != need.job { needs.append(need.job) }
    return needs
  }

  /// Keeps the rows that the filter admits, and the rows above them.
  private mutating func keep(_ jobs: FilteredJobs) {
    var isKept = rows.map { jobs.admits($0.job) }
    for place in rows.indices.reversed() where isKept[place] && rows[place].parent >= 0 {
      isKept[rows[place].parent] = true
    }
    var moved = [Int](repeating: -1, count: rows.count)
    var kept: [Row] = []
    var last: [Int: Int] = [:]
    for place in rows.indices where isKept[place] {
      var row = rows[place]
      if row.parent >= 0 { row.parent = moved[row.parent] }
      moved[place] = kept.count
      // The last row that is kept below a parent is its last one now.
      if let before = last[row.parent] { kept[before].isLast = false }
      row.isLast = true
      last[row.parent] = kept.count
      kept.append(row)
    }
    rows = kept
  }
}
