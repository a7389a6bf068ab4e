/// All that is known of a run: the fold of its events, and nothing else.
package struct Run: Sendable, Equatable {
  package private(set) var start: RunStart?
  package private(set) var slots = 0
  package private(set) var isDraining = false
  package private(set) var stopping: Stopping?
  package private(set) var jobs: [JobRecord] = []
  package private(set) var counts = Counts()
  package private(set) var summary: RunSummary?
  /// The instant of the newest event.
  package private(set) var time: Duration = .zero
  /// When the last job that has ended did.
  private var lastEnd: Duration = .zero
  /// Bytes of output held in the rings of jobs that have ended, and those jobs, the first to end first.
  private var endedLogs = EndedLogs()
  /// Needs of jobs that have been added before what they need.
  private var early: [JobID: [JobGraph.Dependent]] = [:]
  /// The number that the next event must have.
  package private(set) var nextSeq = 0

  package init() {}

  /// The slots of a program's own queue that has no limit.
  package static let unlimited = 1_000_000

  package struct Stopping: Sendable, Equatable {
    package var level: StopLevel
    package var by: JobState.Canceller
    package var at: Duration
  }

  /// How many jobs are in each state.
  package struct Counts: Sendable, Equatable {
    package var waiting = 0
    package var ready = 0
    package var executing = 0
    /// Held by a person, whether an attempt is in progress or not.
    package var paused = 0
    package var backingOff = 0
    package var succeeded = 0
    package var failed = 0
    /// Part of `failed`: those that were allowed to.
    package var allowed = 0
    package var cancelled = 0
    /// Part of `cancelled`: those that the program itself cancelled, on purpose.
    package var cancelledByProgram = 0
    package var skipped = 0
    /// Attempts in progress, paused or not: the slots taken.
    package var active = 0

    package var done: Int { succeeded + failed + cancelled + skipped }
    package var all: Int { done + waiting + ready + executing + paused + backingOff }

    mutating func add(_ state: JobState, _ amount: Int) {
      if state.isActive { active += amount }
      switch state {
      case .waiting: waiting += amount
      case .ready: ready += amount
      case .executing: executing += amount
      case .paused: paused += amount
      case .backingOff: backingOff += amount
      case .succeeded: succeeded += amount
      case .failed(_, let isAllowed):
        failed += amount
        if isAllowed { allowed += amount }
      case .cancelled(let canceller):
        cancelled += amount
        if canceller == .program { cancelledByProgram += amount }
      case .skipped: skipped += amount
      }
    }
  }

  package subscript(id: JobID) -> JobRecord { jobs[id.index] }

  package var ids: some RandomAccessCollection<JobID> { jobs.indices.lazy.map { JobID($0) } }

  package func id(named name: String) -> JobID? {
    jobs.firstIndex { $0.job.name == name }.map { JobID($0) }
  }

  /// Whether every job has ended.
  package var isComplete: Bool { start != nil && jobs.count >= (start?.jobs ?? 0) && counts.done == jobs.count }

  /// How long the jobs have taken: once all have ended, the time in which somebody still looked at them is left out.
  package var length: Duration { isComplete ? lastEnd : time }

  /// Where the output of an attempt is kept whole; the file exists from its first byte on.
  package func logPath(_ id: JobID, attempt: Int) -> String? {
    start?.folder.map { LogPath.file(in: $0, job: self[id].job.name, id: id, attempt: attempt) }
  }

  /// The jobs that would be skipped if `id` were cancelled now, in the order of their identifiers.
  ///
  /// Takes time linear in the jobs that hang on it and their needs.
  package func skipped(byCancelling id: JobID) -> [JobID] {
    guard !self[id].state.isTerminal else { return [] }
    var isReached = [Bool](repeating: false, count: jobs.count)
    isReached[id.index] = true
    var open = [id]
    var skipped: [JobID] = []
    while let next = open.popLast() {
      // A job that is cancelled or skipped has ended and has not failed.
      for edge in jobs[next.index].edges where edge.when != .finished && !isReached[edge.job.index] {
        let state = jobs[edge.job.index].state
        guard !state.isTerminal, !state.isActive else { continue }
        isReached[edge.job.index] = true
        skipped.append(edge.job)
        open.append(edge.job)
      }
    }
    return skipped.sorted()
  }

  package mutating func apply(_ event: JobEvent) {
    precondition(event.seq == nextSeq, "event \(event.seq) does not follow \(nextSeq - 1)")
    nextSeq += 1
    time = event.time
    switch event.fact {
    case .runStarted(let start):
      self.start = start
      slots = start.slots
      jobs.reserveCapacity(start.jobs)
    case .jobAdded(let id, let job):
      precondition(id.index == jobs.count, "jobs are added in the order of their identifiers")
      jobs.append(JobRecord(job: job))
      jobs[id.index].since = event.time
      counts.add(.waiting, 1)
      guard let declared = start?.jobs, jobs.count >= declared else { break }
      if jobs.count == declared { link() } else { link(late: id) }
    case .jobState(let id, let state, let attempt, let pid):
      move(id, to: state, attempt: attempt, pid: pid, at: event.time)
    case .jobProgress(let id, let progress):
      jobs[id.index].report(progress, at: event.time)
    case .jobLog(let id, let attempt, let line):
      jobs[id.index].log.append(line, seq: event.seq, at: event.time, attempt: attempt)
    case .cancelRequested(let id, let canceller, let isKill):
      jobs[id.index].cancelling = .init(by: canceller, isKill: isKill, at: event.time)
    case .slotsChanged(let slots):
      self.slots = slots
    case .priorityChanged(let id, let priority):
      jobs[id.index].job.priority = priority
    case .drainChanged(let draining):
      isDraining = draining
    case .stopRequested(let level, let canceller):
      stopping = Stopping(level: level, by: canceller, at: event.time)
    case .runFinished(let summary):
      self.summary = summary
    }
  }

  /// What ended long ago keeps only its last lines once many have ended; its log file has the rest.
  private mutating func boundLogs(_ id: JobID) {
    endedLogs.jobs.append(id)
    endedLogs.bytes += jobs[id.index].log.bytes
    while endedLogs.bytes > EndedLogs.limit, let oldest = endedLogs.popFirst() {
      guard jobs[oldest.index].state.isTerminal else {
        // It runs again and will be counted when it ends.
        endedLogs.bytes -= min(endedLogs.bytes, jobs[oldest.index].log.bytes)
        continue
      }
      let before = jobs[oldest.index].log.bytes
      jobs[oldest.index].log.trim(to: EndedLogs.kept)
      endedLogs.bytes -= before - jobs[oldest.index].log.bytes
    }
  }

  private struct EndedLogs: Equatable {
    static let limit = 32 << 20
    static let kept = 20

    var jobs: [JobID] = []
    var first = 0
    var bytes = 0

    mutating func popFirst() -> JobID? {
      guard first < jobs.count else { return nil }
      defer { first += 1 }
      return jobs[first]
    }
  }

  /// Needs may name jobs that come later, so dependents are known once the last job is there.
  private mutating func link() {
    for index in jobs.indices {
      for need in jobs[index].job.needs { link(JobID(index), need) }
    }
  }

  /// A job has come after the run began, as in a program's own queue.
  private mutating func link(late id: JobID) {
    for need in jobs[id.index].job.needs { link(id, need) }
    for edge in early.removeValue(forKey: id) ?? [] { link(edge.job, JobNeed(id, when: edge.when)) }
  }

  private mutating func link(_ id: JobID, _ need: JobNeed) {
    guard need.job.index < jobs.count else {
      early[need.job, default: []].append(JobGraph.Dependent(job: id, when: need.when))
      return
    }
    jobs[need.job.index].edges.append(JobGraph.Dependent(job: id, when: need.when))
    // A job that needs another on two conditions is one dependent of it.
    if jobs[need.job.index].dependents.last != id { jobs[need.job.index].dependents.append(id) }
    if need.when.isMet(by: jobs[need.job.index].state) { jobs[id.index].unmetNeeds -= 1 }
  }

  private mutating func move(_ id: JobID, to state: JobState, attempt: Int, pid: Int32?, at time: Duration) {
    let old = jobs[id.index].state
    counts.add(old, -1)
    counts.add(state, 1)
    jobs[id.index].move(to: state, attempt: attempt, pid: pid, at: time)
    if state.isTerminal { lastEnd = time }
    if state.isTerminal, !jobs[id.index].log.isEmpty { boundLogs(id) }
    let isSettledAlike =
      old.isTerminal == state.isTerminal && old.isOK == state.isOK && old.isFailure == state.isFailure
    guard !isSettledAlike else { return }
    for edge in jobs[id.index].edges {
      jobs[edge.job.index].unmetNeeds += (edge.when.isMet(by: old) ? 1 : 0) - (edge.when.isMet(by: state) ? 1 : 0)
    }
  }
}

