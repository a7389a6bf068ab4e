import Foundation
import JobModel

/// The jobs that a resumed run executes, and why.
///
/// A job that succeeded is not executed again, unless it or its inputs have changed, a path that it creates is gone, or
/// a job that it needs is executed again for one of these reasons. A need for a failure or for any end is decided anew
/// when the needed job is executed again, so the job that has the need is executed again too. A skipped job is skipped
/// again where its condition or the known ends of its needs rule it out. A service serves again for the jobs that are
/// executed. The jobs of `finally` follow whatever is executed again.
package struct ResumePlan: Sendable {
  /// Why a job is executed.
  package enum Reason: Sendable, Hashable {
    case failed
    case executing
    case cancelled
    case skipped
    case waiting
    /// Its command, address or another part that decides its result.
    case changed
    case inputsChanged
    /// A path that it creates does not exist.
    case outputMissing
    /// Another job reads its values, and the store doesn't have them.
    case valuesMissing
    /// A job that it needs is executed again.
    case needed
    /// A service that has ended, and that an executed job needs.
    case used
    /// A `finally` job that succeeded in the earlier run.
    case final
    case new
  }

  /// The jobs of the new run.
  package let graph: JobGraph
  /// The jobs of `graph` that are not executed.
  package let restored: [JobID: EarlierSuccess]
  /// The hashes of the inputs of restored jobs.
  package let restoredInputs: [JobID: String]
  /// The other jobs of `graph`, in the order of identifiers.
  package let again: [(job: JobID, reason: Reason)]
  /// The names of earlier jobs that the graph does not have.
  package let removed: [String]
  /// The names of jobs that have not succeeded and stay out because only failures are run again.
  package let leftOut: [String]
  /// Whether some of these are unfinished, so that the whole is not a success.
  package let leavesWork: Bool

  /// Compares the jobs of an earlier run with `graph`; `fingerprints` are indexed by job.
  ///
  /// `onlyFailed` leaves out jobs that neither failed nor were skipped because of a failure, unless such a job needs them.
  /// `inputsHash` is the hash of a job's inputs now, and is asked for only where the outcome depends on it.
  package init(
    _ earlier: [EarlierJob], _ graph: JobGraph, fingerprints: [String], onlyFailed: Bool = false,
    isThere: (String) -> Bool = { FileManager.default.fileExists(atPath: $0) }, inputsHash: (Job) -> String?
  ) {
    let known = Dictionary(earlier.map { ($0.name, $0) }) { first, _ in first }
    var reasons = [Reason?](repeating: nil, count: graph.jobs.count)
    /// How jobs will have ended that are not executed.
    var ends = [JobState?](repeating: nil, count: graph.jobs.count)
    var successes: [JobID: EarlierSuccess] = [:]
    let read = graph.readJobs
    let order = DependencyOrder(graph.jobs.map { $0.needs.map(\.job.index) }).order
    for index in order {
      let job = graph.jobs[index]
      let before = known[job.name]
      guard let before, case .done(let success) = before.end else {
        if job.isManual {
          // A person starts it, also in this run.
          ends[index] = .skipped(because: .manual)
        } else if before?.end != .skipped {
          reasons[index] = before.map { Reason($0.end) } ?? .new
        } else if Self.isRuledOut(job, ends, successes) {
          ends[index] = .skipped(because: .condition)
        } else if job.finally == nil {
          reasons[index] = .skipped
        }
        continue
      }
      if before.fingerprint != fingerprints[index] {
        reasons[index] = .changed
      } else if job.needs.contains(where: { Self.isOverdue($0, reasons[$0.job.index]) }) {
        reasons[index] = .needed
      } else if !job.creates.allSatisfy(isThere) {
        reasons[index] = .outputMissing
      } else if !job.inputs.isEmpty, before.inputsHash == nil || before.inputsHash != inputsHash(job) {
        reasons[index] = .inputsChanged
      } else if read.contains(JobID(index)), success.outputs == nil {
        reasons[index] = .valuesMissing
      } else {
        successes[JobID(index)] = success
        // A service may serve again.
        if job.service == nil { ends[index] = .succeeded(upToDate: true) }
      }
    }
    let names = Set(graph.jobs.map(\.name))
    removed = earlier.map(\.name).filter { !names.contains($0) }

    var kept = graph.jobs.indices.map(JobID.init)
    if onlyFailed {
      let ordinary = successes.keys.filter { graph[$0].finally == nil }
      kept = Self.kept(graph, order, known, restored: Set(ordinary))
    }
    let finals = graph.jobs.indices.filter { graph.jobs[$0].finally != nil }
    // A service that nothing needed, or a skipped job of `finally`, alone leaves nothing to do.
    let hasWork = kept.contains { id in
      reasons[id.index].map { graph[id].service == nil || $0 != .skipped } ?? false
    }
    if hasWork {
      for index in finals {
        successes[JobID(index)] = nil
        if reasons[index] == nil { reasons[index] = known[graph.jobs[index].name]?.end == .skipped ? .skipped : .final }
      }
      if onlyFailed { kept = graph.needed(by: kept + graph.finalJobs(after: kept)).sorted() }
    }
    let isKept = Set(kept)
    let services = order.reversed().filter { graph.jobs[$0].service != nil }.map(JobID.init)
    if !services.isEmpty {
      var users: [JobID: [JobID]] = [:]
      for id in kept { for need in graph[id].needs { users[need.job, default: []].append(id) } }
      let ordinary = kept.filter { graph[$0].service == nil && graph[$0].finally == nil }
      // A service comes before the ones that it needs.
      for id in services {
        let isUsed = (users[id] ?? ordinary).contains { reasons[$0.index] != nil }
        if isUsed, successes.removeValue(forKey: id) != nil { reasons[id.index] = .used }
        if !isUsed, reasons[id.index] == .skipped { reasons[id.index] = nil }
      }
    }
    leavesWork = graph.jobs.indices.contains { index in
      !isKept.contains(JobID(index)) && reasons[index] != nil && reasons[index] != .skipped
    }
    leftOut = graph.jobs.indices.filter { !isKept.contains(JobID($0)) }.map { graph.jobs[$0].name }
    self.graph = leftOut.isEmpty ? graph : graph.restricted(to: kept)
    // The restricted graph has the jobs in their old order.
    restored = Dictionary(
      uniqueKeysWithValues: kept.enumerated().compactMap { new, old in successes[old].map { (JobID(new), $0) } })
    restoredInputs = Dictionary(
      uniqueKeysWithValues: kept.enumerated().compactMap { new, old in
        guard successes[old] != nil, let hash = known[graph[old].name]?.inputsHash else { return nil }
        return (JobID(new), hash)
      })
    again = kept.enumerated().compactMap { new, old in reasons[old.index].map { (JobID(new), $0) } }
  }

  package var isNothingLeft: Bool { again.isEmpty }

  /// Whether a success with this need may be outdated, because the needed job is executed for this reason.
  package static func isOverdue(_ need: JobNeed, _ reason: Reason?) -> Bool {
    switch reason {
    case nil: false
    case .changed, .inputsChanged, .outputMissing, .valuesMissing, .needed, .final, .new: true
    // The need was met before; an allowed failure meets it again, whatever the next attempt does.
    case .failed, .executing, .cancelled, .skipped, .waiting, .used: need.when != .ok
    }
  }

  /// Whether a skipped job will be skipped again, whatever the jobs do whose end is not known.
  private static func isRuledOut(_ job: Job, _ ends: [JobState?], _ successes: [JobID: EarlierSuccess]) -> Bool {
    let needs = job.needs.map { (when: $0.when, end: ends[$0.job.index]) }
    if needs.contains(where: { need in need.end.map(need.when.isRuledOut) ?? false }) { return true }
    // No end that is known is a failure.
    let failures = needs.filter { $0.when == .anyFailed }
    if !failures.isEmpty, failures.allSatisfy({ $0.end != nil }) { return true }
    guard let condition = job.condition else { return false }
    let known = job.outputs.filter { ends[$0.job.index] != nil }
    let values = known.map { ($0.text, successes[$0.job]?.outputs?[$0.name] ?? "") }
    let unknown = job.outputs.filter { !known.contains($0) }.map(\.text)
    return !condition.mayHold(without: unknown) { $0.replacing(values) }
  }

  /// The `restored` jobs, the failed jobs, the jobs skipped because of a failure, and the needs of all of them.
  ///
  /// `order` has each job after its needs.
  private static func kept(
    _ graph: JobGraph, _ order: [Int], _ known: [String: EarlierJob], restored: Set<JobID>
  ) -> [JobID] {
    var followsFailure = [Bool](repeating: false, count: graph.jobs.count)
    for index in order {
      switch known[graph.jobs[index].name]?.end {
      case .failed: followsFailure[index] = true
      case .skipped: followsFailure[index] = graph.jobs[index].needs.contains { followsFailure[$0.job.index] }
      default: break
      }
    }
    var keep = Set<JobID>()
    var open = Array(restored) + order.filter { followsFailure[$0] }.map(JobID.init)
    while let id = open.popLast() {
      guard keep.insert(id).inserted else { continue }
      open += graph[id].needs.map(\.job) + graph[id].outputs.map(\.job)
    }
    return keep.sorted()
  }
}

extension ResumePlan.Reason {
  fileprivate init?(_ end: EarlierJob.End) {
    switch end {
    case .done: return nil
    case .failed: self = .failed
    case .cancelled: self = .cancelled
    case .skipped: self = .skipped
    case .executing: self = .executing
    case .waiting: self = .waiting
    }
  }
}
