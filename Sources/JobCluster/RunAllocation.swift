import Dispatch
import Foundation
import JobEngine
import JobModel
import Operations
import Processes
import Slurm

/// The allocation whose steps are the cluster jobs of a run: the run's own, or the one that this program was started
/// in.
///
/// Confined to the engine's queue, on which it reports events.
final class RunAllocation: @unchecked Sendable {
  // Safe: only the engine's queue accesses the variables.

  enum Event {
    case waits(reason: String?)
    case held([AllocatedNode])
    case ended(JobFailure)
    /// The allocation has nothing left to release.
    case released
  }

  /// A step that was started, with the means to control it.
  struct Step {
    let allocation: SlurmJobID
    let node: String
    let name: String
    let stopSignal: String
    let grace: Duration
    /// The note in the job's log.
    let note: String?
    let control: StepControl
  }

  /// Nil where the allocation is not the run's own.
  private let resources: SlurmResources?
  private let surrounding: SlurmJobID?
  private let isInStep: Bool
  private let run: String
  private let runner: any SlurmRunner
  private let clock: any OperationClock
  private let queue: DispatchQueue
  private let control: StepControl
  private let observer: () -> SlurmObserver
  private let tell: (Event) -> Void
  /// The run's own allocation, until it has ended or is released.
  private var own: SlurmAllocation?
  private var observation: ObservationToken?
  /// How often an allocation of the run's own was requested.
  private var requests = 0
  /// The allocation of the steps that are started now.
  private(set) var id: SlurmJobID?
  private(set) var isReleasing = false
  private var ends: [SlurmJobID: JobFailure] = [:]
  private var questions: [SlurmJobID: [(JobFailure?) -> Void]] = [:]

  /// How often a controller that answers did not report the nodes.
  private var refusals = 0

  private static let mostRefusals = 30
  /// The time between two queries about an allocation.
  private static let interval = Duration.seconds(1)

  /// Creates the allocation; `tell` is called on `queue`.
  ///
  /// In a `surrounding` allocation, `clusterRequest` has no effect; `isInStep` is true if this program is in one of its
  /// steps. `observer` returns the observer of the run.
  init(
    _ clusterRequest: ClusterRequest?, in surrounding: SlurmJobID?, isInStep: Bool = SlurmAllocation.isInStep(),
    run: String, runner: any SlurmRunner, clock: any OperationClock, queue: DispatchQueue,
    observer: @escaping () -> SlurmObserver, tell: @escaping (Event) -> Void
  ) {
    resources = surrounding == nil ? clusterRequest : nil
    (self.surrounding, self.isInStep) = (surrounding, isInStep)
    (self.run, self.runner, self.clock, self.queue) = (run, runner, clock, queue)
    control = StepControl(runner: runner, clock: clock)
    self.observer = observer
    self.tell = tell
  }

  /// Requests the nodes; `held` or `ended` follows.
  func request() {
    if let surrounding {
      if let end = ends[surrounding] { return onQueue { $0.tell(.ended(end)) } }
      return askForNodes(of: surrounding)
    }
    guard let resources else { preconditionFailure("steps have an allocation") }
    let allocation = SlurmAllocation(resources, on: observer())
    own = allocation
    requests += 1
    observation = allocation.operation.events(.placed, on: queue) { [weak self, requests] event, _, _ in
      if case .placed(let status as SlurmStatus) = event { self?.moved(requests, to: status) }
    }
    allocation.operation.start()
  }

  private func onQueue(_ body: @escaping @Sendable (RunAllocation) -> Void) {
    queue.async { [weak self] in
      if let self { body(self) }
    }
  }

  private func moved(_ request: Int, to status: SlurmStatus) {
    // Ignores the status of an allocation that was released.
    guard own != nil, request == requests else { return }
    switch status {
    case .waiting, .submitted: tell(.waits(reason: nil))
    case .full(let sentence): tell(.waits(reason: sentence))
    // Its steps say nothing meanwhile.
    case .found, .suspended: break
    case .pending(_, let reason): tell(.waits(reason: reason?.description))
    case .running(let id, _): if self.id != id { askForNodes(of: id) }
    case .requeued(let id):
      // The steps have ended, and the next nodes may be others.
      guard let own else { return }
      self.own = nil
      own.release { _ = own }
      end(id, JobFailure(.preempted, "its allocation was requeued in Slurm"))
    case .ended(let outcome):
      own = nil
      let failure = Self.failure(of: outcome.end, id: outcome.id)
      if let id = outcome.id { return end(id, failure) }
      tell(.ended(failure))
    }
  }

  private func askForNodes(of id: SlurmJobID) {
    self.id = id
    SlurmAllocation.nodes(of: id, runner) { [weak self] nodes in
      self?.onQueue { $0.received(nodes, of: id) }
    }
  }

  private func received(_ nodes: [AllocatedNode]?, of id: SlurmJobID) {
    guard self.id == id, ends[id] == nil else { return }
    if let nodes {
      refusals = 0
      return tell(.held(nodes))
    }
    // The controller does not answer, or the job has ended or is being prepared.
    explain(id) { [weak self] failure in
      guard failure == nil, let self, self.id == id else { return }
      refusals += 1
      if refusals == Self.mostRefusals {
        return end(id, JobFailure(.launch, "scontrol does not say which nodes allocation \(id) has"))
      }
      _ = clock.schedule(after: Self.interval, on: queue) { [weak self] in
        if self?.id == id { self?.askForNodes(of: id) }
      }
    }
  }

