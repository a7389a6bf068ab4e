import JobModel

/// Ten thousand simulated jobs without duration, so that only the scheduler and the screen take time.
enum StressGraph {
  /// Waves of `width` jobs; each job needs two of the previous wave.
  static func make(waves: Int = 100, width: Int = 100) -> JobGraph {
    var jobs: [Job] = []
    jobs.reserveCapacity(waves * width)
    for wave in 0..<waves {
      for place in 0..<width {
        let before = (wave - 1) * width
        let needs = wave == 0 ? [] : Set([place, (place + 1) % width]).sorted().map { JobNeed(JobID(before + $0)) }
        jobs.append(
          Job(
            name: "wave-\(wave + 1)-\(place + 1)", work: .simulate(SimulatedWork(seed: UInt64(jobs.count))),
            needs: needs))
      }
    }
    return JobGraph(name: "stress", jobs: jobs, slots: 8)
  }
}
