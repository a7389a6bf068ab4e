import JobModel

/// The time until the run ends, from the rates of its jobs, their usual times and the times of ended ones.
struct Estimate: Equatable {
  var left: TimeEstimate

  /// With more jobs, the estimate is computed once a second instead of for every frame.
  static let frequentLimit = 500
  /// With more jobs, slots and pools are not simulated: the work that is left is divided by the slots.
  static let simulationLimit = 5000

  /// Nil if nothing is known about the time of a job that has not ended, and if only services have not.
  init?(
    _ run: Run, _ index: JobIndex, _ graph: Forecast.Graph? = nil, now: Duration,
    simulatingUpTo limit: Int = simulationLimit
  ) {
    guard !run.isComplete, !run.isDraining, run.stopping == nil, run.slots > 0, run.counts.active > 0 else {
      return nil
    }
    // They end because of the other jobs, or when a person ends the run.
    guard index.open.contains(where: { run.jobs[$0.index].job.service == nil }) else { return nil }
    let times = ExpectedTimes(index)
    guard !index.kinds.values.contains(where: { $0.pending > 0 && $0.mean == nil }) else { return nil }
    // Without a local copy of the record, which would retain all of its storage, for thousands of jobs.
    for id in index.open where index.classes[id.index] == .executing {
      guard run.jobs[id.index].remaining(at: now) != nil || times.of(id, in: run, at: now) != nil else {
        return nil
      }
    }
    let left =
      run.jobs.count <= limit
      ? Self.simulated(run, graph ?? Forecast.Graph(run), times, now: now) : Self.divided(run, index, times, now: now)
    guard left.latest > .zero else { return nil }
    self.left = left
  }

  private static func simulated(
    _ run: Run, _ graph: Forecast.Graph, _ times: ExpectedTimes, now: Duration
  ) -> TimeEstimate {
    func end(_ time: KeyPath<TimeEstimate, Duration>) -> Duration {
      Forecast(run, graph, now: now) { times.of($0, in: run, at: now)?[keyPath: time] }
        .schedule(slots: run.slots).end
    }
    let soonest = end(\.soonest)
    return TimeEstimate(soonest: soonest - now, latest: (times.hasHistory ? end(\.latest) : soonest) - now)
  }

  private static func divided(_ run: Run, _ index: JobIndex, _ times: ExpectedTimes, now: Duration) -> TimeEstimate {
    var work = TimeEstimate(soonest: .zero, latest: .zero)
    var longest = work
    func add(_ part: TimeEstimate, _ each: TimeEstimate) {
      work = TimeEstimate(soonest: work.soonest + part.soonest, latest: work.latest + part.latest)
      longest = TimeEstimate(
        soonest: max(longest.soonest, each.soonest), latest: max(longest.latest, each.latest))
    }
    for id in index.open where index.classes[id.index] == .executing {
      let elapsed = run.jobs[id.index].elapsed(at: now) ?? .zero
      let left =
        run.jobs[id.index].remaining(at: now).map { TimeEstimate(soonest: $0, latest: $0) }
        ?? times.of(id, in: run, at: now)
        .map { TimeEstimate(soonest: $0.soonest - elapsed, latest: $0.latest - elapsed) }
      if let left { add(left, left) }
    }
    for kind in index.kinds.values where kind.pending > 0 {
      let mean = kind.mean ?? .zero
      let rest = mean * (kind.pending - kind.pendingKnown)
      add(
        TimeEstimate(soonest: kind.pendingExpected.soonest + rest, latest: kind.pendingExpected.latest + rest),
        TimeEstimate(soonest: mean, latest: mean))
    }
    return TimeEstimate(
      soonest: max(longest.soonest, work.soonest / run.slots), latest: max(longest.latest, work.latest / run.slots))
  }
}
