import JobModel

/// The rows of the panel that is shown, and the jobs that an action is for.
extension Model {
  var rowCount: Int {
    switch panel {
    case .list: order.rows.count
    case .tree: tree.rows.count
    case .timeline: chronology.rows.count
    case .critical: path.rows.count
    case .events: events.rows.count
    }
  }

  /// The job of a row; nil for an event of the run itself.
  func job(row: Int) -> JobID? {
    switch panel {
    case .list: order.rows[row]
    case .tree: tree.rows[row].job
    case .timeline: chronology.rows[row]
    case .critical: path.rows[row].job
    case .events: events[row].fact.job
    }
  }

  /// The number of rows from `row` on in each state class, by its raw value.
  func counts(from row: Int) -> [Int] {
    panel == .list
      ? order.counts(index, from: row) : index.counts(of: (row..<rowCount).lazy.compactMap { job(row: $0) })
  }

  /// The rows that the filter admits, as text: of all jobs, or of the events.
  var found: String {
    switch panel {
    case .list, .tree, .timeline: "\(order.rows.count)/\(run.jobs.count)"
    // Without its other jobs, a chain would be none.
    case .critical: "not filtered"
    case .events: Format.count(events.rows.count, "event")
    }
  }

  /// The row of the cursor; nil while its job is not among the rows.
  var cursorRow: Int? {
    switch panel {
    case .list: cursor.flatMap { order.row(of: $0) }
    case .tree: tree.row(of: cursor)
    case .timeline: cursor.flatMap { chronology.row(of: $0) }
    case .critical: cursor.flatMap { id in path.rows.firstIndex { $0.job == id } }
    case .events: events.row
    }
  }

  /// Moves the cursor to a row; a row without a job keeps the selected job.
  mutating func choose(row: Int) {
    switch panel {
    case .tree: tree.choose(row: row)
    case .events: events.choose(row: row)
    case .list, .timeline, .critical: break
    }
    select(job(row: row) ?? cursor)
  }

  /// Moves the cursor to the job that a person has chosen: from the past it does not return to an earlier one.
  mutating func select(_ id: JobID?) {
    moveCursor(to: id)
    takeCursor()
    if id != nil { later.choice = nil }
  }

  /// Keeps the cursor where a person has put it, and on the screen.
  mutating func takeCursor() {
    isCursorTaken = true
    showsCursor = true
  }

  /// `keepsPlace` for another log that contains the reader's line too.
  mutating func moveCursor(to id: JobID?, keepsPlace: Bool = false) {
    guard id != cursor else { return }
    cursor = id
    // The chosen event is of the cursor's job, or of the run itself.
    if let chosen = events.chosen?.fact.job, chosen != id { events.follow() }
    if showsJobLog, !keepsPlace { log.leave() }
    if page == .zoom { pageTop = 0 }
  }

  mutating func setPanel(_ panel: Panel) {
    if page != .list { page = .list }
    focus = .list
    if log.extent == .full { log.extent = .half }
    guard panel != self.panel else { return }
    self.panel = panel
    showsCursor = true
    top = 0
    if panel == .tree, let cursor { tree.reveal(cursor, run) }
  }

  mutating func setFilter(_ filter: JobFilter) {
    filtered.setFilter(filter)
    tree.invalidate()
  }

  // MARK: Folding

  /// Whether skipped jobs follow their cause in the list.
  var groupsSkipped: Bool { order.groups && filter.isEmpty }

  /// The job whose row can show or hide others: the cursor's, or the cause under which a skipped job stands.
  var foldable: JobID? {
    guard let cursor else { return nil }
    switch panel {
    case .list:
      guard groupsSkipped else { return nil }
      if order.skipped[cursor] != nil { return cursor }
      guard case .skipped(.job(let cause)) = run.jobs[cursor.index].state else { return nil }
      return order.skipped[cause] == nil ? nil : cause
    case .tree:
      guard !tree.isFiltered, let row = cursorRow, tree.rows.indices.contains(row) else { return nil }
      return tree.rows[row].hasBranches && !tree.rows[row].isRepeat ? cursor : nil
    case .timeline, .critical, .events: return nil
    }
  }

  func isFolded(_ id: JobID) -> Bool { panel == .tree ? tree.isFolded(id) : !order.unfolded.contains(id) }

  // MARK: Targets

  /// Whether a job of the run can be started again.
  var canRetry: Bool { live.summary == nil && live.stopping == nil }

  /// Whether the failure policy lets only the executing jobs finish.
  var isClosedByPolicy: Bool { live.stopping == nil && !liveIndex.endedByPolicy.isEmpty && live.firstFailure != nil }

  /// How a job can be started again, as a word for its key; nil if it can't.
  func repetition(of id: JobID) -> String? {
    run.jobs[id.index].repetition(as: index.classes[id.index])
  }

