import JobModel

/// When the run will end, as far as its own rates and the jobs already done can tell.
struct Estimate: Equatable {
  var remaining: Duration
  /// Whether a part of it is the mean of jobs already done, rather than a rate that is seen now.
  var isRough: Bool

  /// With more jobs at work it is not made for every frame.
  static let atHand = 2000

  /// Nil when something that is still to come has neither a rate nor a done job of its kind to go by.
  init?(_ run: Run, _ index: JobIndex, now: Duration) {
    guard !run.isComplete, !run.isDraining, run.stopping == nil, run.slots > 0, run.counts.active > 0 else {
      return nil
    }
    var work: Duration = .zero
    var longest: Duration = .zero
    var rough = false
    // Without a copy of the record, of which there may be thousands.
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
