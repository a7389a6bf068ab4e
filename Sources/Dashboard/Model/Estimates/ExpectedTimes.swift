import JobModel

/// How long a whole attempt of a job that has not ended is expected to take.
struct ExpectedTimes {
  private let means: [String: Duration]
  /// Whether a job has a declared or usual time.
  let hasHistory: Bool

  init(_ index: JobIndex) {
    means = index.kinds.compactMapValues(\.mean)
    hasHistory = index.kinds.values.contains { $0.known > 0 }
  }

  /// The declared or usual time; else the mean time of jobs of its kind, nil where there is none.
  ///
  /// An attempt that takes longer is expected to end now, at the latest once it has exceeded the usual time twice as much
  /// or, without one, has taken twice as long. In a run without any history the latter gives nil.
  func of(_ id: JobID, in run: Run, at now: Duration) -> TimeEstimate? {
    // Field by field: a copy of the record would retain all of its storage, for thousands of jobs.
    let (job, state) = (id.index, run.jobs[id.index].state)
    let elapsed = state.isActive ? run.jobs[job].elapsed(at: now) ?? .zero : .zero
    let usual = run.jobs[job].job.usual
    let holds = usual == nil || !(state.isActive || state.isTerminal) || run.jobs[job].usual(at: now) != nil
    if holds, let time = run.jobs[job].job.work.declaredTime ?? usual?.estimate {
      return elapsed <= time.latest ? time : TimeEstimate(soonest: elapsed, latest: elapsed * 2 - time.soonest)
    }
    guard let mean = means[run.jobs[job].job.work.kind] else { return nil }
    if elapsed < mean { return TimeEstimate(soonest: mean, latest: mean) }
    return hasHistory ? TimeEstimate(soonest: elapsed, latest: elapsed * 2) : nil
  }
}
