/// How long a job took in its last successful runs, and how often it failed.
package struct UsualTime: Sendable, Equatable {
  /// Half of the runs took no longer.
  package var median: Duration
  /// Nine of ten runs took no longer.
  package var ninetieth: Duration
  /// The number of runs that both are taken from, 1 or more.
  package var count: Int
  /// The number of its last `attempts` that failed although the same work succeeded.
  package var failures: Int
  /// Its last attempts at work that succeeded, at once or later.
  package var attempts: Int

  package init(median: Duration, ninetieth: Duration, count: Int, failures: Int = 0, attempts: Int? = nil) {
    self.median = median
    self.ninetieth = ninetieth
    self.count = count
    self.failures = failures
    self.attempts = attempts ?? count + failures
  }

  /// Whether it failed without a change that explains it.
  package var isFlaky: Bool { failures > 0 }
}

/// The end of a job in a recorded run.
package struct RecordedEnd: Sendable, Equatable {
  package enum Outcome: Sendable {
    case succeeded
    case failed
    case cancelled
    /// The job was up to date or had succeeded in an earlier run, and did not execute.
    case notExecuted
  }

  /// The identifier of the run.
  package var run: String
  package var outcome: Outcome
  /// The time of the last attempt, without pauses.
  package var took: Duration
  /// The number of attempts in that run, 1 or more.
  package var attempts: Int
  /// The hash of the job and of the content of its inputs; nil for a job without `inputs`.
  package var work: String?

  package init(run: String, outcome: Outcome, took: Duration, attempts: Int = 1, work: String? = nil) {
    self.run = run
    self.outcome = outcome
    self.took = took
    self.attempts = attempts
    self.work = work
  }
}

extension UsualTime {
  /// The most successes that times are taken from, and the number of attempts after which no further run counts.
  package static let window = 20
  /// A time that differs from the recorded ones by this factor shows that they hold no longer.
  static let tolerance = 10

  /// The usual time of a job from its ends in recorded runs, the newest first.
  ///
  /// Nil if none of them succeeded by executing, or the newest success took ten times as long as the median of all, or a
  /// tenth of it. Failures count where the same work succeeded: later in the same run or, with the same `RecordedEnd.work`,
  /// in another. A failure of any other run may have been fixed by a change.
  package init?(_ ends: some Sequence<RecordedEnd>) {
    var runs: Set<String> = []
    // The newest end of a run has counted the attempts before it.
    let ends = ends.filter { $0.outcome != .notExecuted && runs.insert($0.run).inserted }
    let successes = ends.lazy.filter { $0.outcome == .succeeded }.prefix(Self.window)
    let times = successes.map(\.took).sorted()
    guard let newest = successes.first, !Self.isOff(newest.took, from: Self.quantile(5, of: times)) else { return nil }
    let works = Set(ends.lazy.filter { $0.outcome == .succeeded }.compactMap(\.work))
    var (failures, attempts) = (0, 0)
    for end in ends where attempts < Self.window {
      guard end.outcome == .succeeded || end.work.map(works.contains) == true else { continue }
      // A cancelled attempt neither failed nor succeeded.
      failures += end.outcome == .failed ? end.attempts : end.attempts - 1
      attempts += end.outcome == .cancelled ? end.attempts - 1 : end.attempts
    }
    self.init(
      median: Self.quantile(5, of: times), ninetieth: Self.quantile(9, of: times), count: times.count,
      failures: failures, attempts: attempts)
  }

  /// The least of these times that `tenths` of ten don't exceed.
  private static func quantile(_ tenths: Int, of sorted: [Duration]) -> Duration {
    sorted[max(0, (sorted.count * tenths + 9) / 10 - 1)]
  }

  /// Whether two times differ so much that one tells nothing about the other; a second never does.
  static func isOff(_ time: Duration, from other: Duration) -> Bool {
    let (less, more) = (min(time, other), max(time, other))
    return more > less * tolerance && more - less > .seconds(1)
  }
}
