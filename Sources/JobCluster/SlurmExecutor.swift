import Foundation
import JobEngine
import JobModel
import Operations
import Processes
import Slurm

/// The Slurm cluster of a run.
package struct RunCluster: Cluster {
  private let runner: any SlurmRunner
  /// The jobs that earlier runs may have left in the cluster; each is followed instead of starting a first attempt.
  private let earlier: [JobID: EarlierClusterJob]
  /// If there is one, cluster jobs are its steps and the run requests none.
  private let surrounding: SlurmJobID?

  package init(
    _ runner: any SlurmRunner = SystemSlurmRunner(), earlier: [JobID: EarlierClusterJob] = [:],
    surrounding: SlurmJobID? = SlurmAllocation.surrounding
  ) {
    self.runner = runner
    self.earlier = earlier
    self.surrounding = surrounding
  }

  package var hasSurroundingAllocation: Bool { surrounding != nil }

  package func executor(for run: any ClusterRun, allocation: ClusterRequest?) -> any ClusterExecutor {
    SlurmExecutor(run, allocation, runner, earlier, surrounding)
  }
}

/// Executes the cluster jobs of a run: as jobs of Slurm, or as steps of an allocation.
final class SlurmExecutor: ClusterExecutor, @unchecked Sendable {
  // Safe: only the engine's queue accesses the variables.
  private weak var run: (any ClusterRun)?
  private let id: String
  private let stream: FactStream
  private let programs: ProcessExecutor
  private let keepsFiles: Bool
  private let runner: any SlurmRunner
  /// The observers of this run and of each run that it resumes, by run ID, created for the first cluster job of the
  /// run.
  private var observers: [String: SlurmObserver] = [:]
  /// Attempts of earlier runs that no observer has reported a status for.
  private var earlier: [JobID: EarlierClusterJob]
  /// Whether Slurm was asked to end some of them and has not answered yet.
  private var isEndingEarlier = false
  private let allocationRequest: ClusterRequest?
  private let surrounding: SlurmJobID?
  /// Created when it is requested.
  private var allocation: RunAllocation?
  /// Whether the logs of the jobs that a stopped run may leave in the cluster say so.
  private var hasNotedLeftJobs = false
  /// How often each job was submitted to the cluster: an attempt that is cancelled before its start is submitted again.
  private var submissions: [JobID: Int] = [:]

  init(
    _ run: any ClusterRun, _ allocationRequest: ClusterRequest?, _ runner: any SlurmRunner,
    _ earlier: [JobID: EarlierClusterJob], _ surrounding: SlurmJobID?
  ) {
    self.run = run
    (id, stream, programs) = (run.id, run.stream, run.programs)
    keepsFiles = run.folder != nil
    (self.runner, self.earlier) = (runner, earlier)
    (self.allocationRequest, self.surrounding) = (allocationRequest, surrounding)
  }

  /// The folder of the files of this run's cluster jobs.
  private var folder: String { EarlierClusterJob.folder(inRun: programs.folder) }

  // MARK: Attempts

  func execution(of request: AttemptRequest) -> Execution {
    guard case .shell(let work) = request.job.work, let clusterRequest = work.cluster else {
      preconditionFailure("a cluster executes programs")
    }
    let (admission, name) = (request.admission, request.job.name)
    // A cluster job that an earlier run has left is followed, even if there is an allocation now.
    if let node = admission.node, earlier[admission.job] == nil, let allocation {
      var launch = programs.launch(work, of: admission, named: name)
      let step: RunAllocation.Step
      (launch.program, step) = allocation.step(launch.program, clusterRequest, ticket: admission.ticket, node: node)
      return execution(of: step, programs.execution(of: request, launch))
    }
    // Kept until the observer has the job: an attempt that is withdrawn earlier leaves it to the next one.
    let earlier = earlier[admission.job]
    let observer = observer(of: earlier?.run ?? id, in: earlier?.folder ?? folder)
    if earlier == nil { submissions[admission.job, default: 0] += 1 }
    let identity = observer.identity(job: name, attempt: earlier?.number ?? submissions[admission.job] ?? 1)
    let valuesPath = observer.files.valuesPath(of: identity)
    let job = SlurmJob(
      identity, name: name, work, clusterRequest, secrets: programs.secrets,
      environment: programs.variables(work, of: admission, named: name, valuesPath: valuesPath))
    let log = SlurmOperation.LogOptions(
      file: request.log.path.map { LogFile(path: $0, limit: request.log.limit) }, keepsShort: request.log.keepsShort,
      progress: work.progress, watches: request.watches, silence: work.silence)
    var execution = Execution(
      SlurmOperation(job, on: observer, mayExist: earlier != nil, check: request.check, log: log))
    // The attempt writes its values into the folder that the nodes share.
    (execution.valuesPath, execution.sharesValues, execution.startsLater) = (valuesPath, true, true)
    execution.additionPath = programs.additionPath(besides: valuesPath)
    return execution
  }

