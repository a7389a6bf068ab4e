import JobModel
import Screen

/// All that the screen depends on.
struct Model {
  enum Page: Equatable {
    case list
    /// One job on the whole screen.
    case zoom
    case help
  }

  enum Focus: Equatable {
    case list
    case log
  }

  enum Prompt: Equatable {
    case filter(LineEditor)
    case search(LineEditor)
    /// Every action by its name; the number is the place chosen among those that match.
    case palette(LineEditor, Int)
    /// Jobs still run: is the person sure?
    case quit
    /// Several jobs would lose what they have done.
    case confirm(Action)
  }

  /// A short answer to a key, shown until an instant.
  struct Notice: Equatable {
    var text: String
    var until: Duration
  }

  var options: Options
  /// The run as it is shown.
  private(set) var run: Run
  /// The run as it is, while the display is frozen.
  private(set) var behind: Run?
  private var frozenAt: Duration = .zero
  private(set) var index: JobIndex
  var order = JobOrder()
  /// The timeline's order.
  var chronology = JobOrder(.start)
  var tree = JobTree()
  var path = PathView()
  var events: EventList
  /// The lines of many jobs, while they are asked for.
  private(set) var merged: MergedLog?
  /// Whether jobs have come to, or gone from, those whose lines are merged.
  private var mustMerge = false
  var window = TimeWindow()
  /// When the run will end; nil while nothing can be said.
  private(set) var estimate: Estimate?
  private var estimatedAt: Duration?

  var size: Size
  var page = Page.list
  var panel = Panel.list
  var focus = Focus.list
  var prompt: Prompt?
  var notice: Notice?
  var log = LogView()
  var tags: Set<JobID> = []
  var hasMouse: Bool
  /// How often a person has asked to leave a run that is being stopped.
  var quits = 0

  /// The job that keys act on.
  var cursor: JobID?
  /// Whether a person has taken the cursor; until then it moves on to what works when its job does not.
  var isCursorTaken = false
  /// The first row of the list on the screen.
  var top = 0
  /// Whether the list scrolls with its cursor; a wheel turn leaves it behind.
  var showsCursor = true
  /// The first line of the help page or of a zoomed job's description.
  var pageTop = 0

  init(run: Run, size: Size, options: Options = Options()) {
    self.run = run
    self.size = size
    self.options = options
    index = JobIndex(run)
    events = EventList(after: run)
    hasMouse = options.usesMouse
  }

  var keys: KeyMap { options.keys }

  /// The run as it is, frozen or not.
  var live: Run { behind ?? run }
  var isFrozen: Bool { behind != nil }

  /// Whether nothing more will happen by itself.
  var isOver: Bool { live.summary != nil || live.isComplete }

  // MARK: The rows of the panel that is shown

  var rowCount: Int {
    switch panel {
    case .list: order.rows.count
    case .tree: tree.rows.count
    case .timeline: chronology.rows.count
    case .critical: path.rows.count
    case .events: events.rows.count
    }
  }

  /// The job of a row; nil for a row that is about the run.
  func job(row: Int) -> JobID? {
    switch panel {
    case .list: order.rows[row]
    case .tree: tree.rows[row].job
    case .timeline: chronology.rows[row]
    case .critical: path.rows[row].job
    case .events: EventWording(events[row].fact, run).job
    }
  }

  /// How many of the rows from `row` on are in each class, by its raw value.
  func counts(from row: Int) -> [Int] {
    switch panel {
    case .list: return order.counts(index, from: row)
    case .tree: return index.counts(of: tree.rows[row...].lazy.map(\.job))
    case .timeline, .critical, .events: return index.counts(of: (row..<rowCount).lazy.compactMap { job(row: $0) })
    }
  }

  /// Where the cursor is; nil while its job is not among the rows.
  var cursorRow: Int? {
    switch panel {
    case .list: cursor.flatMap { order.row(of: $0) }
    case .tree: tree.row(of: cursor)
    case .timeline: cursor.flatMap { chronology.row(of: $0) }
    case .critical: cursor.flatMap { id in path.rows.firstIndex { $0.job == id } }
    case .events: events.row
    }
  }

