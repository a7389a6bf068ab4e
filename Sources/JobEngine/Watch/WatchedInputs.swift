import Basics
import JobModel

// The watch over the files that jobs read; on the stream's queue.
extension JobQueue {
  /// A watch that begins now and reports to this run.
  func makeWatch() -> InputWatch {
    InputWatch(watchedJobs(from: 0), rules: graph.watch, hashes: fileHashes, clock: stream.clock) {
      [weak self] report in
      guard let self else { return }
      stream.deliveries.deliverNow {
        self.enter {
          switch report {
          case .success(let changes): $0.inputsChanged(changes)
          case .failure(let fault): $0.endWatch(because: fault)
          }
        }
      }
    }
  }

  /// The jobs with this number and greater ones that have inputs to watch.
  func watchedJobs(from first: Int) -> [InputWatch.Job] {
    graph.jobs.indices[first...].compactMap { index in
      let job = graph.jobs[index]
      guard !job.inputs.isEmpty, job.finally == nil, case .shell(let work) = job.work else { return nil }
      return InputWatch.Job(
        id: JobID(index), inputs: job.inputs.map { BytePath($0) }, creates: job.creates.map { BytePath($0) },
        directory: work.directory.map { BytePath($0) })
    }
  }

  /// Leaves out changes that a job's newest attempt has seen, as the products of the jobs that it needs are.
  func inputsChanged(_ changes: [JobID: InputWatch.Change]) {
    let changes = holdChanges(changes)
    let (now, clockNow, systemNow) = (stream.elapsed, stream.clock.now, systemTime())
    let records = stream.journal.run.jobs
    func executes(_ attempt: JobRecord.Attempt, at time: Duration) -> Bool {
      (attempt.startedAt - InputWatch.tick...(attempt.endedAt ?? now) + InputWatch.tick).contains(time)
    }
    /// The newest start of a job, and of a service, that executed at a time.
    var starts: [Duration: (job: Duration, service: Duration)] = [:]
    func newestStarts(at time: Duration) -> (job: Duration, service: Duration) {
      if let known = starts[time] { return known }
      var newest = (job: Duration.zero, service: Duration.zero)
      for record in records {
        guard let attempt = record.attempt, executes(attempt, at: time) else { continue }
        if record.job.service == nil {
          newest.job = max(newest.job, attempt.startedAt)
        } else {
          newest.service = max(newest.service, attempt.startedAt)
        }
      }
      starts[time] = newest
      return newest
    }
    func writer(of change: InputWatch.Change, at time: Duration, _ attempt: JobRecord.Attempt) -> InputChange.Writer {
      let isLate = change.noticed.map { now - (clockNow - $0) > attempt.endedAt ?? now } ?? false
      let isNear = executes(attempt, at: time)
      if isNear, !isLate { return .own }
      let newest = newestStarts(at: time)
      return newest.job > attempt.startedAt
        ? .later : newest.service > attempt.startedAt ? .service : isNear ? .unclear : .none
    }
    var new: [JobID: InputChange] = [:]
    for (id, change) in changes {
      let record = records[id.index]
      // A new attempt does not make a missing file, but the job that it needs.
      let lacking = change.gone.flatMap { isLacking($0.path, since: now - (systemNow - $0.time), id) ? $0.path : nil }
      guard let attempt = record.attempt else {
        new[id] = InputChange(path: change.path, gone: lacking)
        continue
      }
      // An attempt that started later has read the same files, or newer ones.
      if lacking == nil, now - (clockNow - change.read) <= attempt.startedAt { continue }
      let time = now - (systemNow - change.time)
      if record.job.service != nil {
        // Its inputs have no stated hash: changes from before its start do not count.
        if lacking != nil || time > attempt.startedAt {
          new[id] = InputChange(path: change.path, gone: lacking, writer: .service)
        }
      } else if lacking != nil || change.hash == nil || change.hash != record.inputsHash {
        new[id] = InputChange(path: change.path, gone: lacking, writer: writer(of: change, at: time, attempt))
      }
    }
    scheduler.handle(.inputsChanged(new))
  }

  /// Whether a job that this one needs makes the missing file, and it went after the newest attempt of that job.
  ///
  /// A job may replace its products by others: what went before its end is not made again.
  private func isLacking(_ path: String, since time: Duration, _ id: JobID) -> Bool {
    graph[id].needs.contains { need in
      guard graph[need.job].creates(BytePath(path)) else { return false }
      guard let attempt = stream.journal.run[need.job].attempt else { return true }
      return attempt.endedAt.map { $0 < time } ?? false
    }
  }

  /// Returns the changes that can be compared with the hash of an attempt; others wait until the attempt has it.
  private func holdChanges(_ changes: [JobID: InputWatch.Change]) -> [JobID: InputWatch.Change] {
    var changes = changes
    for attempt in attempts.values where attempt.hasStarted && changes[attempt.job] != nil {
      stateInputs(attempt)
      guard attempt.readsInputs, let change = changes.removeValue(forKey: attempt.job) else { continue }
      attempt.heldChange = change.after(attempt.heldChange)
    }
    return changes
  }
}

extension InputWatch.Change {
  /// The change with the file of an earlier one that it follows, if it is still missing and this one has none itself.
  func after(_ earlier: InputWatch.Change?) -> InputWatch.Change {
    guard gone == nil, let earlier, let gone = earlier.gone, BytePath(gone.path) == stillGone.map({ BytePath($0) })
    else { return self }
    return InputWatch.Change(
      path: earlier.path, gone: gone, stillGone: stillGone, time: time, noticed: noticed, hash: hash, read: read)
  }
}