  private func execution(of step: RunAllocation.Step, _ program: Execution) -> Execution {
    var execution = program
    execution.place = ClusterPlace(id: step.allocation.description, nodes: step.node)
    execution.note = step.note
    if let operation = program.operation as? ShellOperation {
      execution.control = StepOperation(step: step, operation: operation)
    }
    return execution
  }

  func continues(_ job: JobID) -> Bool { earlier[job] != nil }

  func report(_ status: any OperationPlacement, of attempt: Attempt) -> ClusterReport? {
    guard let status = status as? SlurmStatus else { return nil }
    if status != .waiting { earlier[attempt.job] = nil }
    func place(_ id: SlurmJobID, nodes: String? = nil, took: Duration? = nil) -> ClusterPlace {
      ClusterPlace(id: id.description, nodes: nodes, took: took, before: nodes.flatMap { _ in attempt.place?.before })
    }
    switch status {
    case .waiting: return ClusterReport(.waits(reason: nil))
    case .full(let sentence): return ClusterReport(.waits(reason: sentence))
    case .submitted(let id): return ClusterReport(.waits(reason: nil), at: place(id))
    case .pending(let id, let reason): return ClusterReport(.waits(reason: reason?.description), at: place(id))
    case .found(let id, let time): return ClusterReport(nil, at: ClusterPlace(id: id.description, before: time))
    case .running(let id, let nodes): return ClusterReport(.executes, at: place(id, nodes: nodes))
    case .suspended(let id, let nodes):
      var there = place(id, nodes: nodes)
      there.isSuspended = true
      return ClusterReport(.suspended, at: there)
    case .requeued(let id): return ClusterReport(.requeued, at: place(id))
    case .ended(let outcome):
      // Jobs that are shorter than the time between two queries are never seen executing.
      guard let id = outcome.id else { return nil }
      let hasBegun = !outcome.nodes.isEmpty && !attempt.operation.isCancelled
      let nodes = outcome.nodes.isEmpty ? nil : outcome.nodes
      return ClusterReport(hasBegun ? .executes : nil, at: place(id, nodes: nodes, took: outcome.took))
    }
  }

  /// A step's launch may have found that the allocation had ended, or srun could not create the step; no step begins
  /// until it is known whether and how the allocation has ended.
  func determinesEnd(of attempt: Attempt, _ done: @escaping (JobFailure?) -> Void) -> Bool {
    guard let step = (attempt.control as? StepOperation)?.step, let allocation, !attempt.operation.isCancelled,
      case .exited(let status)? = (attempt.operation as? ShellOperation)?.exit,
      status == SlurmAllocation.endedStatus || status == SlurmAllocation.unstartedStatus
    else { return false }
    let isUnstarted = status == SlurmAllocation.unstartedStatus
    // Another allocation may already be held.
    if step.allocation == allocation.id { run?.withScheduler { $0.allocationInDoubt(true) } }
    allocation.explain(step.allocation) { [weak self] failure in
      if failure == nil, step.allocation == allocation.id {
        self?.run?.withScheduler { $0.allocationInDoubt(false) }
      }
      done(failure ?? (isUnstarted ? JobFailure(.launch, "srun could not start the step") : nil))
    }
    return true
  }

  // MARK: The allocation

  func requestAllocation() {
    let allocation =
      allocation
      ?? RunAllocation(
        allocationRequest, in: surrounding, run: id, runner: runner, clock: stream.clock, queue: stream.queue,
        observer: { [unowned self] in observer(of: id, in: folder) },
        tell: { [weak self] event in
          self?.run?.withScheduler { scheduler in
            switch event {
            case .waits(let reason): scheduler.allocationWaits(reason: reason)
            case .held(let nodes): scheduler.allocationHeld(nodes)
            case .ended(let failure): scheduler.allocationEnded(failure)
            case .released: break
            }
          }
        })
    self.allocation = allocation
    allocation.request()
  }

  func releaseAllocation() { allocation?.release() }

  // MARK: The run

  var isBusy: Bool { allocation?.isReleasing == true || isEndingEarlier }

  func update() {
    if !earlier.isEmpty { endEarlierJobs() }
    noteLeftJobs()
  }

