import JobModel
import Session

/// The part of a graph that the names of a command line ask for.
enum JobSelection {
  /// The named jobs and what they need; all jobs where no name is given.
  ///
  /// `name` without brackets means each `name[…]`.
  static func of(_ names: [String], in graph: JobGraph, file: String) throws(UsageError) -> JobGraph {
    guard !names.isEmpty else { return graph }
    var byName: [String: [JobID]] = [:]
    for (index, job) in graph.jobs.enumerated() {
      byName[job.name, default: []].append(JobID(index))
      if job.name.hasSuffix("]"), let bracket = job.name.firstIndex(of: "[") {
        byName[String(job.name[..<bracket]), default: []].append(JobID(index))
      }
    }
    var wanted: [JobID] = []
    for name in names {
      guard let ids = byName[name] else {
        throw UsageError("\(file) has no job '\(name)'" + NearestName.hint(for: name, in: graph.jobs.map(\.name)))
      }
      wanted += ids
    }
    return graph.restricted(to: wanted)
  }
}
