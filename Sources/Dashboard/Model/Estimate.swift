import JobModel

/// The time until the run ends, estimated from the rates of its jobs and the times of ended ones.
struct Estimate: Equatable {
  var remaining: Duration
  /// Whether a part of it is the mean time of ended jobs rather than a present rate.
  var isRough: Bool

  /// With more open jobs, the estimate is not computed for every frame.
  static let frequentLimit = 2000

  /// Nil if a job that has not ended has neither a rate nor an ended job of its kind.
  init?(_ run: Run, _ index: JobIndex, now: Duration) {
    guard !run.isComplete, !run.isDraining, run.stopping == nil, run.slots > 0, run.counts.active > 0 else {
      return nil
    }
    var work: Duration = .zero
    var longest: Duration = .zero
    var rough = false
    // Without a local copy of the record, which would retain all of its storage, for thousands of jobs.
    for id in index.open where index.classes[id.index] == .executing {
      let left: Duration
      if let seen = run.jobs[id.index].remaining(at: now) {
        left = seen
      } else if let mean = index.kinds[run.jobs[id.index].job.work.kind]?.mean,
        let elapsed = run.jobs[id.index].elapsed(at: now), elapsed < mean
      {
        left = mean - elapsed
        rough = true
      } else {
        return nil
      }
      work += left
      longest = max(longest, left)
    }
    for kind in index.kinds.values where kind.pending > 0 {
      guard let mean = kind.mean else { return nil }
      work += mean * kind.pending
      longest = max(longest, mean)
      rough = true
    }
    remaining = max(longest, work / run.slots)
    isRough = rough
  }
}
