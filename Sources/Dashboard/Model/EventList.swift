import JobModel

/// The newest events of the run, and the cursor among them.
///
/// Progress and output are left out, because list and log show them; so are the jobs that the run started with.
struct EventList {
  static let capacity = 5000
  /// Times are shown in tenths of a second.
  private static let shortWait: Duration = .milliseconds(50)

  /// The numbers of the kept events that the filter admits, oldest first.
  private(set) var rows: [Int] = []
  /// The number of events before the kept ones.
  private(set) var lost: Int

  private var kept: [JobEvent] = []
  /// The number of the first kept event.
  private var first = 0
  /// The number of the first event that the filter has not been asked about.
  private var known = 0
  private var filter = JobFilter.everything
  private var extent = Extent()
  /// The number of the cursor's event; nil follows the newest.
  private(set) var cursor: Int?
  /// The number of jobs that the run started with.
  private var declared: Int
  /// The newest shown event of each job that is ready and has not started.
  private var ready: [JobID: Int] = [:]

  /// The events that the shown run has.
  private struct Extent {
    /// The past instant that is shown; nil for the present, frozen or not.
    var instant: Duration?
    var jobs = 0
    var nextSeq = 0

    /// An event that stands for missed ones has another number in the record of the run, but an instant of its own.
    func has(_ event: JobEvent) -> Bool {
      if let job = event.fact.job, job.index >= jobs { return false }
      return instant.map { event.time <= $0 } ?? (event.seq < nextSeq)
    }
  }

  init(after run: Run) {
    lost = run.nextSeq
    declared = run.start?.jobs ?? 0
  }

  subscript(row: Int) -> JobEvent { kept[rows[row] - first] }

  var follows: Bool { cursor == nil }

  /// The cursor's event, or the one before it that the filter admits; nil while the newest is followed, and while the run does
  /// not have the cursor's yet.
  var chosen: JobEvent? { cursor.map { extent.has(kept[$0 - first]) } == true ? row.map { self[$0] } : nil }

  mutating func add(_ event: JobEvent) {
    switch event.fact {
    case .jobAdded(let id, _) where id.index < declared: return
    case .jobProgress, .jobLog, .programLog, .jobRestored, .inputsHashed: return
    // A service whose end was asked for serves no longer: that does not start it.
    case .jobState(let id, .executing, _, _) where kept.last.map { $0.fact.isEnding(id) } == true: return
    case .runStarted(let start): declared = start.jobs
    default: break
    }
    kept.append(event)
    // Removed in bulk, so that the cost of an event is constant.
    guard kept.count > Self.capacity * 2 else { return }
    let surplus = kept.count - Self.capacity
    kept.removeFirst(surplus)
    first += surplus
    lost += surplus
    rows.removeAll { $0 < first }
    known = max(known, first)
    if let cursor, cursor < first { follow() }
  }

  var row: Int? {
    guard let cursor else { return rows.isEmpty ? nil : rows.count - 1 }
    return rows.lastIndex { $0 <= cursor } ?? (rows.isEmpty ? nil : 0)
  }

  mutating func follow() { cursor = nil }

  /// Chooses an earlier cursor's event again, or follows the newest where that one is not kept any more.
  mutating func restore(_ earlier: Int?) { cursor = earlier.flatMap { $0 < first ? nil : $0 } }

  /// Choosing the last row follows the newest event.
  mutating func choose(row: Int) { cursor = row >= rows.count - 1 ? nil : rows[max(0, row)] }

  /// Adds the new events that the filter admits, or filters all again if it has changed; shows no event after `run`, which is
  /// of a past `instant` or, without one, the present.
  mutating func update(_ run: Run, _ filter: JobFilter, at instant: Duration? = nil) {
    if filter != self.filter || instant != extent.instant {
      self.filter = filter
      rows = []
      ready = [:]
      known = first
    }
    extent = Extent(instant: instant, jobs: run.jobs.count, nextSeq: run.nextSeq)
    while known - first < kept.count {
      let isShown = extent.has(kept[known - first])
      // A frozen display shows later events when it is live again.
      guard isShown || instant != nil else { break }
      if isShown, filter.isEmpty || admits(kept[known - first], run) {
        removeShortWait()
        rows.append(known)
      }
      known += 1
    }
  }

  /// Removes the wait for a slot that the event ends as soon as it has begun: it says nothing.
  private mutating func removeShortWait() {
    let event = kept[known - first]
    guard case .jobState(let id, let state, _, _) = event.fact else { return }
    let last = ready.removeValue(forKey: id)
    if case .ready(for: .slot) = state { ready[id] = known }
    guard state == .executing, let last, last >= first, event.time - kept[last - first].time < Self.shortWait,
      let row = rows.lastIndex(of: last)
    else { return }
    rows.remove(at: row)
    if cursor == last { cursor = known }
  }

  private func admits(_ event: JobEvent, _ run: Run) -> Bool {
    let job = event.fact.job.map { run.jobs[$0.index].job }
    let text = "\(job?.name ?? "") \(event.fact.text(in: run))"
    return filter.admits(name: Needle.haystack(text), state: event.fact.stateNames, kind: job?.work.kind ?? "")
  }
}
