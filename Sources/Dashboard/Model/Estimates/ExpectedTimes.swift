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
  func of(_ record: JobRecord, at now: Duration) -> TimeEstimate? {
    let elapsed = record.state.isActive ? record.elapsed(at: now) ?? .zero : .zero
    if let time = record.job.expectedTime, record.job.usual == nil || record.usual(at: now) != nil {
      return elapsed <= time.latest ? time : TimeEstimate(soonest: elapsed, latest: elapsed * 2 - time.soonest)
    }
    guard let mean = means[record.job.work.kind] else { return nil }
    if elapsed < mean { return TimeEstimate(soonest: mean, latest: mean) }
    return hasHistory ? TimeEstimate(soonest: elapsed, latest: elapsed * 2) : nil
  }
}
