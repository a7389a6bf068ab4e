/// Ranks jobs by the work that depends on them; the scheduler starts the highest rank first.
package enum CriticalPath {
  /// For each job, the longest chain of expected durations from its start to the end of the run.
  ///
  /// A job without a declared or usual duration counts one second. The graph must be free of cycles; time is linear in jobs and needs.
  package static func ranks(of graph: JobGraph) -> [Duration] {
    let needs = graph.jobs.map { $0.needs.map(\.job.index) }
    var ranks = graph.jobs.map { expected($0) }
    for job in DependencyOrder(needs).order.reversed() {
      for need in needs[job] { ranks[need] = max(ranks[need], expected(graph.jobs[need]) + ranks[job]) }
    }
    return ranks
  }

  private static func expected(_ job: Job) -> Duration {
    job.expectedTime?.soonest ?? .seconds(1)
  }
}
