import Foundation
import JobModel

/// A job of a recorded run: the facts that decide whether a resumed run executes it again.
package struct EarlierJob: Sendable, Equatable {
  package enum End: Sendable, Equatable {
    case done(EarlierSuccess)
    /// Allowed to or not.
    case failed
    /// By a person, a signal or the failure policy.
    case cancelled
    case skipped
    /// Its process executed when the program was killed, or at the last commit before.
    case executing
    /// The job had not ended by then.
    case waiting
  }

  package var name: String
  package var end: End
  /// The `Fingerprint` of the job; nil if none was recorded.
  package var fingerprint: String?
  /// The hash of the inputs that its success has read.
  package var inputsHash: String?

  package init(_ name: String, _ end: End, fingerprint: String?, inputsHash: String? = nil) {
    self.name = name
    self.end = end
    self.fingerprint = fingerprint
    self.inputsHash = inputsHash
  }

  /// Reads the row of the store; `before` is the same job in the run that was resumed.
  fileprivate init(_ row: EndedJob, before: EarlierJob?, outputs: [String: String]?) {
    let executed = End.done(EarlierSuccess(run: row.run, at: row.at, took: row.took ?? .zero, outputs: outputs))
    switch row.outcome {
    case .ok, .upToDate: end = executed
    // Unless that run was removed from the store.
    case .restored: if case .done = before?.end { end = before?.end ?? executed } else { end = executed }
    case .failed, .allowed: end = .failed
    case .cancelled: end = .cancelled
    case .skipped: end = .skipped
    }
    (name, fingerprint, inputsHash) = (row.name, row.fingerprint, row.inputs)
  }
}

extension EarlierJob {
  fileprivate init(_ entry: SuccessLog.Entry, _ name: String, run: String) {
    self.init(
      name, .done(EarlierSuccess(run: run, at: entry.at, took: entry.success.took, outputs: nil)),
      fingerprint: entry.fingerprint, inputsHash: entry.success.inputsHash)
  }
}

extension RunStore {
  /// The jobs of a run as they were at its last commit, and later successes, in the order of identifiers.
  ///
  /// Jobs that exist only in the resumed run follow, marked as left out.
  /// `readsOutputs` if the values written for other jobs are wanted.
  package func earlierJobs(of run: RunEntry, readsOutputs: Bool = true) throws -> [EarlierJob] {
    try chain(of: run).reversed().reduce([]) { before, run in
      try earlierJobs(of: run, after: before, readsOutputs: readsOutputs)
    }
  }

  private func earlierJobs(
    of run: RunEntry, after before: [EarlierJob], readsOutputs: Bool
  ) throws -> [EarlierJob] {
    let outputs = readsOutputs ? try outputs(of: run) : nil
    let (rows, executing) = (try ended(in: run), try processes(of: run))
    let successes = run.folder.map(SuccessLog.read) ?? []
    // Killed at its start, perhaps before the restored jobs were all recorded: none of its own has ended or begun.
    if run.endedAt == nil, !before.isEmpty, executing.isEmpty, successes.isEmpty,
      rows.allSatisfy({ $0.outcome == .restored })
    {
      return before
    }
    let known = Dictionary(before.map { ($0.name, $0) }) { first, _ in first }
    let recorded = try recordedJobs(of: run)
    var jobs = recorded.jobs.map { EarlierJob($0.name, .waiting, fingerprint: nil) }
    // The newest attempt that something is known of.
    var attempts = [Int](repeating: 0, count: jobs.count)
    // A job that was retried has an end for each time, the newest last.
    for row in rows where row.job.index < jobs.count {
      jobs[row.job.index] = EarlierJob(
        row, before: known[row.name], outputs: outputs.map { $0[row.job] ?? [:] })
      attempts[row.job.index] = row.attempts
    }
    for process in executing where process.job.index < jobs.count {
      jobs[process.job.index].end = .executing
      attempts[process.job.index] = process.attempt - 1
    }
    for entry in successes where entry.success.job.index < jobs.count {
      let (index, attempt) = (entry.success.job.index, entry.success.attempt)
      guard attempt > attempts[index] else { continue }
      jobs[index] = EarlierJob(entry, jobs[index].name, run: run.id)
      attempts[index] = attempt
    }
    // The recorder knows no fingerprints of jobs that came during the run.
    if recorded.isOpen {
      for (index, job) in recorded.jobs.enumerated() where jobs[index].fingerprint == nil {
        jobs[index].fingerprint = Fingerprint.of(job)
      }
    }
    let names = Set(jobs.map(\.name))
    return jobs + before.filter { !names.contains($0.name) }
  }

  /// The values that the jobs of a run wrote for others, each job's newest.
  func outputs(of run: RunEntry) throws -> [JobID: [String: String]] {
    var hasOutputs = false
    try eventLines(of: run) { bytes in
      hasOutputs = Data(bytes).range(of: Data("\"job_outputs\"".utf8)) != nil
      return !hasOutputs
    }
    guard hasOutputs else { return [:] }
    var outputs: [JobID: [String: String]] = [:]
    for event in try events(of: run) {
      if case .jobOutputs(let id, let values) = event.fact { outputs[id] = values }
    }
    return outputs
  }

  /// The jobs that a run was started with, and, where they came during the run (`isOpen`), the others.
  private func recordedJobs(of run: RunEntry) throws -> (jobs: [Job], isOpen: Bool) {
    var (jobs, isOpen): ([Job], Bool) = ([], false)
    var reader = EventReader()
    try eventLines(of: run) { bytes in
      for line in bytes.split(separator: UInt8(ascii: "\n")) {
        for event in try line.withUnsafeBufferPointer({ line in try reader.read(line) }) {
          switch event.fact {
          case .runStarted(let start): isOpen = start.isOpen
          case .jobAdded(_, let job): jobs.append(job)
          default: if !isOpen { return false }
          }
        }
      }
      return true
    }
    return (jobs, isOpen)
  }
}