  /// Notes in the logs of a stopped run's jobs, once, that they stay in the cluster if the run ends before the controller
  /// answers.
  private func noteLeftJobs() {
    guard !hasNotedLeftJobs, stream.journal.run.stopping != nil, stream.journal.run.clusterOutage != nil else { return }
    hasNotedLeftJobs = true
    let run = stream.journal.run
    for id in run.ids {
      guard let number = run[id].clusterJob else { continue }
      let attempt = (run[id].attempt?.number ?? 0) + (run[id].state.isActive ? 0 : 1)
      let text = "job \(number) may stay in the cluster, whose controller does not answer; to end it: scancel \(number)"
      stream.state(.jobLog(id, attempt: attempt, LogLine(.note, text)))
    }
  }

  /// Ends in Slurm the jobs that earlier runs have left and that have ended here without being followed, one run at a
  /// time.
  private func endEarlierJobs() {
    guard !isEndingEarlier, let graph = run?.graph else { return }
    let over = earlier.filter { stream.journal.run.jobs[$0.key.index].state.isTerminal }
    guard let first = over.first?.value else { return }
    isEndingEarlier = true
    let observer = observer(of: first.run, in: first.folder)
    let ending = over.filter { $0.value.run == first.run }
    let left = ending.map { observer.identity(job: graph[$0.key].name, attempt: $0.value.number) }
    EarlierClusterJob.end(Set(left), of: observer, runner) { [weak self] hasAnswered in
      guard let self else { return }
      // A controller that is down is awaited, as for jobs that are followed.
      let delay = hasAnswered ? Duration.zero : SlurmObserver.Settings().downInterval
      _ = stream.clock.schedule(after: delay, on: stream.queue) { [weak self] in
        guard let self else { return }
        if hasAnswered { for id in ending.keys { earlier[id] = nil } }
        isEndingEarlier = false
        run?.withScheduler { _ in }
      }
    }
  }

  private func observer(of run: String, in folder: String) -> SlurmObserver {
    if let observer = observers[run] { return observer }
    let observer = SlurmObserver(run: run, folder: folder, runner: runner, clock: stream.clock)
    observers[run] = observer
    observer.whenControllerChanges { [weak self] controller in
      guard let self else { return }
      stream.queue.async { self.run?.withScheduler { _ in self.stateOutage(controller) } }
    }
    return observer
  }

  private func stateOutage(_ controller: SlurmController) {
    switch controller {
    case .answers:
      if stream.journal.run.clusterOutage != nil { stream.state(.clusterChanged(fault: nil)) }
    case .down(_, let fault): stream.state(.clusterChanged(fault: fault))
    }
  }

  func didEnd() {
    allocation?.release()
    if !keepsFiles {
      if !observers.isEmpty { try? FileManager.default.removeItem(atPath: folder) }
    } else {
      for observer in observers.values { observer.files.removeScriptsAndValues() }
    }
  }
}

/// A step, and the operation that waits for it.
private struct StepOperation: RemoteControl {
  let step: RunAllocation.Step
  let operation: ShellOperation

  func stop() { step.stop(operation) }
  func pause() { step.send("STOP", of: operation) }
  func resume() { step.send("CONT", of: operation) }
}

extension SlurmJob {
  init(
    _ identity: SlurmIdentity, name: String, _ work: ShellWork, _ clusterRequest: ClusterRequest, secrets: SecretMask?,
    environment: [String: String]
  ) {
    let arguments =
      switch work.command {
      case .script(let text): work.shell + [text]
      case .argv(let words): words
      }
    self.init(
      identity, name: name, arguments: arguments,
      directory: work.directory ?? FileManager.default.currentDirectoryPath, environment: environment,
      resources: clusterRequest, stop: work.stop, secrets: secrets)
  }
}

extension SlurmOperation: ReportingOperation {
  /// The time by the cluster's clock.
  package var workTime: Duration? { (try? outcome?.get())?.took }
}

extension SlurmFailure: JobFailureConvertible {
  package var jobFailure: JobFailure {
    switch end {
    case .exited(let status): JobFailure(exit: .exited(status))
    case .signalled(let signal): JobFailure(exit: .signalled(signal))
    case .outOfMemory: JobFailure(.outOfMemory, "out of memory")
    case .timeLimit: JobFailure(.timeLimit, "time limit of the cluster")
    case .nodeFailure(let nodes):
      JobFailure(.nodeFailure, nodes.isEmpty ? "lost its node" : "lost its node \(nodes)")
    case .preempted: JobFailure(.preempted, "preempted")
    case .cancelled: JobFailure(.error, "cancelled in Slurm")
    case .refused, .notStarted: JobFailure(.launch, description)
    case .lost: JobFailure(.lost, description)
    }
  }
}
