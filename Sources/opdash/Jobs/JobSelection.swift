import Foundation
import JobModel
import Session

/// Selects jobs by the names of a command line.
enum JobSelection {
  /// The named jobs and all that they need; all jobs without names.
  ///
  /// `name` without brackets selects each `name[…]`; `*` and `?` stand for any characters.
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
      guard let ids = byName[name] ?? matches(of: name, in: graph) else {
        throw UsageError("\(file) has no job '\(name)'" + NearestName.hint(for: name, in: graph.jobs.map(\.name)))
      }
      wanted += ids
    }
    return graph.restricted(to: wanted)
  }

  /// The jobs that a pattern fits; nil for a name without `*` and `?`, and if it fits none.
  private static func matches(of pattern: String, in graph: JobGraph) -> [JobID]? {
    guard pattern.contains(where: { $0 == "*" || $0 == "?" }) else { return nil }
    // Brackets are part of names.
    let escaped = pattern.replacing("\\", with: "\\\\").replacing("[", with: "\\[")
    let ids = graph.jobs.indices.filter { fnmatch(escaped, graph.jobs[$0].name, 0) == 0 }.map(JobID.init)
    return ids.isEmpty ? nil : ids
  }
}