  /// Puts the cursor on a row; one that is about the run leaves the selected job as it is.
  mutating func choose(row: Int) {
    isCursorTaken = true
    showsCursor = true
    switch panel {
    case .tree: tree.choose(row: row)
    case .events: events.choose(row: row)
    case .list, .timeline, .critical: break
    }
    if let id = job(row: row) { moveCursor(to: id) }
  }

  mutating func setPanel(_ panel: Panel) {
    if page != .list { page = .list }
    focus = .list
    guard panel != self.panel else { return }
    self.panel = panel
    showsCursor = true
    top = 0
    if panel == .tree, let cursor { tree.reveal(cursor, run) }
    if log.extent == .full { log.extent = .half }
  }

  mutating func setFilter(_ filter: JobFilter) {
    order.setFilter(filter)
    chronology.setFilter(filter)
    tree.invalidate()
  }

  var record: JobRecord? { cursor.map { run.jobs[$0.index] } }

  /// The jobs that an action is for: the tagged ones in their order in the graph, or the cursor's.
  var targets: [JobID] { tags.isEmpty ? cursor.map { [$0] } ?? [] : tags.sorted() }

  /// The run's own clock as the header shows it: still while nothing moves.
  func elapsed(at now: Duration) -> Duration { isMoving ? max(now, run.time) : run.length }

  /// The instant that is shown: of a frozen display, that of its freezing.
  func shownTime(_ now: Duration) -> Duration { isFrozen ? frozenAt : now }

  /// Whether what is shown changes as time goes by.
  var isMoving: Bool { !isFrozen && run.summary == nil && (run.counts.executing > 0 || run.counts.backingOff > 0) }

  // MARK: Facts

  mutating func apply(_ events: [JobEvent]) {
    for event in events { self.events.add(event) }
    guard behind == nil else {
      for event in events { behind?.apply(event) }
      return
    }
    for event in events { apply(event) }
  }

  private mutating func apply(_ event: JobEvent) {
    run.apply(event)
    switch event.fact {
    case .jobAdded(let id, _):
      index.add(id, run)
      noteMerging(id)
    case .jobLog(let id, _, _):
      if merged?.holds(id) == true, let entry = run.jobs[id.index].log.last {
        merged?.append(JobLine(job: id, entry: entry))
      }
    case .jobState(let id, _, _, _):
      index.move(id, run)
      order.note(id)
      chronology.note(id)
      if !order.filter.isEmpty { tree.invalidate() }
      noteMerging(id)
    case .jobProgress(let id, _):
      index.report(id, run)
      if order.sort.movesWithTime { order.note(id) }
    case .priorityChanged(let id, _):
      order.note(id)
    case .runStarted, .cancelRequested, .slotsChanged, .drainChanged, .stopRequested, .runFinished:
      break
    }
  }

  /// Holds the display still, or brings it to the present.
  mutating func setFrozen(_ frozen: Bool, at now: Duration = .zero) {
    if frozen {
      if !isFrozen { frozenAt = max(now, run.time) }
      behind = behind ?? run
    } else if let present = behind {
      run = present
      behind = nil
      index = JobIndex(run)
      order.invalidate()
      chronology.invalidate()
      tree.invalidate()
      path.invalidate()
      if merged != nil { merge() }
    }
  }

  // MARK: Before a frame

  /// Puts order, cursor and scrolling right; `View` draws a settled model.
  mutating func settle(now: Duration) {
    let now = shownTime(now)
    order.settle(run, index, now: now)
    settlePanel(now: now)
    settleCursor()
    settleLog()
    settleTop()
    settleEstimate(now: now)
  }

