import JobModel
import Session

/// Selects jobs by the names of a command line.
enum JobSelection {
  /// The named jobs and all that they need; all jobs without names.
  ///
  /// `name` without brackets selects each `name[…]`.
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
