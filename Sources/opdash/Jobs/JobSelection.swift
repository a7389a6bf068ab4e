import JobModel
import Session

/// Selects jobs by the names of a command line.
enum JobSelection {
  /// The named jobs and all that they need; all jobs without names.
  ///
  /// The names take the forms of `needs`: a job, a job with a matrix for its instances, or a pattern with `*` and
  /// `?`.
  static func of(_ names: [String], in graph: JobGraph, file: String) throws(UsageError) -> JobGraph {
    guard !names.isEmpty else { return graph }
    var wanted: [JobID] = []
    for name in names {
      let jobs = graph.jobs(matching: name)
      guard !jobs.isEmpty else {
        let known = graph.jobs.map(\.name) + Set(graph.jobs.compactMap(\.matrix)).sorted()
        throw UsageError("\(file) has no job '\(name)'" + NearestName.hint(for: name, in: known))
      }
      wanted += jobs
    }
    return graph.restricted(to: wanted + graph.finalJobs(after: wanted))
  }
}
