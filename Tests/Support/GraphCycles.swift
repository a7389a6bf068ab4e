import JobModel

extension JobGraph {
  /// Whether a job needs itself, directly or through others.
  package var hasCycle: Bool { !DependencyOrder(jobs.map { $0.needs.map(\.job.index) }).cycles.isEmpty }
}
