import JobModel
import Screen

/// Writes the events of a run in one format.
package protocol Report: Sendable {
  /// Receives the next event; `run` includes it, and `before` is the previous state of the job whose state it changes.
  mutating func receive(_ event: JobEvent, before: JobState?, in run: Run)

  /// Called in the place of the run's end if the program leaves the run before; `run` is its last state.
  mutating func leave(_ run: Run)

  /// Writes the output for the events since the last call.
  mutating func flush()

  /// When the report wants to write without an event, on the run's clock; nil for never.
  func wakeTime(in run: Run) -> Duration?

  /// The newest lines of each job's output that the fold keeps for it.
  var logCapacity: Int { get }

  /// Called when the wake time has come.
  mutating func wake(at now: Duration, in run: Run)
}

extension Report {
  package mutating func leave(_ run: Run) {}
  package func wakeTime(in run: Run) -> Duration? { nil }
  package var logCapacity: Int { FailureList.tail }
  package mutating func wake(at now: Duration, in run: Run) {}
}

/// The reports of one run and the fold that they share.
package struct ReportSet: Sendable {
  /// The run of the events received so far, with the last lines of each log; nil without reports, which need no fold.
  package private(set) var run: Run?
  private var reports: [any Report]
  private let showsLogs: @Sendable () -> Bool

  /// `showsLogs` is called for each line of a log; if it returns false, the fold receives the line and the reports
  /// don't.
  package init(_ reports: [any Report], showsLogs: @escaping @Sendable () -> Bool = { true }) {
    self.reports = reports
    self.showsLogs = showsLogs
    run = reports.map(\.logCapacity).max().map { Run(logCapacity: $0) }
  }

  /// Passes the next events to the reports and has them write.
  package mutating func receive(_ events: some Sequence<JobEvent>) {
    // Taken out, so that folding never copies.
    guard var run = self.run.take() else { return }
    for event in events {
      var before: JobState?
      if case .jobState(let id, _, _, _) = event.fact { before = run[id].state }
      run.apply(event)
      if case .jobLog = event.fact, !showsLogs() { continue }
      for index in reports.indices { reports[index].receive(event, before: before, in: run) }
    }
    for index in reports.indices { reports[index].flush() }
    self.run = run
  }

  /// Has the reports write about a run that the program leaves before its end.
  package mutating func leave(_ run: Run) {
    for index in reports.indices {
      reports[index].leave(run)
      reports[index].flush()
    }
  }

  /// The first instant on the run's clock when a report asks to be woken.
  package var wakeTime: Duration? { run.flatMap { run in reports.lazy.compactMap { $0.wakeTime(in: run) }.min() } }

  /// Wakes the reports whose time has come.
  package mutating func wake(at now: Duration) {
    guard let run else { return }
    for index in reports.indices {
      guard let time = reports[index].wakeTime(in: run), time <= now else { continue }
      reports[index].wake(at: now, in: run)
      reports[index].flush()
    }
  }
}

extension JobRecord {
  /// When a change of state happened: an attempt of the cluster has begun and ended before that was seen.
  func change(to state: JobState, from before: JobState?, seenAt time: Duration) -> Duration {
    guard let attempt, before?.isActive != state.isActive else { return time }
    return (state.isActive ? attempt.startedAt : attempt.endedAt) ?? time
  }
}

/// Takes the bytes of a format that escapes its contents.
package typealias ReportWriter = @Sendable ([UInt8]) -> Void

extension Array {
  /// Writes the elements and removes them; without elements, nothing is written.
  mutating func flush(to write: ([Element]) -> Void) {
    guard !isEmpty else { return }
    write(self)
    removeAll(keepingCapacity: true)
  }
}

/// Takes lines for a person, who may see them on a terminal.
package typealias TextWriter = @Sendable (TerminalText) -> Void
