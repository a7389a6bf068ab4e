import JobModel

/// The newest facts of the run, and where a person is among them.
///
/// Progress and output are left out: the list and the log show them, and there are too many. So are the jobs that the
/// run began with.
struct EventList {
  static let capacity = 5000

  /// What the filter admits, the oldest first.
  private(set) var rows: [Int] = []
  /// How many came before those that are kept.
  private(set) var lost: Int

  private var kept: [JobEvent] = []
  private var first = 0
  private var known = 0
  private var filter = JobFilter.everything
  private var limit = 0
  /// The fact that the cursor is on; nil follows the newest.
  private var cursor: Int?

  /// The jobs that were there from the beginning.
  private var declared: Int

  /// What has happened in `run` happened before anybody looked.
  init(after run: Run) {
    lost = run.nextSeq
    declared = run.start?.jobs ?? 0
  }

  subscript(row: Int) -> JobEvent { kept[rows[row] - first] }

  var follows: Bool { cursor == nil }

  mutating func add(_ event: JobEvent) {
    switch event.fact {
    case .jobAdded(let id, _) where id.index < declared: return
    case .jobProgress, .jobLog: return
    case .runStarted(let start): declared = start.jobs
    default: break
    }
    kept.append(event)
    // In bulk, so that a fact costs a constant.
    guard kept.count > Self.capacity * 2 else { return }
    let surplus = kept.count - Self.capacity
    kept.removeFirst(surplus)
    first += surplus
    lost += surplus
    rows.removeAll { $0 < first }
    known = max(known, first)
  }

  /// The row of the cursor.
  var row: Int? {
    guard let cursor else { return rows.isEmpty ? nil : rows.count - 1 }
    return rows.lastIndex { $0 <= cursor } ?? (rows.isEmpty ? nil : 0)
  }

  /// The last row follows.
  mutating func choose(row: Int) { cursor = row >= rows.count - 1 ? nil : rows[max(0, row)] }

  /// Looks at what is new, or at everything once the filter has changed; nothing from `limit` on is shown.
  mutating func settle(_ run: Run, _ filter: JobFilter) {
    if filter != self.filter || run.nextSeq < limit {
      self.filter = filter
      rows = []
      known = first
    }
    limit = run.nextSeq
    while known - first < kept.count, kept[known - first].seq < limit {
      if filter.isEmpty || admits(kept[known - first], run) { rows.append(known) }
      known += 1
    }
  }

  private func admits(_ event: JobEvent, _ run: Run) -> Bool {
    let wording = EventWording(event.fact, run)
    var state: StateClass?
    if case .jobState(_, let new, _, _) = event.fact { state = StateClass(new) }
    let job = wording.job.map { run.jobs[$0.index].job }
    let text = "\(job?.name ?? "") \(wording.text)"
    return filter.admits(name: Needle.haystack(text), state: state, kind: job?.work.kind ?? "")
  }
}
