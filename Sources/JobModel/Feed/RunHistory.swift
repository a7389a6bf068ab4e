import Basics

/// The run as it stood at any past instant, folded from the nearest of a few snapshots.
///
/// Keeps the events and at most `snapshotLimit` runs, which share unchanged storage.
package struct RunHistory: Sendable {
  /// All events so far, in order.
  package private(set) var events: [JobEvent] = []
  /// The run as of the newest event that is folded: none before the first call of `run(at:)`.
  private var newest: Run
  /// In the order of their numbers of events.
  private var snapshots: [Run] = []
  /// The run that was asked for last: the next one is mostly near.
  private var last: Run?
  /// How many events are folded at most, as long as there is room for more snapshots.
  private var interval = 16_384
  private static let snapshotLimit = 24
  /// How many events per job are folded in about the time that copying the jobs twice takes.
  ///
  /// The first event after a snapshot copies them all, and each copy takes their memory.
  private static let eventsForCopy = 4

  /// `logCapacity` is how many lines of each job's output a run has.
  package init(_ events: [JobEvent] = [], logCapacity: Int = LogRing.capacity) {
    newest = Run(logCapacity: logCapacity)
    snapshots = [newest]
    append(contentsOf: events)
  }

  /// The instant of the newest event.
  package var end: Duration { events.last?.time ?? .zero }

  package mutating func append(contentsOf more: some Sequence<JobEvent>) { events += more }

  private mutating func fold() {
    for event in events[newest.nextSeq...] {
      newest.apply(event)
      let distance = max(interval, Self.eventsForCopy * newest.jobs.count)
      if newest.nextSeq - (snapshots.last?.nextSeq ?? 0) >= distance { takeSnapshot() }
    }
  }

  private mutating func takeSnapshot() {
    snapshots.append(newest)
    guard snapshots.count > Self.snapshotLimit else { return }
    // Every other one stays, the first among them, and from now on they are twice as far apart.
    snapshots = stride(from: 0, to: snapshots.count, by: 2).map { snapshots[$0] }
    interval *= 2
  }

  /// The run after the last event up to `time`, or after its opening events.
  package mutating func run(at time: Duration) -> Run {
    fold()
    let count = events.partitioningIndex { $0.time > max(time, .zero) }
    if count == events.count { return newest }
    let place = snapshots.lastIndex { $0.nextSeq <= count } ?? 0
    // Taken out, so that folding copies no more than it must.
    var run = last.take() ?? snapshots[place]
    if run.nextSeq > count || run.nextSeq < snapshots[place].nextSeq { run = snapshots[place] }
    for event in events[run.nextSeq..<count] { run.apply(event) }
    last = run
    return run
  }
}

/// The past instants of a run.
package protocol RunPast: AnyObject, Sendable {
  /// Takes the next events of a run in progress, so that they need not be read.
  func note(_ events: [JobEvent])
  /// Calls `receive` on the main queue with the run as it was at `time`; nil where its record can't be read.
  func find(_ time: Duration, _ receive: @escaping @MainActor @Sendable (Run?) -> Void)
}
