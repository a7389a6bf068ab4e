import Basics

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

  /// The ranks of jobs that are added to a run, whose identifiers begin with `first`; other jobs keep theirs.
  package static func ranks(of jobs: [Job], from first: Int) -> [Duration] {
    // A list on standard input adds its jobs one by one.
    if jobs.allSatisfy(\.needs.isEmpty) { return jobs.map { expected($0, siblings: [:]) } }
    var graph = JobGraph(name: "", jobs: jobs)
    for index in jobs.indices {
      graph.jobs[index].needs = jobs[index].needs.compactMap { need in
        need.job.index < first ? nil : JobNeed(JobID(need.job.index - first), when: need.when)
      }
    }
    return ranks(of: graph)
  }

  /// The ranks for a run with `slots`; all zero, which is the order of the file, if that order would end the run
  /// sooner.
  ///
  /// No order by rank is the best for every graph. The two orders are compared if each duration is known and no pool or
  /// priority decides beside the ranks; the ranks are kept unless they take over 2 % longer.
  package static func ranks(of graph: JobGraph, slots: Int) -> [Duration] {
    let ranks = ranks(of: graph)
    let zero = [Duration](repeating: .zero, count: ranks.count)
    guard graph.jobs.count <= comparedJobs, graph.jobs.allSatisfy(isPredictable) else { return ranks }
    let (byRank, inOrder) = (length(of: graph, ranks, slots: slots), length(of: graph, zero, slots: slots))
    return byRank > inOrder * 1.02 ? zero : ranks
  }

  /// The most jobs of a graph whose two orders are compared; a thousand jobs take a few milliseconds.
  private static let comparedJobs = 10_000

  private static func isPredictable(_ job: Job) -> Bool {
    job.expectedTime != nil && job.uses.isEmpty && job.priority == .normal && job.finally == nil && job.takesSlot
  }

  private struct Place: Comparable {
    var key: Duration
    var order: Int
    var job: Int

    static func < (left: Place, right: Place) -> Bool { (left.key, left.order) < (right.key, right.order) }
  }

  /// How long a run takes if every job succeeds in its expected time, and the ready job of the highest rank goes first.
  static func length(of graph: JobGraph, _ ranks: [Duration], slots: Int) -> Duration {
    let dependents = graph.dependents
    var unmet = graph.jobs.map(\.needs.count)
    var ready = Heap<Place>()
    var executing = Heap<Place>()
    var now = Duration.zero
    var order = 0
    func place(_ job: Int, _ key: Duration) -> Place {
      order += 1
      return Place(key: key, order: order, job: job)
    }
    for job in unmet.indices where unmet[job] == 0 { ready.push(place(job, .zero - ranks[job])) }
    while true {
      while executing.count < slots, let next = ready.pop() {
        executing.push(place(next.job, now + expected(graph.jobs[next.job], siblings: [:])))
      }
      guard let ended = executing.pop() else { return now }
      now = ended.key
      for dependent in dependents[ended.job] {
        unmet[dependent.job.index] -= 1
        if unmet[dependent.job.index] == 0 {
          ready.push(place(dependent.job.index, .zero - ranks[dependent.job.index]))
        }
      }
    }
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

  /// The expected duration of a job; `siblings` has the durations of matrices.
  package static func expected(_ job: Job, siblings: [String: Duration]) -> Duration {
    job.expectedTime?.soonest ?? job.matrix.flatMap { siblings[$0] } ?? .seconds(1)
  }
}
