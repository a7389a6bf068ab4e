import JobModel
import Processes
import Slurm

/// Cluster jobs that are steps of one allocation; on the stream's queue.
extension JobQueue {
  func requestAllocation() {
    let allocation =
      allocation
      ?? RunAllocation(
        allocationTerms, in: surroundingAllocation, run: id, runner: slurm, clock: stream.clock, queue: stream.queue,
        observer: { [unowned self] in observer(of: id, in: launching.clusterFolder) },
        tell: { [weak self] event in self?.take(event) })
    self.allocation = allocation
    allocation.request()
  }

  private func take(_ event: RunAllocation.Event) {
    guard !stream.isOver else { return }
    stream.dateByClock()
    switch event {
    case .waits(let reason): scheduler.allocationWaits(reason: reason)
    case .held(let nodes): scheduler.allocationHeld(nodes)
    case .ended(let failure): scheduler.allocationEnded(failure)
    case .released: break
    }
    perform()
  }

  /// Turns the program of an attempt that was given a node into a step; nil for any other attempt.
  func makeStep(of program: inout ProcessLaunch, _ work: ShellWork, _ admission: Admission) -> RunAllocation.Step? {
    guard let terms = work.cluster, let node = admission.node, let allocation else { return nil }
    let (launch, step) = allocation.step(program, terms, ticket: admission.ticket, node: node)
    program = launch
    return step
  }

  /// Ends an attempt once it is known whether and how its allocation has ended; no step begins until then.
  func askForEnd(of attempt: Attempt) {
    guard let step = attempt.step, let allocation else { return }
    // Another allocation may already be held.
    if step.allocation == allocation.id { scheduler.allocationInDoubt(true) }
    allocation.explain(step.allocation) { [weak self] failure in
      guard let self, !attempt.isOver, !stream.isOver else { return }
      stream.dateByClock()
      if failure == nil, step.allocation == allocation.id { scheduler.allocationInDoubt(false) }
      attempt.ending = failure.map(AttemptOutcome.failed) ?? AttemptOutcome(of: attempt.operation)
      finished(attempt)
    }
    perform()
  }
}
