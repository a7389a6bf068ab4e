import JobModel

/// What a fact says, in a line of its own.
struct EventWording: Equatable {
  /// The job that it is about; nil for the run.
  var job: JobID?
  var text: String
  /// The letter and colour that it has; nil for what is not a state.
  var state: StateClass?

  init(_ fact: JobFact, _ run: Run) {
    switch fact {
    case .runStarted(let start):
      text = "the run starts: \(Format.count(start.jobs, "job")), \(Self.slots(start.slots))"
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
      text = (isKill ? "kill" : "cancel") + " asked for " + Wording.by(canceller)
    case .slotsChanged(let slots):
      text = Self.slots(slots) + " from now on"
    case .priorityChanged(let id, let priority):
      job = id
      text = "priority \(priority.rawValue)"
    case .drainChanged(let isDraining):
      text = isDraining ? "draining: nothing new starts" : "jobs start again"
    case .stopRequested(let level, let canceller):
      text = (level == .kill ? "everything is killed " : "the run is stopped ") + Wording.by(canceller)
    case .runFinished(let summary):
      text = "the run is over: \(summary.succeeded) ok, \(summary.failed) failed"
    }
  }

  private static func slots(_ slots: Int) -> String {
    "\(Run.slotsText(slots)) \(slots == 1 ? "slot" : "slots")"
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
    case .cancelled(let canceller): return "cancelled \(Wording.by(canceller))"
    case .skipped(let cause): return "skipped because of \(run.jobs[cause.index].job.name)"
    }
  }
}
