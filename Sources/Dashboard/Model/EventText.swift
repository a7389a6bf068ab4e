import JobModel

/// An event as a line of text.
struct EventText: Equatable {
  /// The job of the event; nil for an event of the run itself.
  var job: JobID?
  var text: String
  /// The state whose letter and colour the line has; nil for an event that is not a change of state.
  var state: StateClass?

  init(_ fact: JobFact, _ run: Run) {
    switch fact {
    case .runStarted(let start):
      text = "the run starts: \(Format.count(start.jobs, "job")), \(Format.slots(start.slots))"
    case .jobAdded(let id, _):
      job = id
      text = "added to the run"
    case .jobState(let id, let state, let attempt, let pid):
      job = id
      self.state = StateClass(state)
      text = Self.text(state, attempt, pid, run)
    case .jobProgress(let id, _):
      job = id
      text = "progress"
    case .jobLog(let id, _, let line):
      job = id
      text = line.text
    case .cancelRequested(let id, let canceller, let isKill):
      job = id
      text = (isKill ? "kill" : "cancel") + " asked for " + canceller.phrase
    case .slotsChanged(let slots):
      text = Format.slots(slots) + " from now on"
    case .priorityChanged(let id, let priority):
      job = id
      text = "priority \(priority.rawValue)"
    case .drainChanged(let isDraining):
      text = isDraining ? "draining: nothing new starts" : "jobs start again"
    case .stopRequested(let level, let canceller):
      text = (level == .kill ? "everything is killed " : "the run is stopped ") + canceller.phrase
    case .runFinished(let summary):
      text = "the run is over: \(summary.succeeded) ok, \(summary.failed) failed"
    }
  }

  private static func text(_ state: JobState, _ attempt: Int, _ pid: Int32?, _ run: Run) -> String {
    switch state {
    case .waiting: return "waits for its needs"
    case .ready(.slot): return "ready, waits for a slot"
    case .ready(.pool(let name)): return "ready, waits for pool \(name)"
    case .executing:
      return "executes" + (attempt > 1 ? ", attempt \(attempt)" : "") + (pid.map { ", pid \($0)" } ?? "")
    case .paused(let started): return started ? "paused" : "held before its start"
    case .backingOff(_, let number, let limit, let failure):
      return "\(failure.reason), retry \(number) of \(limit)"
    case .succeeded(let upToDate): return upToDate ? "up to date" : "ok" + (attempt > 1 ? " at attempt \(attempt)" : "")
    case .failed(let failure, let allowed): return "failed: \(failure.reason)" + (allowed ? ", allowed to fail" : "")
    case .cancelled(let canceller): return "cancelled \(canceller.phrase)"
    case .skipped(let cause): return "skipped because of \(run.jobs[cause.index].job.name)"
    }
  }
}
