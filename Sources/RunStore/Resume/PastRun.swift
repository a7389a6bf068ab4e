import Foundation
import JobModel

/// A recorded run: its events, folded once, and later successes.
package struct PastRun: Sendable {
  package let entry: RunEntry
  /// The run as it was at its last commit; jobs that have succeeded since have ended.
  package private(set) var run = Run(logCapacity: 1)
  /// The newest successes that are known only from the run's folder.
  private var later: [JobID: SuccessLog.Entry] = [:]
  /// With which the jobs ended; the events say less of a job than its fingerprint.
  private var fingerprints: [JobID: String] = [:]

  init(_ entry: RunEntry, in store: RunStore) throws {
    self.entry = entry
    for event in try store.events(of: entry) { run.apply(event) }
    // A job that was retried has an end for each time, the newest last.
    for row in try store.ended(in: entry) { fingerprints[row.job] = row.fingerprint }
    for success in entry.folder.map(SuccessLog.read) ?? [] { take(success) }
    // The recorder knows no fingerprints of jobs that came during the run.
    if run.start?.isOpen == true {
      for id in run.ids where fingerprints[id] == nil { fingerprints[id] = Fingerprint.of(run[id].job) }
    }
  }

  /// Of an attempt whose end is recorded, the recorded end counts.
  private mutating func take(_ entry: SuccessLog.Entry) {
    let (id, number) = (entry.success.job, entry.success.attempt)
    guard id.index < run.jobs.count else { return }
    // The values come in a line of their own.
    if later[id]?.success.attempt == number, let outputs = entry.success.outputs {
      later[id]?.success.outputs = outputs
      return state(.jobOutputs(id, outputs))
    }
    let newest = run[id].attempt
    let ended = later[id]?.success.attempt ?? newest.map { $0.endedAt == nil ? $0.number - 1 : $0.number } ?? 0
    guard number > ended else { return }
    later[id] = entry
    fingerprints[id] = entry.fingerprint
    state(.jobState(id, .succeeded(upToDate: false), attempt: number, pid: nil))
    // The record may have the values of an earlier attempt.
    state(.jobOutputs(id, entry.success.outputs ?? [:]))
  }

  private mutating func state(_ fact: JobFact) {
    run.apply(JobEvent(seq: run.nextSeq, time: run.time, fact: fact))
  }

  /// The names of the jobs that had begun, here or in the cluster, and have no end; also between two attempts.
  var interrupted: [String] {
    run.jobs.filter { record in
      let isBroken = record.attempt.map { $0.failure != nil || $0.stop != nil } ?? false
      return record.state.isActive || !record.state.isTerminal && (record.place != nil || isBroken)
    }.map(\.job.name)
  }

  /// The names of the jobs whose success was noted before their values, if they have written any.
  package var withoutValues: Set<String> {
    Set(later.lazy.filter { $0.value.success.outputs == nil }.map { run[$0.key].job.name })
  }

  /// The jobs in the order of identifiers, followed by jobs of `before` that the run doesn't have.
  ///
  /// `before` are the jobs of the run that it resumed.
  func jobs(after before: [EarlierJob]) -> [EarlierJob] {
    // Killed at its start, perhaps before the restored jobs were all recorded: none of its own has ended or begun.
    let hasBegun = run.jobs.contains { $0.restored == nil && ($0.state.isTerminal || !$0.attempts.isEmpty) }
    if entry.endedAt == nil, !before.isEmpty, !hasBegun { return before }
    let known = Dictionary(before.map { ($0.name, $0) }) { first, _ in first }
    let jobs = run.ids.map { id in
      EarlierJob(
        run[id].job.name, end(of: id, before: known[run[id].job.name]), fingerprint: fingerprints[id],
        inputsHash: later[id].map(\.success.inputsHash) ?? run[id].inputsHash)
    }
    let names = Set(jobs.map(\.name))
    return jobs + before.filter { !names.contains($0.name) }
  }

  private func end(of id: JobID, before: EarlierJob?) -> EarlierJob.End {
    let record = run[id]
    switch record.state {
    case .succeeded:
      if let later = later[id] {
        return .done(
          EarlierSuccess(run: entry.id, at: later.at, took: later.success.took, outputs: later.success.outputs))
      }
      guard var earlier = record.restored else {
        let at = (run.start?.at ?? entry.startedAt) + record.since / .seconds(1)
        let took = record.elapsed(at: record.since) ?? .zero
        return .done(EarlierSuccess(run: entry.id, at: at, took: took, outputs: record.outputs))
      }
      if case .done(let known) = before?.end { return .done(known) }
      // The run that executed it was removed from the store.
      earlier.outputs = record.outputs.isEmpty ? nil : record.outputs
      return .done(earlier)
    case .failed: return .failed
    case .cancelled: return .cancelled
    case .skipped: return .skipped
    case .executing, .serving, .paused(started: true): return .executing
    // One that failed and was to be retried by a person has failed still.
    case .waiting, .ready, .paused: return record.attempt?.failure == nil ? .waiting : .failed
    case .backingOff: return .waiting
    }
  }
}

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
}

extension EarlierJob {
  /// The jobs of a run as they were at its last commit, and later successes, in the order of identifiers.
  ///
  /// `past` begins with the run, followed by the run that it resumed, and so on. Jobs that only earlier runs have follow.
  package static func of(_ past: [PastRun]) -> [EarlierJob] {
    past.reversed().reduce([]) { before, run in run.jobs(after: before) }
  }
}

extension RunStore {
  /// The run, followed by the run that it resumed, and so on.
  package func past(of run: RunEntry) throws -> [PastRun] {
    try chain(of: run).map { try PastRun($0, in: self) }
  }
}
