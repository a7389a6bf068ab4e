/// Ranks jobs by the work that depends on them; the scheduler starts the highest rank first.
package enum CriticalPath {
  /// For each job, the longest chain of expected durations from its start to the end of the run.
  ///
  /// A job of unknown duration counts one second. The graph must be free of cycles; time is linear in jobs and needs.
  package static func ranks(of graph: JobGraph) -> [Duration] {
    let dependents = graph.dependents
    var ranks = graph.jobs.map { expected($0) }
    var open = graph.jobs.indices.filter { dependents[$0].isEmpty }
    var left = dependents.map(\.count)
    while let job = open.popLast() {
      for need in graph.jobs[job].needs.map(\.job.index) {
        ranks[need] = max(ranks[need], expected(graph.jobs[need]) + ranks[job])
        left[need] -= 1
        if left[need] == 0 { open.append(need) }
      }
    }
    return ranks
  }

  private static func expected(_ job: Job) -> Duration {
    if case .simulate(let work) = job.work { return work.duration }
    return .seconds(1)
  }
}
