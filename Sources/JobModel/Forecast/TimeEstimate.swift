/// An estimate of how long a job takes, or of the time until a job or a run ends.
package struct TimeEstimate: Sendable, Equatable {
  /// With usual times.
  package var soonest: Duration
  /// With the times that nine of ten runs keep.
  package var latest: Duration

  package init(soonest: Duration, latest: Duration) {
    self.soonest = max(.zero, soonest)
    self.latest = max(self.soonest, latest)
  }

  package var middle: Duration { (soonest + latest) / 2 }

  /// Whether both ends say the same to a reader.
  package var isNarrow: Bool { latest - soonest <= max(.seconds(1), latest / 20) }
}

extension Job {
  /// The declared time of simulated work, else the usual time.
  package var expectedTime: TimeEstimate? { work.declaredTime ?? usual?.estimate }
}

extension JobWork {
  /// How long simulated work takes; nil for other work.
  package var declaredTime: TimeEstimate? {
    guard case .simulate(let work) = self else { return nil }
    return TimeEstimate(soonest: work.duration, latest: work.duration)
  }
}

extension UsualTime {
  package var estimate: TimeEstimate { TimeEstimate(soonest: median, latest: ninetieth) }
}

extension JobRecord {
  /// The usual time of the job, unless the attempt in progress or the success shows that it holds no longer.
  package func usual(at now: Duration) -> UsualTime? {
    guard let usual = job.usual else { return nil }
    guard isTimed, let elapsed = elapsed(at: now), elapsed > usual.ninetieth else { return usual }
    return UsualTime.isOff(elapsed, from: usual.ninetieth) ? nil : usual
  }

  /// Whether the newest attempt's time is comparable with the times of successes.
  private var isTimed: Bool { state.isActive || state == .succeeded(upToDate: false) }

  /// The executed part of the job's usual time, below 1; nil once the attempt takes longer than nine of ten runs.
  package func usualShare(at now: Duration) -> Double? {
    guard state.isActive, let usual = usual(at: now), usual.median > .zero, let elapsed = elapsed(at: now),
      elapsed <= usual.ninetieth
    else { return nil }
    return min(0.99, elapsed / usual.median)
  }

  /// The time left at the current rate, or from the usual time; nil where neither tells it.
  package func timeLeft(at now: Duration) -> TimeEstimate? {
    if let measured = remaining(at: now) { return TimeEstimate(soonest: measured, latest: measured) }
    guard state == .executing, let usual = usual(at: now), let elapsed = elapsed(at: now), elapsed < usual.ninetieth
    else { return nil }
    return TimeEstimate(soonest: usual.median - elapsed, latest: usual.ninetieth - elapsed)
  }

  /// How much longer than usual the attempt in progress or the last success took, as a share of the median.
  ///
  /// Nil unless it took longer than nine of ten runs, and a second and a tenth longer than the median.
  package func excess(at now: Duration) -> Double? {
    guard isTimed, let usual = usual(at: now), usual.median > .zero,
      let elapsed = elapsed(at: now), elapsed > usual.ninetieth,
      elapsed - usual.median >= max(.seconds(1), usual.median / 10)
    else { return nil }
    return elapsed / usual.median - 1
  }
}
