import JobModel
import Slurm

/// Cluster jobs that are steps of one allocation, which is asked for when the first of them is ready.
extension Scheduler {
  // MARK: Inputs

  /// The allocation that was asked for waits for the reason that the cluster's scheduler gives.
  mutating func allocationWaits(reason: String?) {
    guard steps?.stand == .requested, steps?.reason != reason else { return }
    steps?.reason = reason
    stateReason()
  }

  /// The allocation that was asked for has these nodes.
  mutating func allocationHeld(_ nodes: [AllocatedNode]) {
    guard steps?.stand == .requested else { return }
    steps?.hold(nodes)
    admit()
    stateReason()
  }

  /// The allocation has perhaps ended, or has not.
  mutating func allocationInDoubt(_ isInDoubt: Bool) {
    steps?.setInDoubt(isInDoubt)
    admit()
  }

  /// The allocation was not to be had, or has ended by itself; attempts in it end by themselves.
  ///
  /// The jobs that wait for it get another one, unless this one was of no use to any.
  mutating func allocationEnded(_ failure: JobFailure) {
    guard let room = steps, room.stand != .absent else { return }
    steps?.end()
    if !room.hasServed {
      // The failure policy may end the others with the first.
      for id in waitingForAllocation where !state(id).isTerminal { fail(id, failure) }
    }
    admit()
    stateReason()
  }

  // MARK: Moves

  /// Takes the first cluster job that may be admitted now.
  mutating func popClusterJob() -> ReadyJob? {
    guard steps != nil else {
      return admittedToCluster < terms.clusterJobs ? readyClusterJobs.pop() : nil
    }
    while let entry = readyClusterJobs.first {
      guard isCurrent(entry), case .ready(let room) = state(entry.job), room != .person, !isClosed(to: entry.job) else {
        _ = readyClusterJobs.pop()
        continue
      }
      if steps?.stand == .absent {
        steps?.request()
        actions.append(.requestAllocation)
      }
      guard steps?.stand == .held else { return nil }
      let need = need(of: entry.job)
      if let fault = steps?.fault(need) {
        _ = readyClusterJobs.pop()
        fail(entry.job, fault)
        continue
      }
      // The jobs behind it wait too, or a job that needs much would never start.
      return steps?.fits(need) == true ? readyClusterJobs.pop() : nil
    }
    return nil
  }

  private func need(of id: JobID) -> StepRoom.Need { StepRoom.Need(graph[id].cluster ?? ClusterTerms()) }

  /// Whether the job is not a step, or one that has room.
  func hasStepRoom(_ id: JobID) -> Bool {
    guard let steps, graph[id].cluster != nil else { return true }
    return steps.fits(need(of: id))
  }

  /// Takes the room of a step; the name of its node.
  mutating func takeStepRoom(_ id: JobID) -> String? {
    guard graph[id].cluster != nil else { return nil }
    let need = need(of: id)
    return steps?.take(need, for: id)
  }

  /// Has the allocation released once no cluster job is left.
  mutating func releaseAllocationIfUnneeded() {
    guard let room = steps, room.stand != .absent, admittedToCluster == 0 else { return }
    if let keeper = room.keeper, !state(keeper).isTerminal { return }
    let keeper = nodes.indices.first { graph.jobs[$0].cluster != nil && !state(JobID($0)).isTerminal }
    steps?.keeper = keeper.map { JobID($0) }
    guard keeper == nil else { return }
    steps?.end()
    actions.append(.releaseAllocation)
  }

  private var waitingForAllocation: [JobID] {
    nodes.indices.map { JobID($0) }.filter { id in
      if case .ready(.cluster) = state(id) { nodes[id.index].ticket == nil } else { false }
    }
  }

  private mutating func stateReason() {
    for id in waitingForAllocation { set(id, .ready(for: room(for: id))) }
  }
}
