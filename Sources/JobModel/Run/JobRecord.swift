import Basics

/// The state and history of a job.
package struct JobRecord: Sendable, Equatable {
  package var job: Job
  package var state: JobState = .waiting
  /// When `state` began.
  package var since: Duration = .zero
  /// The first one and the newest: the number of an attempt tells how many there have been.
  package var attempts: [Attempt] = []
  /// The number of needs whose condition is not met.
  package var unmetNeeds: Int
  package var dependents: [JobID] = []
  /// The jobs that are parts of this one's work, in order of addition.
  package internal(set) var children: [JobID] = []
  /// Empty until the job leaves its first state.
  package var phases = Phases()
  /// Edges to the dependents; one with two conditions has two.
  package internal(set) var edges: [JobGraph.Dependent] = []
  /// Most jobs of a large run keep the details they began with, and share them.
  var details: Shared<Details>

  /// The reports of the job and of its executor.
  struct Details: Sendable, Equatable {
    var log: LogRing
    var progress: JobProgress?
    /// Units of progress per second over the last few seconds before `rateSample`.
    var rate: Double?
    /// The last report that `rate` includes.
    var rateSample: RateSample?
    var rates = RateHistory()
    var restored: EarlierSuccess?
    var cause: Cause?
    var inputsHash: String?
    var outputs: [String: String] = [:]
    var place: ClusterPlace?
    /// Whether another attempt than the one at `place` is the next.
    var isPlaceOver = false
    var cancelling: Cancelling?
  }

  package var log: LogRing { _read { yield details.value.log } }
  package var progress: JobProgress? { details.value.progress }
  var rateSample: RateSample? { details.value.rateSample }
  /// The rates of the newest attempt.
  package var rates: RateHistory { details.value.rates }
  /// Where it was done, if in an earlier run.
  package var restored: EarlierSuccess? { details.value.restored }
  /// Why its newest attempt was made, if that is stated, or why the next one will be.
  package var cause: Cause? { details.value.cause }
  /// The hash of what its newest attempt reads.
  package var inputsHash: String? { details.value.inputsHash }
  /// The values that its newest attempt wrote for other jobs.
  package var outputs: [String: String] { details.value.outputs }
  /// Where its newest attempt is or was in the cluster; nil for a job of this machine, before the submission, and once
  /// another attempt is to follow.
  package var place: ClusterPlace? { details.value.isPlaceOver ? nil : details.value.place }
  /// As `place`, and also once another attempt is to follow.
  package var newestPlace: ClusterPlace? { details.value.place }
  /// The requested cancellation of the attempt in progress.
  package var cancelling: Cancelling? { details.value.cancelling }

  /// The number of attempts kept of a job that is retried all day.
  package static let attemptLimit = 100

  /// `details` are the details to begin with.
  init(job: Job, _ details: Shared<Details> = .init(Details(log: LogRing()))) {
    self.job = job
    self.details = details
    unmetNeeds = job.needs.count
  }

  /// One attempt at the job's work.
  package struct Attempt: Sendable, Equatable {
    package let number: Int
    package var pid: Int32?
    /// Why it ended with neither a success nor a failure, if it did.
    package var stop: Stop?
    // In nanoseconds, half the size of a `Duration`.
    private var start: Int64
    private var end: Int64?
    private var pause: Int64 = 0
    private var fault: Shared<JobFailure>?

    package init(
      number: Int, startedAt: Duration, endedAt: Duration? = nil, pid: Int32? = nil, failure: JobFailure? = nil,
      pausedFor: Duration = .zero, stop: Stop? = nil
    ) {
      self.number = number
      self.pid = pid
      self.stop = stop
      start = startedAt.nanoseconds
      (self.endedAt, self.pausedFor, self.failure) = (endedAt, pausedFor, failure)
    }

    package var startedAt: Duration {
      get { .nanoseconds(start) }
      set { start = newValue.nanoseconds }
    }
    package var endedAt: Duration? {
      get { end.map { .nanoseconds($0) } }
      set { end = newValue?.nanoseconds }
    }
    package var pausedFor: Duration {
      get { .nanoseconds(pause) }
      set { pause = newValue.nanoseconds }
    }
    /// Nil while the attempt executes, and if it succeeded or was cancelled.
    package var failure: JobFailure? {
      get { fault?.value }
      set { fault = newValue.map { Shared($0) } }
    }

    package enum Stop: String, Sendable {
      case cancelled
      /// Another attempt was to begin.
      case restarted
    }
  }

  /// Why an attempt is made.
  package struct Cause: Sendable, Equatable {
    package var attempt: Int
    /// As in `src/main.c has changed`.
    package var text: String

    package init(attempt: Int, text: String) {
      self.attempt = attempt
      self.text = text
    }
  }

  package struct Cancelling: Sendable, Equatable {
    package var by: JobState.Canceller
    package var isKill: Bool
    package var at: Duration
  }

  package var attempt: Attempt? { attempts.last }

  /// Why the newest attempt was made or, if it is to be followed by another, why that will be; nil if nothing states it.
  package var reason: String? {
    guard let cause, cause.attempt >= (attempt?.number ?? 0) else { return nil }
    return cause.text
  }

  /// The execution time of the newest attempt, without pauses; nil before the first.
  ///
  /// A cluster job that an earlier run has submitted may have executed before this run.
  package func elapsed(at now: Duration) -> Duration? {
    guard let attempt else { return nil }
    let before = place?.before ?? .zero
    if let end = attempt.endedAt { return before + end - attempt.startedAt - attempt.pausedFor }
    var paused = attempt.pausedFor
    if case .paused(started: true) = state { paused += now - since }
    return before + max(.zero, now - attempt.startedAt - paused)
  }

  /// The number of its cluster job, from the submission to the end.
  package var clusterJob: String? {
    switch state {
    case .executing, .serving, .paused, .ready(.cluster): place?.id
    case .waiting, .ready, .backingOff, .succeeded, .failed, .cancelled, .skipped: nil
    }
  }

  /// When the job was added to the run.
  var addedAt: Duration { phases.count == 0 ? since : phases[0].start }

  /// The time spent in one kind of state between two moments.
  package func spent(_ kind: Phase.Kind, from start: Duration = .zero, until now: Duration) -> Duration {
    if phases.count == 0 { return kind == Phase.Kind(state) ? max(.zero, now - max(start, since)) : .zero }
    return (0..<phases.count).reduce(phases.correction(of: kind)) { sum, place in
      let phase = phases[place]
      let end = min(phases.end(of: place) ?? now, now)
      return phase.kind == kind ? sum + max(.zero, end - max(start, phase.start)) : sum
    }
  }

  /// The end of the attempt that the phase at `place` belongs to; nil for the current attempt.
  package func outcome(of place: Int) -> Phase.Kind? {
    for later in (place + 1)..<max(place + 1, phases.count) {
      switch phases[later].kind {
      case .paused: continue
      // After a pause the same attempt executes; without one, the next attempt.
      case .executing: if later == place + 1 { return .backingOff }
      case .waiting, .forSlot, .forPool, .forPerson, .forCluster, .backingOff, .succeeded, .failed, .cancelled,
        .skipped:
        return phases[later].kind
      }
    }
    return nil
  }

  /// Units of progress per second over the last few seconds; nil in the first second of the reports, and unless the job
  /// executes.
  ///
  /// The rate falls to zero while a report is overdue.
  package func rate(at now: Duration) -> Double? {
    guard state == .executing, let rate = details.value.rate, let sample = rateSample else { return nil }
    let silence = (now - sample.time) / max(.seconds(2), sample.pause)
    return rate * min(1, max(0, (3 - silence) / 2))
  }

  /// The time left at the current rate; nil while the rate is zero or unknown, or the total is unknown.
  package func remaining(at now: Duration) -> Duration? {
    guard let rate = rate(at: now), rate > 0, let progress, let total = progress.total else { return nil }
    return Duration(clamping: max(0, Double(total) - Double(progress.done)) / rate)
  }

  struct RateSample: Equatable {
    var time: Duration
    var done: Int64
    /// The time since the sample before or, if it is longer, half of that one's pause: jobs report irregularly.
    ///
    /// Before there is a rate, the time since the first report.
    var pause: Duration = .zero
  }
}

