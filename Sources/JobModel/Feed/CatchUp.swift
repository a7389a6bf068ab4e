extension Run {
  /// The changes from this run to a later state of it, as events; nil if `later` is not a later state.
  ///
  /// A reader that has missed events folds these instead. They state each change once and at its time: jobs, then lines of
  /// output, then all else. The last ones carry the later run, so that a reader sees the final record of each job at the
  /// job's event, and its fold is equal to `later`.
  package func events(to later: Run) -> [JobEvent]? {
    guard later.nextSeq > nextSeq else { return later.nextSeq == nextSeq ? [] : nil }
    guard later.jobs.count >= jobs.count, start == nil || start == later.start,
      zip(jobs, later.jobs).allSatisfy({ $0.job.name == $1.job.name })
    else { return nil }
    var changes = Changes(time: later.time)
    if start == nil, let start = later.start { changes.jobs.append(.runStarted(start)) }
    for index in jobs.count..<later.jobs.count { changes.jobs.append(.jobAdded(JobID(index), later.jobs[index].job)) }
    for id in later.ids {
      var old = id.index < jobs.count ? jobs[id.index] : JobRecord(job: later[id].job)
      // A job that is added waits from then on.
      if id.index >= jobs.count, old.state == later[id].state { old.since = later[id].since }
      changes.add(id, from: old, to: later[id])
      changes.add(newLines(of: later[id].log)) { .jobLog(id, attempt: $0.attempt, $0.line) }
    }
    changes.add(newLines(of: later.programLog)) { .programLog($0.line) }
    changes.add(from: self, to: later)
    let (folded, standing) = (changes.folded, JobEvent.Standing(later))
    var others = changes.others
    if folded.isEmpty, others.isEmpty {
      // The number of the newest event may be all that differs.
      others = [(later.time, .slotsChanged(later.slots))]
    }
    guard folded.count <= later.nextSeq - nextSeq else { return nil }
    return (folded + others).enumerated().map { place, change in
      let isLast = place >= folded.count || (others.isEmpty && place == folded.count - 1)
      return JobEvent(
        seq: min(nextSeq + place, later.nextSeq - 1), time: change.time, fact: change.fact,
        standing: isLast ? standing : nil)
    }
  }

  /// The lines of a later state of a log whose events have been missed.
  private func newLines(of ring: LogRing) -> [LogRing.Entry] {
    var first = ring.count
    while first > 0, ring[first - 1].seq >= nextSeq { first -= 1 }
    return (first..<ring.count).map { ring[$0] }
  }
}

/// The facts that lead from one state of a run to another.
private struct Changes {
  /// Of the later state.
  let time: Duration
  /// The beginning of the run, and the jobs that are added.
  var jobs: [JobFact] = []
  /// With the numbers of their events.
  private var lines: [(seq: Int, time: Duration, fact: JobFact)] = []
  private var unordered: [(time: Duration, fact: JobFact)] = []

  init(time: Duration) { self.time = time }

  var folded: [(time: Duration, fact: JobFact)] {
    jobs.map { (time, $0) } + lines.sorted { $0.seq < $1.seq }.map { ($0.time, $0.fact) }
  }

  /// All else, in the order of time.
  var others: [(time: Duration, fact: JobFact)] {
    unordered.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
  }

  private mutating func add(_ fact: JobFact, at time: Duration) { unordered.append((time, fact)) }

  mutating func add(_ entries: [LogRing.Entry], _ fact: (LogRing.Entry) -> JobFact) {
    for entry in entries { lines.append((entry.seq, entry.time, fact(entry))) }
  }

  mutating func add(_ id: JobID, from old: JobRecord, to new: JobRecord) {
    let (number, since) = (new.attempt?.number ?? 0, new.since)
    if let restored = new.restored, restored != old.restored { add(.jobRestored(id, restored), at: since) }
    if let cause = new.cause, cause != old.cause {
      add(.jobCaused(id, attempt: cause.attempt, cause.text), at: new.attempt?.startedAt ?? since)
    }
    if let hash = new.inputsHash, hash != old.inputsHash { add(.inputsHashed(id, hash), at: since) }
    if new.outputs != old.outputs { add(.jobOutputs(id, new.outputs), at: since) }
    if let place = new.place, place != old.place { add(.jobPlaced(id, place), at: since) }
    if new.job.priority != old.job.priority { add(.priorityChanged(id, new.job.priority), at: time) }
    let isNewAttempt = number != old.attempt?.number ?? 0
    // An end without a beginning has no length.
    if isNewAttempt, let attempt = new.attempt, new.state != .executing {
      add(.jobState(id, .executing, attempt: number, pid: attempt.pid), at: attempt.startedAt)
    }
    if new.state != old.state || new.since != old.since || isNewAttempt {
      add(.jobState(id, new.state, attempt: number, pid: new.state.isActive ? new.attempt?.pid : nil), at: since)
    } else if let pid = new.attempt?.pid, pid != old.attempt?.pid {
      add(.jobLaunched(id, pid: pid), at: time)
    }
    if let progress = new.progress {
      if progress != old.progress || isNewAttempt { add(.jobProgress(id, progress), at: time) }
    } else if let known = old.progress, !isNewAttempt {
      add(.jobProgress(id, JobProgress(done: 0, total: nil, unit: known.unit)), at: time)
    }
    if let cancelling = new.cancelling, cancelling != old.cancelling {
      add(.cancelRequested(id, by: cancelling.by, kill: cancelling.isKill), at: max(cancelling.at, since))
    }
  }

  mutating func add(from old: Run, to new: Run) {
    if new.slots != (old.start == nil ? new.start?.slots : old.slots) { add(.slotsChanged(new.slots), at: time) }
    for (name, size) in new.pools.sorted(by: { $0.key < $1.key })
    where size != (old.start == nil ? new.start?.pools : old.pools)?[name] {
      add(.poolChanged(name, size), at: time)
    }
    if new.clusterOutage != old.clusterOutage {
      add(.clusterChanged(fault: new.clusterOutage?.fault), at: new.clusterOutage?.since ?? time)
    }
    if !new.isOpen, old.start == nil ? new.start?.isOpen == true : old.isOpen { add(.arrivalsEnded, at: time) }
    if new.isDraining != old.isDraining { add(.drainChanged(new.isDraining), at: time) }
    if new.isWatching != old.isWatching || new.watchFault != old.watchFault {
      add(.watchChanged(new.isWatching, fault: new.watchFault), at: time)
    }
    if let stopping = new.stopping, stopping != old.stopping {
      add(.stopRequested(stopping.level, by: stopping.by), at: stopping.at)
    }
    for warning in old.warnings where !new.warnings.contains(where: { $0.key == warning.key }) {
      add(.warningCleared(warning.key), at: time)
    }
    for warning in new.warnings where !old.warnings.contains(warning) { add(.warningRaised(warning), at: time) }
    if let summary = new.summary, summary != old.summary { add(.runFinished(summary), at: time) }
  }
}