  /// It asks every job at work: of thousands once a second.
  private mutating func settleEstimate(now: Duration) {
    if let estimatedAt, index.open.count > Estimate.atHand, now >= estimatedAt, now - estimatedAt < .seconds(1) {
      return
    }
    estimate = Estimate(run, index, now: now)
    estimatedAt = now
  }

  // MARK: The merged log

  /// Shows the lines of many jobs, or those of the cursor's alone.
  mutating func setMerged(_ isMerged: Bool) {
    log.isMerged = isMerged
    if isMerged { merge() } else { merged = nil }
  }

  /// The tagged jobs, or else those that the filter admits.
  private var mergedScope: MergedLog.Scope {
    if !tags.isEmpty { return .tags(tags) }
    return order.filter.isEmpty ? .all : .filter(order.filter)
  }

  private mutating func merge() {
    let scope = mergedScope
    mustMerge = false
    merged = MergedLog(scope, gathering: (merged?.gathering ?? 0) + 1, run) { isMerged($0, scope) }
  }

  private func isMerged(_ id: JobID, _ scope: MergedLog.Scope) -> Bool {
    switch scope {
    case .all: return true
    case .tags(let tags): return tags.contains(id)
    case .filter(let filter):
      let job = run.jobs[id.index].job
      return filter.admits(name: Needle.haystack(job.name), state: index.classes[id.index], kind: job.work.kind)
    }
  }

  /// A job has come, or is in another state than before.
  private mutating func noteMerging(_ id: JobID) {
    if let merged, merged.holds(id) != isMerged(id, merged.scope) { mustMerge = true }
  }

  private mutating func settleLog() {
    if let merged, mustMerge || merged.scope != mergedScope { merge() }
    if let live = liveLines { log.hold(live) }
    log.search(lines)
  }

  private mutating func settlePanel(now: Duration) {
    let layout = Layout(self)
    let showsTimeline = panel == .timeline || !layout.strip.isEmpty
    if showsTimeline { chronology.settle(run, index, now: now) }
    let isWhole = showsTimeline || panel == .critical
    // The header names the chain, the list marks it, and the detail says how much room its job has.
    if isWhole || run.jobs.count <= PathView.atHand {
      path.settle(run, index, now: elapsed(at: now), isWhole: isWhole)
    }
    if panel == .tree { tree.settle(run, order) }
    if panel == .events { events.settle(run, order.filter) }
  }

  private mutating func settleCursor() {
    // Until a person takes it, it is on what works or needs a look, where there is anything of the kind.
    if !isCursorTaken, let id = cursor, let first = order.rows.first {
      let attention = index.classes[id.index].attention
      if attention >= 3, index.classes[first.index].attention < attention { moveCursor(to: first) }
    }
    // What is folded away gives the cursor to its cause.
    if let id = cursor, case .skipped(let cause) = run.jobs[id.index].state, panel == .list, order.groups,
      order.skipped[cause]?.contains(id) == true, !order.unfolded.contains(cause)
    {
      moveCursor(to: cause)
    }
    // A job that the filter hides gives the cursor to the first that it shows.
    if cursor == nil || cursor.map(order.admits) == false { moveCursor(to: order.rows.first) }
  }

  private mutating func settleTop() {
    let height = Layout(self).list.height
    let last = max(0, rowCount - height)
    if panel == .critical, !isCursorTaken {
      top = 0
    } else if showsCursor, height > 0, let row = cursorRow {
      // Where time goes downwards and nobody has chosen a row, what comes next is to be seen too.
      let margin = panel == .timeline && !isCursorTaken ? (height - 1) / 3 : 0
      top = min(max(top, row - height + 1 + margin), max(0, row - margin))
    }
    top = min(max(0, top), last)
  }

  /// `keepsPlace` for another log in which the reader's line is too.
  mutating func moveCursor(to id: JobID?, keepsPlace: Bool = false) {
    guard id != cursor else { return }
    cursor = id
    if !showsMerged, !keepsPlace { log.leave() }
    if page == .zoom { pageTop = 0 }
  }
}
