extension [String] {
  /// `a, b or c` with `or` as the last separator.
  package func joined(last: String) -> String {
    guard let final = self.last, count > 1 else { return joined() }
    return dropLast().joined(separator: ", ") + " \(last) " + final
  }

  /// `a, b and 3 more`, with the first `most` items; `total` is the number of all where they are not all here.
  package func joined(most: Int, of total: Int? = nil) -> String {
    let more = (total ?? count) - most
    return prefix(most).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
  }
}

extension JobState.Canceller {
  /// Follows `cancelled`, `killed` or `stopped`.
  package var phrase: String {
    switch self {
    case .person: "by you"
    case .signal: "by a signal"
    case .policy: "by on_failure"
    case .program: "by the program"
    case .timeout: "by the time limit of the run"
    case .unneeded: "because no job needs it any more"
    case .restart: "to be started again"
    }
  }

  /// As `phrase`, of the end of one attempt, which has limits of its own.
  package var attemptPhrase: String { self == .timeout ? "because of a limit" : phrase }
}

extension JobState.Room {
  /// Follows `waits for`.
  package var phrase: String {
    switch self {
    case .slot: "a slot"
    case .pool(let name): "pool \(name)"
    case .person: "approval"
    case .cluster(let reason): "the cluster" + (reason.map { ": \($0)" } ?? "")
    }
  }
}

extension JobState {
  /// Why the job does not execute yet; nil for a job that executes or has ended.
  package var wait: String? {
    switch self {
    case .waiting: "waits for needs"
    case .ready(let room): "waits for \(room.phrase)"
    case .backingOff(_, let number, let limit, _): "retry \(number) of \(limit)"
    case .paused(started: false): "paused before its start"
    case .paused(started: true), .executing, .serving, .succeeded, .failed, .cancelled, .skipped: nil
    }
  }
}

extension JobState.SkipCause {
  package var word: String { self == .manual ? "not started" : "skipped" }

  /// Follows `skipped because`, or `word` and a comma, for the job `id`.
  package func phrase(_ id: JobID, in run: Run) -> String {
    switch self {
    case .job(let cause):
      let record = run.jobs[cause.index]
      return "\(record.job.name) \(StateClass(record.state).ending)"
    case .condition:
      return "its condition is false" + (run.jobs[id.index].job.condition.map { ": \($0.text)" } ?? "")
    case .unneeded: return "no job needs it any more"
    case .manual: return "a person starts it"
    case .outcome:
      switch run.jobs[id.index].job.finally {
      case .ok: return "not every job succeeded"
      case .failed, .always, nil: return "no job failed"
      }
    }
  }
}

extension Phase.Kind {
  /// The time that a job spent in such phases, as in `waited for a slot 12.1s`; ends take none and have no words.
  package var phrase: String {
    switch self {
    case .waiting: "waited for needs"
    case .forSlot: "waited for a slot"
    case .forPool: "waited for a pool"
    case .forPerson: "waited for approval"
    case .forCluster: "waited for the cluster"
    case .backingOff: "between tries"
    case .paused: "paused"
    case .executing: "running"
    case .succeeded, .failed, .cancelled, .skipped: ""
    }
  }
}

extension JobNeed.Condition {
  /// Follows the name of the needed job, as in `deploy to fail`; nil for `ok`, the usual condition.
  package var phrase: String? {
    switch self {
    case .ok: nil
    case .finished, .anyFailed: "to finish"
    case .failed: "to fail"
    case .notOK: "to end without success"
    case .ready: "to serve"
    }
  }
}

extension StateClass {
  /// The class of a job; only a record tells that its end was asked for.
  package init(_ record: JobRecord) {
    self = record.state.isActive && record.cancelling != nil ? .stopping : StateClass(record.state)
  }

  /// A skipped job is retried with its cause.
  package var isRetryable: Bool { [.failed, .timedOut, .allowedFailure, .cancelled, .upToDate].contains(self) }
}

extension JobRecord {
  /// How a job in this class of states can be started again: `start`, `restart` or `retry`; nil if it can't be.
  package func repetition(as state: StateClass) -> String? {
    guard job.work.refusal(of: .retry) == nil else { return nil }
    if job.isManual, state == .skipped || state == .succeeded { return "start" }
    if job.service != nil, self.state.isActive { return cancelling == nil ? "restart" : nil }
    return state.isRetryable ? "retry" : nil
  }

  /// `, after 2 tries`; empty for a job that was tried once or not at all.
  ///
  /// An attempt that is not made because of a failure begins a new count.
  package var tries: String { Format.after(tries: tryNumber) }

  /// How many attempts there have been since the last one with a cause other than a failure; 0 before the first.
  package var tryNumber: Int { attempt.map { tryNumber(of: $0.number) } ?? 0 }

  /// As `tryNumber`, for an attempt that is not older than the newest cause.
  package func tryNumber(of attempt: Int) -> Int {
    guard let cause, cause.attempt <= attempt else { return attempt }
    return attempt - cause.attempt + 1
  }

  /// When SIGKILL follows the stop signal; nil where no stop signal was sent or the job has no grace.
  package var killTime: Duration? {
    guard let cancelling, !cancelling.isKill, case .shell(let work) = job.work else { return nil }
    return cancelling.at + work.stop.grace
  }
}

extension JobFailure {
  /// How a process ended, as a shell counts it: `exit 1`, `SIGABRT (134)`.
  package static func text(exit code: Int32, signalName: (Int32) -> String?) -> String {
    (code > 128 ? signalName(code - 128) : nil).map { "\($0) (\(code))" } ?? "exit \(code)"
  }
}

extension Run {
  /// A number of slots behind a slash, as in `slots 3/8`: `any` without a limit.
  package static func slotsText(_ slots: Int) -> String { slots == unlimited ? "any" : "\(slots)" }
}

/// The text of the notification that a run has ended.
package enum EndText {
  /// `release: done 38/38`, `release: stopped 12/38` or `release: 2 of 38 failed`.
  package static func of(_ run: Run, name: String) -> String {
    let counts = run.counts
    if counts.failed > 0 { return "\(name): \(counts.failed) of \(run.jobs.count) failed" }
    let word = run.stopping == nil && counts.cancelled == 0 ? "done" : "stopped"
    return "\(name): \(word) \(counts.done)/\(run.jobs.count)"
  }
}
