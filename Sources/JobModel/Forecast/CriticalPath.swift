/// Ranks jobs by the work that depends on them; the scheduler starts the highest rank first.
package enum CriticalPath {
  /// For each job, the longest chain of expected durations from its start to the end of the run.
  ///
  /// A job without a declared or usual duration counts the mean of the other instances of its matrix, else one second. The
  /// graph must be free of cycles; time is linear in jobs and needs.
  package static func ranks(of graph: JobGraph) -> [Duration] {
    let needs = graph.jobs.map { $0.needs.map(\.job.index) }
    let siblings = siblings(graph.jobs)
    let times = graph.jobs.map { expected($0, siblings: siblings) }
    var ranks = times
    for job in DependencyOrder(needs).order.reversed() {
      for need in needs[job] { ranks[need] = max(ranks[need], times[need] + ranks[job]) }
    }
    return ranks
  }

  /// The mean of the known durations of each matrix.
  private static func siblings(_ jobs: [Job]) -> [String: Duration] {
    var sums: [String: (time: Duration, count: Int)] = [:]
    for job in jobs {
      guard let matrix = job.matrix, let time = job.expectedTime?.soonest else { continue }
      let sum = sums[matrix, default: (.zero, 0)]
      sums[matrix] = (sum.time + time, sum.count + 1)
    }
    return sums.mapValues { $0.time / $0.count }
  }

  /// The expected duration of a job; `siblings` has those of matrices.
  package static func expected(_ job: Job, siblings: [String: Duration]) -> Duration {
    job.expectedTime?.soonest ?? job.matrix.flatMap { siblings[$0] } ?? .seconds(1)
  }
}
