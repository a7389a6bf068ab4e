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
        tell: { [weak self] event in self?.enter { $0.take(event) } })
    self.allocation = allocation
    allocation.request()
  }

  private func take(_ event: RunAllocation.Event) {
    switch event {
    case .waits(let reason): scheduler.allocationWaits(reason: reason)
    case .held(let nodes): scheduler.allocationHeld(nodes)
    case .ended(let failure): scheduler.allocationEnded(failure)
    case .released: break
    }
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
      self?.enter(attempt) {
        if failure == nil, step.allocation == allocation.id { $0.scheduler.allocationInDoubt(false) }
        attempt.ending = failure.map(AttemptOutcome.failed) ?? AttemptOutcome(of: attempt.operation)
        $0.finished(attempt)
      }
    }
  }
}
