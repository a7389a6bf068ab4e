import Basics

/// The state of a run: the fold of its events and nothing else.
package struct Run: Sendable, Equatable {
  package internal(set) var start: RunStart?
  package internal(set) var slots = 0
  /// The sizes of the pools.
  package internal(set) var pools: [String: Int] = [:]
  package internal(set) var isDraining = false
  /// Whether jobs are executed again when files that they read change.
  package internal(set) var isWatching = false
  /// Why inputs can't be watched, if that was asked for.
  package internal(set) var watchFault: String?
  /// Whether jobs may be added yet.
  package internal(set) var isOpen = false
  package internal(set) var stopping: Stopping?
  /// Set while the cluster's controller does not answer; its jobs continue.
  package internal(set) var clusterOutage: Outage?
  package internal(set) var jobs: [JobRecord] = []
  /// The output of the program itself.
  package internal(set) var programLog: LogRing
  package internal(set) var counts = Counts()
  package internal(set) var summary: RunSummary?
  /// The raised warnings that were not cleared, oldest first.
  package internal(set) var warnings: [RunWarning] = []
  /// The instant of the newest event.
  package internal(set) var time: Duration = .zero
  /// The newest end of a job.
  package internal(set) var lastEnd: Duration = .zero
  /// The time during which every job had ended, before a retry.
  var rest: Duration = .zero
  /// The first failed job of the run that was not allowed to fail; nil once it is retried.
  package internal(set) var firstFailure: JobID?
  var endedLogs = EndedLogs()
  /// The details of a new job.
  let details: Shared<JobRecord.Details>
  /// Edges from jobs that are not added yet to jobs that need them.
  private var early: [JobID: [JobGraph.Dependent]] = [:]
  /// The number that the next event must have.
  package internal(set) var nextSeq = 0

  /// A run without events; `logCapacity` is how many lines of each job's output are kept.
  package init(logCapacity: Int = LogRing.capacity) {
    details = Shared(JobRecord.Details(log: LogRing(capacity: logCapacity)))
    programLog = LogRing(capacity: logCapacity)
  }

  /// The number of slots of an operation queue without a limit.
  package static let unlimited = 1_000_000

  package struct Stopping: Sendable, Equatable {
    package var level: StopLevel
    package var by: JobState.Canceller
    package var at: Duration
  }

  package struct Outage: Sendable, Equatable {
    package var fault: String
    package var since: Duration
  }

  /// How many jobs are in each state.
  package struct Counts: Sendable, Equatable {
    private var classes = [Int](repeating: 0, count: StateClass.allCases.count)
    /// The part of `cancelled` that the program itself cancelled.
    package private(set) var cancelledByProgram = 0
    /// The jobs with `start: manual` that no person has started.
    package private(set) var notStarted = 0
    /// Attempts in progress, paused or not.
    package private(set) var active = 0
    /// The part of `active` that is in the slot of a parent or in none: parts of others, services and cluster jobs.
    private var activeWithoutSlot = 0
    /// The part of `ready` that waits for the cluster.
    package private(set) var withCluster = 0
    /// The jobs of `finally` that have not ended.
    package private(set) var openFinal = 0
    /// The slots in use.
    package var usedSlots: Int { active - activeWithoutSlot }

    package var waiting: Int { self[.waiting] }
    package var ready: Int { self[.ready] }
    package var executing: Int { self[.executing] + serving }
    /// The part of `executing` that are services which can be used.
    package var serving: Int { self[.serving] }
    /// Paused, before the start or during an attempt.
    package var paused: Int { self[.paused] }
    package var backingOff: Int { self[.backingOff] }
    package var succeeded: Int { self[.succeeded] + self[.upToDate] }
    package var failed: Int { self[.failed] + self[.timedOut] }
    /// Failed, and allowed to.
    package var allowed: Int { self[.allowedFailure] }
    package var cancelled: Int { self[.cancelled] }
    package var skipped: Int { self[.skipped] - notStarted }
    /// Ended, except manual jobs that no person has started.
    package var done: Int { succeeded + failed + allowed + cancelled + skipped }
    /// Not ended.
    package var open: Int { all - done - notStarted }
    package var all: Int { classes.reduce(0, +) }

    private subscript(state: StateClass) -> Int { classes[Int(state.rawValue)] }

    mutating func add(_ state: JobState, _ amount: Int, of job: borrowing Job) {
      classes[Int(StateClass(state).rawValue)] += amount
      if state.isActive { active += amount }
      if state.isWithCluster { withCluster += amount }
      if state.isActive, !job.takesSlot { activeWithoutSlot += amount }
      if job.finally != nil, !state.isTerminal { openFinal += amount }
      if state == .cancelled(by: .program) { cancelledByProgram += amount }
      if state == .skipped(because: .manual) { notStarted += amount }
    }
  }

  package subscript(id: JobID) -> JobRecord { jobs[id.index] }

  package var ids: some RandomAccessCollection<JobID> { jobs.indices.lazy.map { JobID($0) } }

  /// Whether the job has been added: a job may refer to a later one.
  package func isKnown(_ id: JobID) -> Bool { id.index < jobs.count }

  /// The needs of a job that name known jobs.
  package func knownNeeds(of id: JobID) -> [JobNeed] { jobs[id.index].job.needs.filter { isKnown($0.job) } }

  package func id(named name: String) -> JobID? {
    jobs.firstIndex { $0.job.name == name }.map { JobID($0) }
  }

  /// Whether every job has ended, and none is executed again without a person.
  package var isComplete: Bool { hasEnded && !isWatching }

  /// Whether every job has ended.
  package var hasEnded: Bool {
    start != nil && !isOpen && jobs.count >= (start?.jobs ?? 0) && counts.open == 0
  }

  /// Whether nothing executes any more in a run that is being stopped, the cluster has none of its jobs, and nothing is to follow.
  package var isStopped: Bool { isIdleAfterStop && counts.withCluster == 0 }

  /// As `isStopped`; the cluster may still have jobs that have not started.
  package var isIdleAfterStop: Bool { stopping != nil && counts.active == 0 && counts.openFinal == 0 }

  /// The time until the last job ended; until the newest event while some have not.
  ///
  /// The time between the end of all jobs and a retry does not count.
  package var length: Duration { elapsed(at: isComplete ? lastEnd : time) }

  /// The length of the run if it lasts until `now`.
  package func elapsed(at now: Duration) -> Duration { max(.zero, now - rest) }

  /// The smallest size that a pool may get now: a job that has not ended needs as many units at once.
  package func leastUnits(of pool: String) -> Int {
    jobs.lazy.filter { !$0.state.isTerminal }.map { $0.job.uses[pool] ?? 0 }.reduce(1, max)
  }

  /// The file with the whole output of an attempt; nil for a run without log files.
  ///
  /// Exists from the first byte on. A run that prints its output as it comes keeps no file for a short successful output.
  package func logPath(_ id: JobID, attempt: Int) -> String? {
    start?.folder.map { LogPath.file(in: $0, job: self[id].job.name, id: id, attempt: attempt) }
  }

  /// The jobs that would be skipped if `id` were cancelled now, in the order of their identifiers.
  ///
  /// Takes time linear in its direct and indirect dependents and their needs.
  package func skipped(byCancelling id: JobID) -> [JobID] {
    guard !self[id].state.isTerminal else { return [] }
    var isReached = [Bool](repeating: false, count: jobs.count)
    isReached[id.index] = true
    var open = [id]
    var skipped: [JobID] = []
    while let next = open.popLast() {
      // A job that is cancelled or skipped has ended and has not failed.
      for edge in jobs[next.index].edges where !isReached[edge.job.index] {
        if edge.when.isMet(by: .cancelled(by: .person)) { continue }
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
    if let standing = event.standing {
      self = standing.run
      return
    }
    precondition(event.seq == nextSeq, "event \(event.seq) does not follow \(nextSeq - 1)")
    nextSeq += 1
    time = event.time
    switch event.fact {
    case .runStarted(let start):
      self.start = start
      slots = start.slots
      pools = start.pools
      isOpen = start.isOpen
      // A recording may declare any number.
      jobs.reserveCapacity(min(start.jobs, 1 << 17))
    case .jobAdded(let id, let job):
      precondition(id.index == jobs.count, "jobs are added in the order of their identifiers")
      jobs.append(JobRecord(job: job, details))
      jobs[id.index].since = event.time
      counts.add(.waiting, 1, of: job)
      if let parent = job.parent, parent < id { jobs[parent.index].children.append(id) }
      guard let declared = start?.jobs, jobs.count >= declared else { break }
      if jobs.count == declared { link() } else { link(late: id) }
    case .jobState(let id, let state, let attempt, let pid):
      move(id, to: state, attempt: attempt, pid: pid, at: event.time)
    case .jobLaunched(let id, let pid):
      jobs[id.index].launch(pid)
    case .jobRestored(let id, let success):
      jobs[id.index].details.value.restored = success
    case .jobCaused(let id, let attempt, let text):
      jobs[id.index].details.value.cause = .init(attempt: attempt, text: text)
    case .inputsHashed(let id, let hash):
      jobs[id.index].details.value.inputsHash = hash
    case .jobOutputs(let id, let values):
      jobs[id.index].details.value.outputs = values
    case .jobPlaced(let id, let place):
      jobs[id.index].put(in: place, at: event.time)
    case .jobProgress(let id, let progress):
      jobs[id.index].report(progress, at: event.time)
    case .jobLog(let id, let attempt, let line):
      jobs[id.index].details.value.log.append(line, seq: event.seq, at: event.time, attempt: attempt)
    case .programLog(let line):
      programLog.append(line, seq: event.seq, at: event.time, attempt: 1)
    case .cancelRequested(let id, let canceller, let isKill):
      // The kill follows the first stop signal.
      let first = isKill ? nil : jobs[id.index].cancelling?.at
      jobs[id.index].details.value.cancelling = .init(by: canceller, isKill: isKill, at: first ?? event.time)
    case .slotsChanged(let slots):
      self.slots = slots
    case .poolChanged(let name, let size):
      pools[name] = size
    case .clusterChanged(let fault):
      clusterOutage = fault.map { Outage(fault: $0, since: event.time) }
    case .arrivalsEnded:
      isOpen = false
    case .priorityChanged(let id, let priority):
      jobs[id.index].job.priority = priority
    case .drainChanged(let draining):
      isDraining = draining
    case .watchChanged(let isOn, let fault):
      isWatching = isOn
      watchFault = fault
    case .stopRequested(let level, let canceller):
      stopping = Stopping(level: level, by: canceller, at: event.time)
    case .warningRaised(let warning): raise(warning)
    case .warningCleared(let key): clear(key)
    case .runFinished(let summary):
      self.summary = summary
    }
  }

  /// Releases the unused memory of an ended job's log, and trims the logs of the jobs that ended first when the logs of ended jobs
  /// take too much; log files have the rest.
  private mutating func boundLogs(_ id: JobID) {
    jobs[id.index].details.value.log.trim(to: .max)
    endedLogs.jobs.append(id)
    endedLogs.memory += jobs[id.index].log.memory
    while endedLogs.memory > EndedLogs.limit, let oldest = endedLogs.popFirst() {
      let before = jobs[oldest.index].log.memory
      // A retried job is counted again when it ends.
      if jobs[oldest.index].state.isTerminal {
        jobs[oldest.index].details.value.log.trim(to: EndedLogs.kept, bytes: EndedLogs.keptBytes)
      }
      let after = jobs[oldest.index].state.isTerminal ? jobs[oldest.index].log.memory : 0
      endedLogs.memory -= min(endedLogs.memory, before - after)
    }
  }

  /// The jobs that have ended with output, in the order of their ends, and the memory of their logs.
  struct EndedLogs: Equatable {
    /// Bytes, of text and entries.
    static let limit = 16 << 20
    /// Lines.
    static let kept = 20
    /// Of their text.
    static let keptBytes = 8 << 10

    var jobs: [JobID] = []
    var first = 0
    var memory = 0

    mutating func popFirst() -> JobID? {
      guard first < jobs.count else { return nil }
      defer { first += 1 }
      return jobs[first]
    }

    static func == (left: EndedLogs, right: EndedLogs) -> Bool {
      left.memory == right.memory && left.jobs[left.first...] == right.jobs[right.first...]
    }
  }

  /// Completes a run whose parts are known with what follows from its jobs: the counts, and the edges between the jobs.
  mutating func deriveRest() {
    for record in jobs { counts.add(record.state, 1, of: record.job) }
    for index in jobs.indices {
      if let parent = jobs[index].job.parent, parent.index < index { jobs[parent.index].children.append(JobID(index)) }
    }
    if let start, jobs.count >= start.jobs { link() }
  }

  /// Links all jobs to their dependents once the last declared job is added: a need may name a later job.
  private mutating func link() {
    for index in jobs.indices {
      for need in jobs[index].job.needs { link(JobID(index), need) }
    }
  }

  /// Links a job that was added after the start, as happens in an observed queue.
  private mutating func link(late id: JobID) {
    for need in jobs[id.index].job.needs { link(id, need) }
    for edge in early.removeValue(forKey: id) ?? [] { link(edge.job, JobNeed(id, when: edge.when)) }
  }

  private mutating func link(_ id: JobID, _ need: JobNeed) {
    guard isKnown(need.job) else {
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
    if old.isTerminal, !state.isTerminal, isComplete { rest += max(.zero, time - lastEnd) }
    counts.add(old, -1, of: jobs[id.index].job)
    counts.add(state, 1, of: jobs[id.index].job)
    jobs[id.index].move(to: state, attempt: attempt, pid: pid, at: time)
    if state.isTerminal { lastEnd = time }
    if case .failed(_, allowed: false) = state {
      if firstFailure == nil { firstFailure = id }
    } else if firstFailure == id {
      firstFailure = nil
    }
    if state.isTerminal, !jobs[id.index].log.isEmpty { boundLogs(id) }
    let meetsTheSame =
      old.isTerminal == state.isTerminal && old.isOK == state.isOK && old.isFailure == state.isFailure
      && (old == .serving) == (state == .serving)
    guard !meetsTheSame else { return }
    for edge in jobs[id.index].edges {
      jobs[edge.job.index].unmetNeeds += (edge.when.isMet(by: old) ? 1 : 0) - (edge.when.isMet(by: state) ? 1 : 0)
    }
  }
}

extension RunSummary {
  /// The run as it stands; `signal` is the one that ended it, if any.
  package init(of run: Run, signal: Int32? = nil) {
    let counts = run.counts
    succeeded = counts.succeeded
    failed = counts.failed
    allowed = counts.allowed
    skipped = counts.skipped + counts.notStarted
    cancelled = counts.cancelled
    cancelledByProgram = counts.cancelledByProgram
    left = counts.open
    exit = ExitStatus.of(self, signal: signal)
    if exit == ExitStatus.success, run.ids.contains(where: run.isLeftSkipped) { exit = ExitStatus.workLeft }
  }
}

extension Run {
  /// The jobs that are retried with these failed ones: they, and the jobs behind them that the failure policy has
  /// cancelled.
  ///
  /// A retry takes the jobs with it that were skipped because of one of these, and no job that a person has cancelled.
  package func retried(with failed: [JobID]) -> [JobID] {
    var retried = Set(failed)
    var skipped = Set<JobID>()
    var open = failed
    while let id = open.popLast() {
      for dependent in jobs[id.index].dependents {
        switch jobs[dependent.index].state {
        case .cancelled(by: .policy): if retried.insert(dependent).inserted { open.append(dependent) }
        case .skipped(because: .job(let cause)) where retried.contains(cause):
          if skipped.insert(dependent).inserted { open.append(dependent) }
        default: break
        }
      }
    }
    return retried.sorted()
  }

  /// Whether a job is skipped although the cause has succeeded since: it was retried, and this job was not.
  fileprivate func isLeftSkipped(_ id: JobID) -> Bool {
    guard case .skipped(because: .job(let cause)) = self[id].state, self[cause].state.isOK else { return false }
    return !knownNeeds(of: id).contains { $0.when.isRuledOut(by: self[$0.job].state) }
  }
}
