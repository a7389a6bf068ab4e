import JobModel
import Screen

/// The reaction to signals: the first stops the run, a second Ctrl-C kills the jobs, a third exits.
///
/// Repeated SIGTERM and SIGHUP don't kill: a supervisor may send both, or one to each process of a group.
package struct StopSequence: Equatable {
  package enum Cause: Equatable {
    case interrupt
    case terminate
    case hangup
    /// The reader of standard output is gone.
    case outputClosed

    /// Whether a signal may have come, so that the program ends by it; a closed output shows only in the status.
    var isSignal: Bool { self != .outputClosed }

    /// The signal of the exit status.
    var signal: Int32 {
      switch self {
      case .interrupt: 2
      case .terminate: 15
      case .hangup: 1
      case .outputClosed: 13
      }
    }
  }

  package enum Action: Equatable {
    case send(JobCommand)
    /// Print which jobs still execute, and the effect of the next Ctrl-C.
    case announce(StopLevel)
    /// Exit at once.
    case leave(status: Int32)
  }

  /// Whether the run is another program's: a signal ends this program only.
  private let leavesRun: Bool
  /// Whether the run is over and is played on the screen: a signal leaves it as it is.
  private let leavesReplay: Bool
  /// The first cause; nil before it.
  package private(set) var cause: Cause?
  private var level: StopLevel?

  package var signal: Int32? { cause?.signal }

  package init(leavesRun: Bool = false, leavesReplay: Bool = false) {
    self.leavesRun = leavesRun
    self.leavesReplay = leavesReplay
  }

  package mutating func receive(_ cause: Cause) -> [Action] {
    if leavesRun || leavesReplay {
      self.cause = self.cause ?? cause
      if leavesReplay { return [.leave(status: ExitStatus.signal(cause.signal))] }
      // A person who presses Ctrl-C leaves, as with the key that quits.
      return [.leave(status: cause == .interrupt ? ExitStatus.success : ExitStatus.signal(cause.signal))]
    }
    guard let level, let first = self.cause else {
      self.cause = cause
      level = .terminate
      return [.send(.stop(.terminate, by: .signal)), .announce(.terminate)]
    }
    // The run may wait for the user, who is gone.
    guard cause == .interrupt else { return [.send(.stop(level, by: .signal))] }
    switch level {
    case .terminate:
      self.level = .kill
      return [.send(.stop(.kill, by: .signal)), .announce(.kill)]
    case .kill: return [.leave(status: ExitStatus.signal(first.signal))]
    }
  }
}

/// The line that answers a signal without a dashboard.
package enum StopText {
  package static let named = 5

  /// The line at the end of a run that has left jobs in the cluster; nil if it has left none.
  static func left(_ run: Run) -> TerminalText? {
    let left = run.jobs.compactMap { record in record.clusterJob.map { (name: record.job.name, id: $0) } }
    guard !left.isEmpty else { return nil }
    // Steps have the number of their allocation.
    var ids: [String] = []
    for job in left where ids.last != job.id { ids.append(job.id) }
    let (names, numbers) = (left.map(\.name).joined(most: named), ids.joined(separator: " "))
    return "opdash: the cluster may still have \(JobText.clean(names)); to end that: scancel \(JobText.clean(numbers))"
  }

  package static func line(_ level: StopLevel, _ run: Run) -> TerminalText {
    let running = run.ids.filter { run[$0].state.isActive || run[$0].state.isWithCluster }
    let isWithCluster = running.contains { run[$0].job.cluster != nil }
    guard !running.isEmpty else { return "opdash: stopping" }
    var names = running.prefix(named).map { JobText.clean(run[$0].job.name) }
    if running.count > names.count { names.append("\(running.count - names.count) more") }
    let list = names.joined(separator: ", ")
    switch level {
    case .terminate: return "opdash: stopping; still running: \(list). Ctrl-C again kills."
    case .kill:
      let rest: TerminalText = isWithCluster ? ", and what the cluster still has goes on there" : ""
      return "opdash: killing \(list). Ctrl-C again leaves at once\(rest)."
    }
  }
}