  /// Whether a target can be started again.
  var someTargetRepeats: Bool {
    index.hasStartable
      ? someTarget { repetition(of: $0) != nil } : someTarget(able: .retry, \.isRetryable)
  }

  /// Whether screens name the commands that retry: not if no job of the run has a way to be retried.
  var offersRetry: Bool { run.jobs.isEmpty || run.ids.contains { isAble($0, .retry) } }

  /// The answer to a key that needs a run which has not ended and is not being stopped.
  var whyClosed: String { isOver ? "the run has ended" : "the run is stopping" }

  /// The failed jobs that were not allowed to fail and can be retried.
  var failures: some Collection<JobID> { run.ids.lazy.filter { index.classes[$0.index].isBad && isAble($0, .retry) } }

  /// The jobs that the screen names: in its rows, or the one on the whole screen.
  var onScreen: Set<JobID> {
    let layout = Layout(self)
    guard !layout.body.isEmpty else { return [] }
    let list = layout.list
    // A zoomed job, or one whose log fills the screen.
    guard page == .list, !list.isEmpty else { return showsJobLog ? Set([cursor].compactMap(\.self)) : [] }
    return Set((top..<max(top, min(top + list.height, rowCount))).compactMap { job(row: $0) })
  }

  /// The end of a question about jobs: how many of them the screen does not name, if any.
  func absence(of jobs: [JobID]) -> String {
    let onScreen = onScreen
    let hidden = jobs.count { !onScreen.contains($0) }
    return hidden == 0 ? "" : hidden == jobs.count ? ", not on the screen" : ", \(hidden) not on the screen"
  }

  /// The cursor's job; nil in the events while the cursor is on one of the run itself.
  var target: JobID? {
    guard panel == .events, page == .list, focus == .list, let chosen = events.chosen else { return cursor }
    return chosen.fact.job == nil ? nil : cursor
  }

  /// The jobs that an action is for: the tagged ones in their order in the graph, or the cursor's.
  var targets: [JobID] { tags.isEmpty ? target.map { [$0] } ?? [] : tags.sorted() }

  func someTarget(able ability: JobAbility? = nil, _ test: (StateClass) -> Bool) -> Bool {
    // All jobs may be tagged, most of them in a few classes.
    guard StateClass.allCases.contains(where: { index.counts[Int($0.rawValue)] > 0 && test($0) }) else { return false }
    return someTarget { id in test(index.classes[id.index]) && ability.map { isAble(id, $0) } != false }
  }

  /// Looks at the tagged jobs in no order.
  func someTarget(where isMet: (JobID) -> Bool) -> Bool {
    tags.isEmpty ? target.map(isMet) ?? false : tags.contains(where: isMet)
  }

  /// Looks at the targets among the open jobs.
  func someOpenTarget(where isMet: (JobID) -> Bool) -> Bool {
    let target = target
    return index.open.contains { (tags.isEmpty ? $0 == target : tags.contains($0)) && isMet($0) }
  }

  /// The pool that the slot keys resize: the one that the cursor's job waits for or uses first, or the run's only pool.
  var pool: String? {
    let record = target.map { run.jobs[$0.index] }
    if case .ready(.pool(let name)) = record?.state { return name }
    return record?.job.uses.keys.min() ?? (live.pools.count == 1 ? live.pools.keys.first : nil)
  }

  func stateClass(of id: JobID) -> StateClass { index.classes[id.index] }

  /// `fetch`, or `3 jobs`.
  func naming(_ ids: [JobID]) -> String {
    ids.count == 1 ? run.jobs[ids[0].index].job.name : Format.count(ids.count, "job")
  }

  /// Whether jobs of this kind of work support it.
  func isAble(_ id: JobID, _ ability: JobAbility) -> Bool {
    run.jobs[id.index].job.work.refusal(of: ability) == nil
  }

  /// Whether a retry of a job resets others that were skipped because of it; operations of a program run in any case.
  func hasSkipped(_ id: JobID) -> Bool { someDependent(of: id) { $0 == .skipped(because: .job(id)) } }

  /// Whether a retry of a job with its dependents resets further jobs: the users of a service, and cancelled jobs.
  func hasMoreDependents(_ id: JobID) -> Bool {
    let isService = run.jobs[id.index].job.service != nil
    return someDependent(of: id) { state in
      if case .cancelled = state { return true }
      return isService && (state.isActive || state.isFailure)
    }
  }

  private func someDependent(of id: JobID, where isMet: (JobState) -> Bool) -> Bool {
    // Asked for each tagged job: a copy of the record would cost more than the answer.
    if case .operation = run.jobs[id.index].job.work { return false }
    return run.jobs[id.index].dependents.contains { isMet(run.jobs[$0.index].state) }
  }
}

extension StateClass {
  package var isPausable: Bool { [.executing, .serving, .backingOff, .ready, .waiting].contains(self) }

  var hasPriority: Bool { [.waiting, .ready, .backingOff].contains(self) }
}
