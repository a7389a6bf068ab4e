/// What has become of one job so far.
package struct JobRecord: Sendable, Equatable {
  package var job: Job
  package var state: JobState = .waiting
  /// When `state` began.
  package var since: Duration = .zero
  package var progress: JobProgress?
  /// Units of progress a second over the last few seconds; nil until two reports.
  package var rate: Double?
  package var attempts: [Attempt] = []
  package var log = LogRing()
  /// How many of its needs are not decided in its favour yet.
  package var unmetNeeds: Int
  package var dependents: [JobID] = []
  /// Who has asked for the end of the attempt in progress.
  package var cancelling: Cancelling?
  /// Time spent in states that have ended, for telling one kind of wait from another.
  package var spent = Spent()
  /// What it did when; empty while nothing but waiting has been.
  package var phases = Phases()
  /// The rates of the newest attempt.
  package var rates = RateHistory()

  /// Every need of this job, with its condition.
  package internal(set) var edges: [JobGraph.Dependent] = []
  var rateSample: (time: Duration, done: Int64)?

  package init(job: Job) {
    self.job = job
    unmetNeeds = job.needs.count
  }

  /// One try at the work.
  package struct Attempt: Sendable, Equatable {
    package var number: Int
    package var startedAt: Duration
    package var endedAt: Duration?
    package var pid: Int32?
    /// Nil while it executes and for one that succeeded or was cancelled.
    package var failure: JobFailure?
    package var pausedFor: Duration = .zero
  }

  package struct Cancelling: Sendable, Equatable {
    package var by: JobState.Canceller
    package var isKill: Bool
    package var at: Duration
  }

  package struct Spent: Sendable, Equatable {
    package var waiting: Duration = .zero
    package var forSlot: Duration = .zero
    package var forPool: Duration = .zero
    package var backingOff: Duration = .zero
    package var executing: Duration = .zero
    package var paused: Duration = .zero
  }

  package var attempt: Attempt? { attempts.last }

  /// How long the newest attempt has executed, paused time left out; nil before the first.
  package func elapsed(at now: Duration) -> Duration? {
    guard let attempt else { return nil }
    if let end = attempt.endedAt { return end - attempt.startedAt - attempt.pausedFor }
    var paused = attempt.pausedFor
    if case .paused(started: true) = state { paused += now - since }
    return max(.zero, now - attempt.startedAt - paused)
  }

  /// The time left at the present rate; nil while the rate or the total is not known.
  package func remaining(at now: Duration) -> Duration? {
    guard state == .executing, let progress, let total = progress.total else { return nil }
    let left = Double(max(0, total - progress.done))
    if let rate, rate > 0 { return .seconds(left / rate) }
    return nil
  }

  package static func == (left: JobRecord, right: JobRecord) -> Bool {
    left.job == right.job && left.state == right.state && left.since == right.since && left.progress == right.progress
      && left.rate == right.rate && left.attempts == right.attempts && left.log == right.log
      && left.unmetNeeds == right.unmetNeeds && left.dependents == right.dependents
      && left.cancelling == right.cancelling && left.spent == right.spent && left.phases == right.phases
      && left.rates == right.rates
  }
}
