import JobModel
import RunStore
import Screen
import Session

/// The approvals that a run is given when it starts.
enum Approvals {
  /// The jobs that start without asking: the named jobs, and jobs whose question and work match an `earlier` approval
  /// (`Fingerprint.ofApproval`).
  ///
  /// Throws where a job would ask and `canAsk` is false: before anything has started. Jobs that are `done` ask no question.
  /// `all` includes the jobs of the file that do not run.
  static func of(
    _ names: [String], earlier: Set<String> = [], in graph: JobGraph, of all: JobGraph? = nil,
    done: (JobID) -> Bool = { _ in false }, canAsk: Bool
  ) throws(UsageError) -> Set<JobID> {
    var approved: Set<JobID> = []
    if !earlier.isEmpty {
      let same = graph.jobs.indices.filter { Fingerprint.ofApproval(graph.jobs[$0]).map(earlier.contains) == true }
      approved.formUnion(same.map(JobID.init))
    }
    for name in names {
      let found = name == "all" ? graph.jobs.indices.map(JobID.init) : graph.jobs(matching: name)
      guard !found.isEmpty else {
        let all = all ?? graph
        throw UsageError(
          all.jobs(matching: name).isEmpty
            ? "--approve: there is no job '\(name)'" + NearestName.hint(for: name, in: all.jobs.map(\.name))
            : "--approve: job '\(name)' does not run: it is not asked for, nor needed")
      }
      approved.formUnion(found)
    }
    guard !canAsk else { return approved }
    let open = graph.jobs.indices.filter { index in
      graph.jobs[index].approval != nil && !approved.contains(JobID(index)) && !done(JobID(index))
    }
    guard !open.isEmpty else { return approved }
    let skipped = skipped(in: graph)
    let asking = open.filter { !skipped[$0] }
    guard let first = asking.first else { return approved }
    let name = JobText.clean(graph.jobs[first].name).text
    let others = asking.count > 1 ? ", and so \(asking.count == 2 ? "does" : "do") \(asking.count - 1) more" : ""
    throw UsageError(
      "\(name) waits for a person's approval\(others), for which the dashboard and --ui plain ask, in a terminal: "
        + "approve with --approve \(asking.count > 1 ? "all" : name), use one of these, or add --detach and answer with "
        + "opdash approve")
  }

  /// Which jobs are known to be skipped before anything has started: a person starts them, their condition is false
  /// whatever other jobs write, or they need such a job.
  private static func skipped(in graph: JobGraph) -> [Bool] {
    var skipped = [Bool](repeating: false, count: graph.jobs.count)
    for index in DependencyOrder(graph.jobs.map { $0.needs.map(\.job.index) }).order {
      let job = graph.jobs[index]
      skipped[index] =
        job.isManual || job.condition?.mayHold(without: job.outputs.map(\.text)) == false
        || job.needs.contains { skipped[$0.job.index] && $0.when.isRuledOut(by: .skipped(because: .condition)) }
    }
    return skipped
  }
}

extension Approvals {
  /// The approvals to record for a run that resumes this one.
  static func recorded(_ approved: Set<JobID>, in graph: JobGraph) -> [String]? {
    let hashes = approved.sorted().compactMap { Fingerprint.ofApproval(graph[$0]) }
    return hashes.isEmpty ? nil : hashes
  }
}