  // MARK: Its end

  /// Calls `body` on the queue with the failure of a step whose allocation may have ended; with nil if the allocation
  /// has not ended.
  func explain(_ id: SlurmJobID, _ body: @escaping (JobFailure?) -> Void) {
    if let end = ends[id] { return body(end) }
    questions[id, default: []].append(body)
    if questions[id]?.count == 1 { ask(id) }
  }

  private func ask(_ id: SlurmJobID) {
    SlurmAllocation.standing(of: id, runner) { [weak self] standing in
      self?.onQueue { allocation in
        switch standing {
        case .held: allocation.answer(id, nil)
        case .ended(let end): allocation.end(id, Self.failure(of: end, id: id))
        case .unknown:
          _ = allocation.clock.schedule(after: Self.interval, on: allocation.queue) { [weak allocation] in
            if allocation?.questions[id] != nil { allocation?.ask(id) }
          }
        }
      }
    }
  }

  private func end(_ id: SlurmJobID, _ failure: JobFailure) {
    guard ends[id] == nil else { return }
    ends[id] = failure
    let isCurrent = self.id == id || own == nil
    // First, because another allocation may be requested at once.
    if self.id == id { (own, self.id) = (nil, nil) }
    if isCurrent { tell(.ended(failure)) }
    answer(id, failure)
  }

  private func answer(_ id: SlurmJobID, _ failure: JobFailure?) {
    for body in questions.removeValue(forKey: id) ?? [] { body(failure) }
  }

  /// Ends the run's own allocation; `released` follows.
  func release() {
    id = nil
    guard let own else { return }
    self.own = nil
    isReleasing = true
    own.release { [weak self] in
      // The allocation is kept until Slurm has accepted the release.
      _ = own
      self?.onQueue {
        $0.isReleasing = false
        $0.tell(.released)
      }
    }
  }

  private static func failure(of end: SlurmEnd, id: SlurmJobID?) -> JobFailure {
    switch end {
    case .timeLimit: JobFailure(.timeLimit, "time limit of the allocation")
    case .cancelled: JobFailure(.error, "its allocation was cancelled in Slurm")
    case .exited, .signalled, .outOfMemory: JobFailure(.error, "its allocation has ended")
    case .refused(let sentence): JobFailure(.launch, "Slurm refused the allocation: \(sentence)")
    case .notStarted(let reason): JobFailure(.launch, "Slurm did not start the allocation: \(reason)")
    case .nodeFailure, .preempted, .lost: JobFailure(of: SlurmFailure(end, id: id))
    }
  }

  // MARK: Steps

  /// The launch of an admitted job's program as a step.
  func step(_ launch: ProcessLaunch, _ clusterRequest: ClusterRequest, ticket: Int, node: String) -> (
    ProcessLaunch, Step
  ) {
    guard let id else { preconditionFailure("steps are admitted to an allocation that is held") }
    let name = "opdash/\(run)/\(ticket)"
    let own = SlurmStep(
      name: name, node: node, cpus: clusterRequest.cpus ?? 1,
      memory: clusterRequest.memory == 0 ? nil : clusterRequest.memory,
      gpus: clusterRequest.gpus ?? 0)
    // The step that this program is in has CPUs that no other step gets without overlapping.
    let overlaps = id == surrounding && isInStep
    var program = SlurmAllocation.step(launch, own, of: id, run: run, overlaps: overlaps)
    // The step's own signal is sent in another way; this one has no effect on srun and the shell around it.
    program.stopSignal = SIGCONT
    // Needed if Slurm does not answer.
    program.grace += StepControl.patience
    let step = Step(
      allocation: id, node: node, name: name, stopSignal: SignalName.short(launch.stopSignal), grace: launch.grace,
      note: Self.note(of: clusterRequest), control: control)
    return (program, step)
  }

  /// A note that lists the job's settings that have no effect in a step; nil if there are none.
  private static func note(of clusterRequest: ClusterRequest) -> String? {
    let without: [(String, Bool)] = [
      ("name", clusterRequest.name != nil), ("nodes", (clusterRequest.nodes ?? 1) > 1),
      ("time", clusterRequest.time != nil),
      ("partition", clusterRequest.partition != nil), ("account", clusterRequest.account != nil),
      ("qos", clusterRequest.qos != nil),
      ("constraint", clusterRequest.constraint != nil), ("options", !clusterRequest.options.isEmpty),
    ]
    let names = without.filter(\.1).map { "slurm.\($0.0)" }
    return names.isEmpty ? nil : "without effect for a step of an allocation: \(names.joined(separator: ", "))"
  }
}

extension RunAllocation.Step {
  /// Sends a signal to the step's processes, even if the step is still being started.
  func send(_ signal: String, of operation: ShellOperation) {
    control.send(signal, to: name, while: Self.executes(operation))
  }

  /// Sends the stop signal in the same way; SIGKILL follows after the grace.
  func stop(_ operation: ShellOperation) {
    control.stop(name, by: stopSignal, grace: grace, while: Self.executes(operation)) { [weak operation] in
      operation?.kill()
    }
  }

  private static func executes(_ operation: ShellOperation) -> @Sendable () -> Bool {
    { [weak operation] in operation.map { !$0.isFinished } ?? false }
  }
}
