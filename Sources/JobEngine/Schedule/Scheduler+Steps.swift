import JobModel

/// Cluster jobs that are steps of one allocation, which is requested when the first of them is ready.
extension Scheduler {
  // MARK: Inputs

  /// Notes the reason of the cluster's scheduler for the wait of the requested allocation.
  package mutating func allocationWaits(reason: String?) {
    guard steps?.stand == .requested, steps?.reason != reason else { return }
    steps?.reason = reason
    stateReason()
  }

  /// Notes the nodes of the requested allocation.
  package mutating func allocationHeld(_ nodes: [NodeAllocator.Node]) {
    guard steps?.stand == .requested else { return }
    steps?.hold(nodes)
    admit()
    stateReason()
  }

  /// Notes that the allocation may have ended, or that it has not.
  package mutating func allocationInDoubt(_ isInDoubt: Bool) {
    steps?.setInDoubt(isInDoubt)
    admit()
  }

  /// Handles an allocation that could not be obtained or has ended by itself; attempts in it end by themselves.
  ///
  /// The jobs that wait for it get another one, or fail if no step was admitted to this one.
  package mutating func allocationEnded(_ failure: JobFailure) {
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

  /// Removes the first cluster job that may be admitted now.
  mutating func popClusterJob() -> ReadyJob? {
    guard steps != nil else {
      return admittedToCluster < options.clusterJobs ? readyClusterJobs.pop() : nil
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
      // The jobs behind it wait too; otherwise a job that needs much would never start.
      return steps?.fits(need) == true ? readyClusterJobs.pop() : nil
    }
    return nil
  }

  private func need(of id: JobID) -> NodeAllocator.Request { .init(graph[id].cluster ?? ClusterRequest()) }

  /// Whether the job is not a step, or is a step that has room.
  func hasNode(_ id: JobID) -> Bool {
    guard let steps, graph[id].cluster != nil else { return true }
    return steps.fits(need(of: id))
  }

  /// Takes the room of a step; returns the name of its node.
  mutating func takeNode(_ id: JobID) -> String? {
    guard graph[id].cluster != nil else { return nil }
    let need = need(of: id)
    return steps?.take(need, for: id)
  }

  /// Requests the release of the allocation once no cluster job is left.
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
