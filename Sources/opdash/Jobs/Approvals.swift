import JobModel
import RunStore
import Screen
import Session

/// The approvals that a run is given when it starts.
enum Approvals {
  /// The jobs that start without asking: the named jobs, and jobs whose question and work match an `earlier` approval
  /// (`Fingerprint.ofApproval`).
  ///
  /// Throws where a job would ask and `canAsk` is false: before anything has started.
  static func of(
    _ names: [String], earlier: Set<String> = [], in graph: JobGraph, canAsk: Bool
  ) throws(UsageError) -> Set<JobID> {
    var approved: Set<JobID> = []
    if !earlier.isEmpty {
      let same = graph.jobs.indices.filter { Fingerprint.ofApproval(graph.jobs[$0]).map(earlier.contains) == true }
      approved.formUnion(same.map(JobID.init))
    }
    for name in names {
      let found = name == "all" ? graph.jobs.indices.map(JobID.init) : graph.jobs(matching: name)
      guard !found.isEmpty else {
        throw UsageError(
          "--approve: there is no job '\(name)'" + NearestName.hint(for: name, in: graph.jobs.map(\.name)))
      }
      approved.formUnion(found)
    }
    guard !canAsk else { return approved }
    let asking = graph.jobs.indices.filter { graph.jobs[$0].mayAsk && !approved.contains(JobID($0)) }
    guard let first = asking.first else { return approved }
    let name = JobText.clean(graph.jobs[first].name).text
    let others = asking.count > 1 ? ", and so \(asking.count == 2 ? "does" : "do") \(asking.count - 1) more" : ""
    throw UsageError(
      "\(name) waits for a person's approval\(others), for which only the dashboard and --ui plain ask, in a terminal: "
        + "approve with --approve \(asking.count > 1 ? "all" : name), or use one of these")
  }
}

extension Approvals {
  /// The approvals to record for a run that resumes this one.
  static func recorded(_ approved: Set<JobID>, in graph: JobGraph) -> [String]? {
    let hashes = approved.sorted().compactMap { Fingerprint.ofApproval(graph[$0]) }
    return hashes.isEmpty ? nil : hashes
  }
}

extension Job {
  /// Whether it asks for approval unless it is skipped; what of a condition needs no other job's value is known now.
  fileprivate var mayAsk: Bool {
    guard approval != nil else { return false }
    return condition?.mayHold(without: outputs.map(\.text)) ?? true
  }
}