extension JobNeed.Condition {
  /// Whether a job in `state` satisfies the condition.
  package func isMet(by state: JobState) -> Bool {
    switch self {
    case .ok: state.isOK
    case .finished: state.isTerminal
    case .failed: state.isFailure
    }
  }

  /// Whether a job that ended in `state` can no longer satisfy it.
  package func isRuledOut(by state: JobState) -> Bool { state.isTerminal && !isMet(by: state) }
}

extension JobRecord {
  mutating func move(to state: JobState, attempt number: Int, pid: Int32?, at time: Duration) {
    let lasted = time - since
    switch self.state {
    case .waiting: spent.waiting += lasted
    case .ready(.slot): spent.forSlot += lasted
    case .ready(.pool): spent.forPool += lasted
    case .backingOff: spent.backingOff += lasted
    case .executing: spent.executing += lasted
    case .paused(let started):
      spent.paused += lasted
      if started, !attempts.isEmpty { attempts[attempts.count - 1].pausedFor += lasted }
    case .succeeded, .failed, .cancelled, .skipped: break
    }
    if case .executing = state, attempts.last?.number != number {
      attempts.append(Attempt(number: number, startedAt: time, pid: pid))
      progress = nil
      rate = nil
      rateSample = nil
      rates.clear()
    } else if !attempts.isEmpty, self.state.isActive, !state.isActive {
      attempts[attempts.count - 1].endedAt = time
      switch state {
      case .failed(let failure, _), .backingOff(_, _, _, let failure): attempts[attempts.count - 1].failure = failure
      default: break
      }
    }
    if let pid, !attempts.isEmpty { attempts[attempts.count - 1].pid = pid }
    // A stretch without reports is no sample of the rate.
    if case .executing = self.state {} else { rateSample = nil }
    if !state.isActive { cancelling = nil }
    // The first phase is known only by the time it ends: most jobs of a large run wait, and keep nothing until then.
    if phases.count == 0 { phases.begin(Phase.Kind(self.state), at: since) }
    if phases.last?.kind != Phase.Kind(state) || state.isTerminal { phases.begin(Phase.Kind(state), at: time) }
    self.state = state
    since = time
  }

  mutating func report(_ progress: JobProgress, at time: Duration) {
    self.progress = progress
    rates.report(progress.done, at: time)
    guard let sample = rateSample else {
      rateSample = (time, progress.done)
      return
    }
    let seconds = (time - sample.time) / .seconds(1)
    guard seconds >= 0.05 else { return }
    let now = Double(max(0, progress.done - sample.done)) / seconds
    // Old samples fade with a half-life of about two seconds, however often reports come.
    let weight = 1 - 1 / (1 + seconds / 2)
    rate = rate.map { $0 + (now - $0) * weight } ?? now
    rateSample = (time, progress.done)
  }
}
