import JobModel

extension JobFact {
  /// The job's new state; nil for a fact that is not a change of state.
  var state: StateClass? {
    if case .jobState(_, let state, _, _) = self { StateClass(state) } else { nil }
  }

  /// The words for the job's new state in a filter.
  var stateNames: [String] {
    if case .jobState(_, let state, _, _) = self { StateClass(state).names(in: state) } else { [] }
  }

  var isWarning: Bool { if case .warningRaised = self { true } else { false } }

  /// Whether it asks for the end of the job's attempt.
  func isEnding(_ id: JobID) -> Bool { if case .cancelRequested(id, _, _) = self { true } else { false } }

  func text(in run: Run) -> String {
    switch self {
    case .runStarted(let start): "the run starts: \(Format.count(start.jobs, "job")), \(Format.slots(start.slots))"
    case .jobAdded: "added to the run"
    case .jobState(let id, .succeeded(upToDate: true), _, _) where run.jobs[id.index].restored != nil:
      "ok in an earlier run"
    case .jobState(let id, let state, let attempt, let pid): Self.text(id, state, attempt, pid, run)
    case .jobLaunched(_, let pid): "its program runs, pid \(pid)"
    case .jobRestored(_, let success): "done in run \(success.run)"
    case .jobCaused(_, _, let cause): cause
    case .inputsHashed: "inputs hashed"
    case .jobOutputs(_, let values):
      "wrote " + (values.isEmpty ? "no values" : values.keys.sorted().joined(separator: ", "))
    case .jobPlaced(_, let place): "cluster job \(place.id)" + (place.nodes.map { " on \($0)" } ?? "")
    case .jobProgress: "progress"
    case .jobLog(_, _, let line), .programLog(let line): line.text
    case .cancelRequested(_, by: .restart, _): "is ended, to be started again"
    case .cancelRequested(_, let canceller, let isKill):
      "\(isKill ? "kill" : "cancel") asked for \(canceller.attemptPhrase)"
    case .slotsChanged(let slots): Format.slots(slots)
    case .poolChanged(let name, let size): "pool \(name) has \(Format.count(size, "unit"))"
    case .clusterChanged(let fault):
      fault.map { "the cluster's controller is down: \($0)" } ?? "the cluster's controller answers again"
    case .arrivalsEnded: "no more jobs are added"
    case .priorityChanged(_, let priority): "priority \(priority.rawValue)"
    case .drainChanged(let isDraining): isDraining ? "nothing new starts" : "jobs start again"
    case .watchChanged(let isOn, let fault): fault ?? (isOn ? "inputs are watched" : "inputs are watched no longer")
    case .stopRequested(let level, let canceller):
      (level == .kill ? "everything is killed " : "the run is stopped ") + canceller.phrase
    case .warningRaised(let warning): "warning: \(warning.evidence); \(warning.advice)"
    case .warningCleared(let key): "no longer: \(key.kind.short)"
    case .runFinished(let summary): "the run has ended: \(summary.succeeded) ok, \(summary.failed) failed"
    }
  }

  private static func text(
    _ id: JobID, _ state: JobState, _ attempt: Int, _ pid: Int32?, _ run: Run
  ) -> String {
    let number = run[id].tryNumber(of: attempt)
    switch state {
    case .waiting: return "waits for its needs"
    case .ready, .paused(started: false): return state.wait ?? ""
    case .serving: return "serving"
    case .executing:
      return "running" + (number > 1 ? ", try \(number)" : "") + (pid.map { ", pid \($0)" } ?? "")
    case .paused(started: true): return "paused"
    case .backingOff(_, _, _, let failure): return "\(state.wait ?? ""), after \(failure.reason)"
    case .succeeded(let upToDate): return upToDate ? "up to date" : "ok" + Format.after(tries: number)
    case .failed(let failure, let allowed):
      return failure.reason + Format.after(tries: number) + (allowed ? ", allowed to fail" : "")
    case .cancelled(let canceller): return "cancelled \(canceller.phrase)"
    case .skipped(let cause): return "\(cause.word), \(cause.phrase(id, in: run))"
    }
  }
}
