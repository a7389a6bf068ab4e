import JobModel
import Screen

/// The views of the run that the main pane can show; they share one selected job.
///
/// The raw value is the name on the screen.
enum Panel: String, CaseIterable {
  case list
  case tree
  case timeline
  case critical
  case events
}

/// The state of the dashboard: everything that a frame depends on but the time and the terminal.
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
    /// Every action by its name; the number is the index of the chosen one among the matches.
    case palette(LineEditor, Int)
    /// Whether to quit while jobs run.
    case quit
    /// Whether to perform a command on these jobs: to approve them, to end several, or some that are not on the screen.
    case confirm(Command, [JobID])
  }

  /// A short answer to a key, shown until an instant.
  struct Notice: Equatable {
    var text: String
    var until: Duration
  }

  /// A person's choice and place in the log, put aside while instants are shown that may not have them yet.
  struct Later {
    /// The cursor, whether a person had moved it, and the chosen event; nil once a person has chosen in the past.
    var choice: (job: JobID?, isTaken: Bool, event: Int?)?
    /// The place in the log, and its job; nil once a person has moved in the log of the past.
    var reading: (log: LogReader, job: JobID?)?
    /// Tags on jobs that the instant does not have.
    var tags: Set<JobID> = []
  }

  var options: DashboardOptions
  /// The run as it is shown.
  private(set) var run: Run
  /// The live run while the display is frozen, and its index.
  private(set) var behind: Run?
  private var indexBehind = JobIndex()
  private var frozenAt: Duration = .zero
  var later = Later()
  /// Whether the run is shown at a past instant, not at the instant of freezing.
  private(set) var isPast = false
  /// The past instant that was asked for and has not been shown yet.
  var wantedPast: Duration?
  /// Whether past instants can be asked for.
  var hasPast = false
  /// Whether the run is over and is played again.
  var isReplay = false
  /// How many times as fast as the clock of a person the run's time goes.
  var speed = 1.0
  /// How the dashboard is attached to the run of another program; nil for a run of this one.
  var attachment: RunAttachment?
  /// Whether the replay is held.
  var isHeld = false
  /// Whether a person has asked a replay for its next failure, which has not come yet.
  var seeksFailure = false
  private(set) var index: JobIndex
  var filtered = FilteredJobs()
  var order = JobOrder()
  /// The timeline's order.
  var chronology = JobOrder(.start)
  var tree = JobTree()
  var path = PathForecast()
  var events: EventList
  /// The lines of many jobs, while they are shown.
  private(set) var merged: MergedLog?
  /// Whether a job has entered or left the scope of the merged log since it was collected.
  private var isMergedStale = false
  var window = TimeWindow()
  /// When the run will end; nil while that cannot be estimated.
  private(set) var estimate: Estimate?
  private var estimatedAt: Duration?

  var size: Size
  var page = Page.list
  /// The page that the help page covers, and its first line.
  private var covered = (page: Page.list, top: 0)
  var panel = Panel.list
  var focus = Focus.list
  var prompt: Prompt?
  var notice: Notice?
  /// Whether the recording of the run has ended early.
  var isUnrecorded = false
  var log = LogReader()
  var tags: Set<JobID> = []
  var hasMouse: Bool
  /// How often a person has asked to leave a run that is being stopped.
  var quits = 0

  /// The job that keys act on.
  var cursor: JobID?
  /// Whether a person has moved the cursor; until then it moves from an ended job to one that executes.
  var isCursorTaken = false
  var top = 0
  /// Whether the list scrolls with its cursor; the mouse wheel scrolls without it.
  var showsCursor = true
  /// Whether the filter was typed after the last frame, which moves the cursor to a job that it shows.
  var seeksMatch = false
  /// The first line of the help page or of a zoomed job's description.
  var pageTop = 0

  init(run: Run, size: Size, options: DashboardOptions = DashboardOptions()) {
    self.run = run
    self.size = size
    self.options = options
    index = JobIndex(run)
    events = EventList(after: run)
    hasMouse = options.usesMouse
  }

  var keys: KeyMap { options.keys }
  var filter: JobFilter { filtered.filter }
  /// The name of the run in header and title.
  var name: String { run.start?.name ?? options.source ?? "opdash" }
  /// The name of the key that shows the present again; nil where no key does.
  var presentKey: String? {
    if keys.keys(of: .last).contains(.end) { return Key.end.name() }
    return page == .help ? nil : keys.label(.freeze)
  }
  var record: JobRecord? { cursor.map { run.jobs[$0.index] } }

  mutating func showHelp() {
    covered = (page, pageTop)
    (page, pageTop) = (.help, 0)
  }

  /// Whether one job has the whole screen, or has it again after the help page.
  var isZoomed: Bool { (page == .help ? covered.page : page) == .zoom }

  /// Shows the page again that the help covers.
  mutating func leaveHelp() {
    (page, pageTop) = covered
  }

  /// Shows a notice for four seconds.
  mutating func say(_ text: String, _ now: Duration) {
    if !text.isEmpty { notice = Notice(text: text, until: now + .seconds(4) * speed) }
  }

  // MARK: Time

  /// The live run, frozen or not.
  var live: Run { behind ?? run }
  var liveIndex: JobIndex { isFrozen ? indexBehind : index }
  var isFrozen: Bool { behind != nil }

  /// The model with the live run instead of a frozen one: a command that changes the run is judged by it.
  var asLive: Model {
    guard let behind else { return self }
    var model = self
    (model.run, model.index) = (behind, indexBehind)
    (model.behind, model.indexBehind) = (nil, JobIndex())
    return model
  }

  /// Whether the run changes no more unless a person retries a job; a replay may be of such a retry until its end is stated.
  var isOver: Bool { live.summary != nil || live.isComplete && !isReplay }

  /// Whether jobs of the run have inputs, which can be watched.
  var readsInputs: Bool { index.hasInputs }

  /// The run's time in the header: it stops while nothing moves, and does not count the time from its end to a retry.
  func elapsed(at now: Duration) -> Duration { isAtWork ? run.elapsed(at: present(at: now)) : run.length }

  /// The present on the clock of the run's events; of a frozen display the instant of its freezing.
  func present(at now: Duration) -> Duration {
    isAtWork ? max(shownTime(now), run.time) : run.isComplete ? run.lastEnd : run.time
  }

  /// The instant on the screen; for a frozen display, the instant of freezing.
  func shownTime(_ now: Duration) -> Duration { isFrozen ? frozenAt : now }

  /// Whether the display changes as time passes; on a frozen one only the countdown of a stop does.
  var isMoving: Bool {
    !isHeld && (isFrozen ? live.stopping != nil && live.summary == nil && live.counts.active > 0 : isAtWork)
  }

  private var isAtWork: Bool {
    run.summary == nil
      && (run.counts.executing > 0 || run.counts.backingOff > 0 || run.counts.withCluster > 0 || !index.asking.isEmpty)
  }

  /// The share of the work that is done, from 0 to 1: jobs that ended well whole, open ones by their progress.
  var share: Double {
    guard !run.jobs.isEmpty else { return 0 }
    return min(1, (Double(run.counts.succeeded + run.counts.allowed) + index.openShare) / Double(run.jobs.count))
  }

  /// Simulates the rest of the run; with more than `Estimate.frequentLimit` jobs, once a second.
  mutating func updateEstimate(now: Duration) {
    if let estimatedAt, run.jobs.count > Estimate.frequentLimit, now >= estimatedAt, now - estimatedAt < .seconds(1) {
      return
    }
    let graph = run.jobs.count > Estimate.simulationLimit ? nil : path.graph(of: run)
    estimate = Estimate(run, index, graph, now: now)
    estimatedAt = now
  }

  // MARK: Events

  mutating func apply(_ events: [JobEvent]) {
    for event in events { self.events.add(event) }
    guard behind == nil else {
      for event in events { applyBehind(event) }
      return
    }
    for event in events { apply(event) }
  }

  private mutating func applyBehind(_ event: JobEvent) {
    // Nil meanwhile, so that the run is not copied.
    guard var present = behind.take() else { return }
    present.apply(event)
    indexBehind.apply(event, present)
    behind = present
  }

  private mutating func apply(_ event: JobEvent) {
    run.apply(event)
    index.apply(event, run)
    switch event.fact {
    case .jobAdded(let id, _):
      noteMerging(id)
    case .jobLog(let id, _, let line):
      if merged?.holds(id) == true { merged?.append(line, of: id, in: run.jobs[id.index].log) }
    case .programLog(let line):
      if merged?.scope.hasProgram == true { merged?.append(line, of: nil, in: run.programLog) }
    case .jobState(let id, _, _, _), .cancelRequested(let id, _, _):
      order.note(id)
      chronology.note(id)
      filtered.note(id)
      if !filter.isEmpty { tree.invalidate() }
      noteMerging(id)
    case .jobProgress(let id, _):
      if order.sort.movesWithTime { order.note(id) }
    case .priorityChanged(let id, _):
      order.note(id)
    case .runStarted, .jobLaunched, .jobRestored, .jobCaused, .inputsHashed, .jobOutputs, .jobPlaced, .slotsChanged,
      .poolChanged, .clusterChanged, .arrivalsEnded, .drainChanged, .watchChanged, .stopRequested, .warningRaised,
      .warningCleared, .runFinished:
      break
    }
  }

  /// Freezes the display, or shows the live run again.
  mutating func setFrozen(_ frozen: Bool, at now: Duration = .zero) {
    if frozen {
      if !isFrozen { frozenAt = max(now, run.time) }
      if behind == nil { (behind, indexBehind) = (run, index) }
      return
    }
    if isPast { log.held = nil }
    (isPast, wantedPast) = (false, nil)
    guard let present = behind else { return }
    (run, index) = (present, indexBehind)
    (behind, indexBehind) = (nil, JobIndex())
    showAnew()
    (later.choice, later.reading) = (nil, nil)
  }

  /// Shows the run as it was at `time`, until the display is live again.
  mutating func show(_ past: Run, at time: Duration) {
    // No instant has the lines of another.
    if isPast { log.held = nil }
    later.choice = later.choice ?? (cursor, isCursorTaken, events.cursor)
    later.reading = later.reading ?? (log, cursor)
    log.held = nil
    if behind == nil { (behind, indexBehind) = (run, index) }
    (run, index) = (past, JobIndex(past))
    (isPast, frozenAt) = (true, time)
    showAnew()
  }

  /// Restores cursor, event and tags that were put aside where the run has their jobs.
  private mutating func keepChoice() {
    let count = run.jobs.count
    let all = tags.union(later.tags)
    tags = all.filter { $0.index < count }
    later.tags = all.subtracting(tags)
    // In the past, a cursor that no person has moved goes to a job that executed then.
    if let choice = later.choice, let job = choice.job, job.index < count, !isPast || isCursorTaken && choice.isTaken {
      moveCursor(to: job)
    } else if let cursor, cursor.index >= count {
      moveCursor(to: nil)
    }
    if let choice = later.choice { events.restore(choice.event) }
  }

  /// Returns to the place in the log that was put aside, or the last line before it.
  private mutating func keepReading() {
    guard let (reading, job) = later.reading, reading.subject == log.subject, log.subject != .job || job == cursor
    else { return }
    log.resume(reading)
    if isPast { log.held = nil }
    if let mark = log.mark, mark > liveLines?.last?.seq ?? -1 { log.mark = nil }
  }

  mutating func untag() { (tags, later.tags) = ([], []) }

  private mutating func showAnew() {
    keepChoice()
    filtered.invalidate()
    order.invalidate()
    chronology.invalidate()
    tree.invalidate()
    path.invalidate()
    if merged != nil { collectMerged() }
    keepReading()
  }

  // MARK: The merged log

  /// Shows the lines of the cursor's job, of many jobs, or of the program.
  mutating func showLog(of subject: LogReader.Subject) {
    log.subject = subject
    if log.isMerged { collectMerged() } else { merged = nil }
  }

  // MARK: The log

  /// Whether the pane shows the lines of many jobs; a zoomed job has its own log.
  var showsMerged: Bool { log.isMerged && page != .zoom }

  /// Whether the pane shows the program's own output.
  var showsProgram: Bool { log.subject == .program && page != .zoom }

  /// Whether the pane shows the lines of the cursor's job, and names it.
  var showsJobLog: Bool { !showsMerged && !showsProgram }

  /// The lines in the pane; nil until there is a job.
  var lines: LogLines? { log.held ?? liveLines }

  /// The same log as it is in memory now, whatever the reader holds.
  var liveLines: LogLines? {
    if showsMerged, let merged { return LogLines(merged) }
    if showsProgram { return LogLines(program: run.programLog) }
    return cursor.map { LogLines($0, run.jobs[$0.index].log) }
  }

  /// The line that keys act on: the cursor's or, where the log has lost that one, the next; the newest while the log follows.
  var currentLine: JobLine? {
    guard let lines, let last = lines.last else { return nil }
    return log.follows ? last : lines[min(lines.position(of: log.cursor), lines.count - 1)]
  }

  /// The number of lines in the marked range; nil without a range.
  var markedCount: Int? {
    guard let lines, let marked = log.marked else { return nil }
    return min(lines.count, lines.position(of: marked.upperBound) + 1) - lines.position(of: marked.lowerBound)
  }

  /// The number of new lines that cannot be shown together with the held ones.
  var newer: Int {
    guard let held = log.held, let live = liveLines else { return 0 }
    return max(0, live.total - held.total)
  }

  /// The file that contains the whole log that a line is from; nil for a run without log files, and for the program's lines.
  func logPath(of line: JobLine) -> String? {
    guard let job = line.job else { return nil }
    let ring = run.jobs[job.index].log
    // Notes of opdash are not written to the file.
    let attempt =
      line.entry.line.stream != .note
      ? line.entry.attempt : (0..<ring.count).last { ring[$0].line.stream != .note }.map { ring[$0].attempt }
    return run.logPath(job, attempt: attempt ?? line.entry.attempt)
  }

  var readsLog: Bool { focus == .log && log.mark == nil && lines?.isEmpty == false }

  /// Whether a file has more than the pane can show.
  var isLogClipped: Bool { (lines?.dropped ?? 0) > 0 || currentLine?.entry.line.isCut == true }

  /// Where the lines are that have left memory: a file, or a folder for the lines of many jobs.
  var olderPath: String? {
    guard let first = lines?.first else { return nil }
    if showsMerged { return run.start?.folder.map { "\($0)/logs" } }
    return first.job.flatMap { run.logPath($0, attempt: first.entry.attempt) }
  }

  /// Brings the lines being read and the matches up to date; a key may come between the facts and their frame.
  mutating func updateLog() {
    if let merged, isMergedStale || merged.scope != mergedScope { collectMerged() }
    if let live = liveLines { log.hold(live) }
    log.search(lines)
  }

  private var mergedScope: MergedLog.Scope {
    MergedLog.Scope(tags: tags, filter: tags.isEmpty ? filter : .everything)
  }

  private mutating func collectMerged() {
    let scope = mergedScope
    isMergedStale = false
    merged = MergedLog(scope, collection: (merged?.collection ?? 0) + 1, run) { isMerged($0, scope) }
  }

  private func isMerged(_ id: JobID, _ scope: MergedLog.Scope) -> Bool {
    guard scope.tags.isEmpty else { return scope.tags.contains(id) }
    let job = run.jobs[id.index].job
    return scope.filter.isEmpty
      || scope.filter.admits(
        name: Needle.haystack(job.name), state: index.words(of: id, in: run), kind: job.work.kind)
  }

  /// Called for a job that was added or changed its class.
  private mutating func noteMerging(_ id: JobID) {
    if let merged, merged.holds(id) != isMerged(id, merged.scope) { isMergedStale = true }
  }
}
