import JobModel

extension Scheduler {
  /// Once all other jobs have ended, starts the `finally` jobs whose condition matches their outcome.
  mutating func beginFinalJobsIfDue() {
    if ending.openOrdinary == 0, !run.isOpen { for id in ending.services { retire(id) } }
    guard !ending.haveBegun, ending.open == 0, !ending.jobs.isEmpty, !run.isOpen else { return }
    ending.haveBegun = true
    let open = ending.jobs.filter { state($0) == .waiting || state($0) == .paused(started: false) }
    if run.stopping?.level == .kill { return end(open, .cancelled(by: run.stopping?.by ?? .policy)) }
    let outcomes = outcomes
    end(open.filter { !outcomes.contains(graph[$0].finally ?? .always) }, .skipped(because: .outcome))
    for id in open where state(id) == .waiting { reconsider(id) }
  }

  /// The conditions of `finally` jobs that match the ends of all other jobs.
  private var outcomes: Set<FinalCondition> {
    var (hasFailed, isOK) = (false, !options.leavesWork)
    for index in nodes.indices where graph.jobs[index].finally == nil {
      switch state(JobID(index)) {
      case .failed(_, allowed: false): hasFailed = true
      case .cancelled: isOK = false
      default: break
      }
    }
    return hasFailed ? [.failed, .always] : isOK ? [.ok, .always] : [.always]
  }

  /// Makes the jobs of `finally` wait again after another job is reopened; an executing one continues.
  mutating func resetFinalJobs() {
    guard ending.haveBegun else { return }
    ending.haveBegun = false
    for id in ending.jobs where !state(id).isActive {
      if let ticket = nodes[id.index].ticket {
        withdraw(id, ticket)
      } else {
        nodes[id.index].retries = 0
        set(id, .waiting)
      }
    }
  }
}