extension JobRecord {
  /// The program of the newest attempt runs; without effect before the first.
  mutating func launch(_ pid: Int32) {
    if !attempts.isEmpty { attempts[attempts.count - 1].pid = pid }
  }

  mutating func move(to state: JobState, attempt number: Int, pid: Int32?, at time: Duration) {
    let time = begin(of: state, attempt: number, seenAt: time)
    if self.state == .paused(started: true), !attempts.isEmpty {
      attempts[attempts.count - 1].pausedFor += time - since
    }
    if case .executing = state, attempts.last?.number != number || attempts.last?.endedAt != nil {
      // The cluster has executed the attempt before, and begins again.
      if attempts.last?.number == number { attempts.removeLast() }
      attempts.append(Attempt(number: number, startedAt: time, pid: pid))
      if attempts.count > Self.attemptLimit { attempts.remove(at: 1) }
      if details.value.hasProgress { details.value.forgetProgress() }
    } else if !attempts.isEmpty, self.state.isActive, !state.isActive {
      attempts[attempts.count - 1].endedAt = time
      if place?.took != nil { details.value.place?.took = nil }
      switch state {
      case .failed(let failure, _), .backingOff(_, _, _, let failure): attempts[attempts.count - 1].failure = failure
      case .cancelled: attempts[attempts.count - 1].stop = .cancelled
      case .waiting, .ready: attempts[attempts.count - 1].stop = .restarted
      default: break
      }
    }
    if let pid { launch(pid) }
    // The rate is not sampled over time spent not executing.
    if self.state != .executing, details.value.rateSample != nil { details.value.forgetRate() }
    if place != nil, leavesPlace(for: state) { details.value.isPlaceOver = true }
    if !state.isActive, cancelling != nil { details.value.cancelling = nil }
    // The first phase is recorded when it ends, so that the many waiting jobs of a large run allocate nothing.
    if phases.count == 0 { phases.begin(Phase.Kind(self.state), at: since) }
    if phases.last?.kind != Phase.Kind(state) || state.isTerminal { phases.begin(Phase.Kind(state), at: time) }
    if !state.isTerminal, restored != nil { details.value.restored = nil }
    self.state = state
    since = time
  }

  /// Whether the next attempt is another submission than the one that `place` is of; a job that the cluster requeues keeps
  /// its own.
  private func leavesPlace(for new: JobState) -> Bool {
    switch new {
    case .waiting: return true
    case .ready, .paused(started: false): break
    case .executing, .serving, .paused(started: true), .backingOff, .succeeded, .failed, .cancelled, .skipped:
      return false
    }
    if case .backingOff = state { return true }
    return state.isTerminal || cancelling != nil
  }

  /// Notes where it is in the cluster; with the time that an attempt has taken it may have begun before that was seen.
  mutating func put(in place: ClusterPlace, at time: Duration) {
    (details.value.place, details.value.isPlaceOver) = (place, false)
    guard let took = place.tookHere, state.isActive, let attempt, time - attempt.startedAt < took,
      let start = phases.beginAttempt(at: time - took)
    else { return }
    attempts[attempts.count - 1].startedAt = start
    if since == attempt.startedAt { since = start }
  }

  /// When a state seen at `time` began: a cluster job begins and ends earlier, by its node's clock.
  private func begin(of state: JobState, attempt number: Int, seenAt time: Duration) -> Duration {
    guard let took = place?.tookHere else { return time }
    let earliest = phases.last?.start ?? since
    if case .executing = state, attempts.last?.number != number { return max(earliest, time - took) }
    guard self.state.isActive, !state.isActive, let attempt else { return time }
    return max(earliest, min(time, attempt.startedAt + took))
  }

  mutating func report(_ progress: JobProgress, at time: Duration) { details.value.report(progress, at: time) }
}

extension JobRecord.Details {
  /// Whether the newest attempt has reported progress.
  fileprivate var hasProgress: Bool { progress != nil || rate != nil || rates.begun != nil }

  fileprivate mutating func forgetProgress() {
    progress = nil
    forgetRate()
    rates.clear()
  }

  fileprivate mutating func forgetRate() { (rate, rateSample) = (nil, nil) }

  mutating func report(_ progress: JobProgress, at time: Duration) {
    if progress.isUnknown, self.progress?.total != nil {
      forgetProgress()
      return
    }
    self.progress = progress
    rates.report(progress.done, at: time)
    guard let sample = rateSample else {
      rateSample = JobRecord.RateSample(time: time, done: progress.done)
      return
    }
    let seconds = (time - sample.time) / .seconds(1)
    guard seconds >= 0.05 else { return }
    if rate == nil {
      let elapsed = time - sample.time + sample.pause
      // A buffer or a cache delivers the first bytes at once.
      if elapsed < .milliseconds(500) {
        rateSample = JobRecord.RateSample(time: time, done: progress.done, pause: elapsed)
      }
      guard elapsed >= .seconds(1) else { return }
    }
    let now = max(0, Double(progress.done) - Double(sample.done)) / seconds
    // Old samples fade with a half-life of about two seconds, at any frequency of reports.
    let weight = 1 - 1 / (1 + seconds / 2)
    rate = rate.map { $0 + (now - $0) * weight } ?? now
    let pause = max(time - sample.time, .nanoseconds(sample.pause.nanoseconds / 2))
    rateSample = JobRecord.RateSample(time: time, done: progress.done, pause: pause)
  }
}
