import Foundation
import Operations
import Processes

/// Nodes of the cluster that are held for many short programs, each of which is a step of it.
///
/// A step starts in about 25 ms where a job takes half a second and more. The nodes are held by a job that ends when its
/// lease is no longer renewed: so they are released when this process dies and when its machine does. `salloc` would hold
/// them until their time limit in the latter case.
package final class SlurmAllocation: Sendable {
  /// Holds the nodes while it is executing.
  ///
  /// Put it into a queue; cancelling it releases the nodes.
  package let operation: SlurmOperation
  private let observer: SlurmObserver
  private let run: String
  private let leasePath: String
  private let interval: Int
  private let lease = Lock(Lease())

  private struct Lease {
    /// Changes the lease's file, also while this process is stopped by Ctrl-Z; it ends with this process.
    var renewal: ShellOperation?
    var isOver = false
  }

  /// How long Slurm may take to accept a release.
  private static let patience = Duration.seconds(2)
  /// The time until a renewal that has ended is started again.
  private static let retryTime = Duration.seconds(1)

  /// - Parameters:
  ///   - run: The run's name, which steps have in `OPDASH_RUN`.
  ///   - resources: What is held; `nodes` of them, each with `cpus`.
  ///   - observer: That of the run.
  package convenience init(run: String, _ resources: SlurmResources, on observer: SlurmObserver) {
    self.init(run: run, resources, on: observer, patience: 30, interval: 5)
  }

  /// As with the usual times: the job ends so many seconds after the last change of the lease's file, which is changed at an
  /// interval, in seconds.
  init(run: String, _ resources: SlurmResources, on observer: SlurmObserver, patience: Int, interval: Int) {
    self.run = run
    self.observer = observer
    self.interval = interval
    // A number of its own each time: an allocation is never taken up again.
    let identity = observer.identity(job: "@allocation", attempt: Int(UInt32.random(in: 1 ... .max)))
    leasePath = observer.files.path(of: identity) + ".lease"
    operation = SlurmOperation(
      SlurmJob(
        identity, name: "allocation", arguments: ["/bin/sh", "-c", Self.script(leasePath, patience)], directory: "/",
        resources: resources),
      on: observer)
    operation.whenDone { [weak self] _ in self?.endLease() }
    // On the observer's queue: the file system may block.
    observer.queue.async { [weak self] in
      _ = observer.files.makeFolder()
      self?.renew()
    }
  }

  deinit {
    operation.cancel()
    endLease()
  }

  private func renew() {
    let renewal = ShellOperation(
      ProcessLaunch(script: renewalScript), output: .discarded, error: .discarded, accepting: .any)
    let isOver = lease.withLock { lease in
      lease.renewal = renewal
      return lease.isOver
    }
    guard !isOver else { return }
    renewal.whenDone { [weak self, observer] _ in
      _ = observer.clock.schedule(after: Self.retryTime, on: observer.queue) { [weak self] in self?.renew() }
    }
    renewal.start()
  }

  /// Ends the renewal, and removes the lease's file.
  private func endLease() { endRenewal()?.whenDone { [leasePath] _ in unlink(leasePath) } }

  /// Ends the renewal alone, as the death of this process does.
  @discardableResult
  func endRenewal() -> ShellOperation? {
    let renewal = lease.withLock { lease in
      lease.isOver = true
      return lease.renewal
    }
    renewal?.kill()
    return renewal
  }

  /// Changes the lease's file again and again, while this process is there.
  private var renewalScript: String {
    """
    umask 077
    count=0
    while kill -0 \(getpid()) 2>/dev/null; do
      count=$((count + 1))
      echo $count >\(BatchScript.quoted(leasePath))
      sleep \(interval)
    done
    """
  }

  /// Ends when the file is gone, or has not changed for a while by the node's own clock.
  private static func script(_ path: String, _ patience: Int) -> String {
    """
    last=
    quiet=0
    while [ "$quiet" -lt \(patience) ]; do
      if [ ! -e \(BatchScript.quoted(path)) ]; then
        [ -z "$last" ] || exit 0
        quiet=$((quiet + 5))
      fi
      now=$(cat \(BatchScript.quoted(path)) 2>/dev/null)
      if [ "$now" = "$last" ]; then quiet=$((quiet + 1)); else quiet=0 last=$now; fi
      sleep 1
    done
    echo 'the allocation is released: its lease was not renewed'
    """
  }

  /// The allocation's number; nil before the nodes are there, and after they have been released.
  package var id: SlurmJobID? {
    guard case .running(let id, _) = operation.status, !operation.isFinished else { return nil }
    return id
  }

  /// Releases the nodes, and ends the steps that are executing.
  ///
  /// `done` is called on any thread when Slurm has taken it, or after two seconds: the lease is no longer renewed by then, so
  /// that the nodes are released without this process.
  package func release(_ done: @escaping @Sendable () -> Void = {}) {
    let isDone = Lock(false)
    let finish: @Sendable () -> Void = {
      let isFirst = isDone.withLock { value in
        defer { value = true }
        return !value
      }
      if isFirst { done() }
    }
    let id: SlurmJobID? =
      switch operation.status {
      case .submitted(let id), .pending(let id, _), .running(let id, _), .requeued(let id): id
      case .waiting, .ended: nil
      }
    operation.cancel()
    operation.whenDone { _ in finish() }
    _ = observer.clock.schedule(after: Self.patience, on: observer.queue, finish)
    // The operation ends when a query has shown the end, which takes a second.
    endLease()
    if let id { observer.runner.run(SlurmCommand(["scancel", id.description])) { if $0.isSuccess { finish() } } }
  }

  /// The nodes of a running job; nil if the controller does not say them.
  package static func nodes(
    of id: SlurmJobID, _ runner: any SlurmRunner, _ done: @escaping @Sendable ([AllocatedNode]?) -> Void
  ) {
    runner.run(AllocatedNode.query(id)) { answer in
      let nodes = answer.isSuccess ? AllocatedNode.nodes(in: answer.output) : []
      done(nodes.isEmpty ? nil : nodes)
    }
  }

  /// Where an allocation stands.
  package enum Standing: Sendable, Equatable {
    /// It has its nodes.
    case held
    /// It has ended, or ends: how is not known yet, or the controller does not answer.
    case unknown
    case ended(SlurmEnd)
  }

  /// Asks where an allocation stands; `done` is called on any thread.
  package static func standing(
    of id: SlurmJobID, _ runner: any SlurmRunner, _ done: @escaping @Sendable (Standing) -> Void
  ) {
    runner.run(SlurmCommand(["scontrol", "show", "job", "-o", id.description])) { answer in
      if !answer.isSuccess {
        done(answer.error.contains("Invalid job id") ? .ended(.lost(hasBegun: true)) : .unknown)
      } else if answer.output.contains(" JobState=RUNNING ") {
        done(.held)
      } else {
        done(SlurmRecord(controlLine: answer.output)?.end.map(Standing.ended) ?? .unknown)
      }
    }
  }

  /// The launch of a program as a step of the allocation, for a `ShellOperation`; nil while it has no nodes.
  package func step(_ launch: ProcessLaunch, _ terms: SlurmStep) -> ProcessLaunch? {
    id.map { Self.step(launch, terms, of: $0, run: run) }
  }

  /// The allocation that this process was started in, by `salloc` or as a job; nil outside of one.
  package static var surrounding: SlurmJobID? {
    ProcessInfo.processInfo.environment["SLURM_JOB_ID"].flatMap { SlurmJobID($0) }
  }

  /// Whether this process is in a step of an allocation, as in that of `srun --pty`, and not beside its steps.
  ///
  /// Steps that are no programs of srun, as that of a batch script, have numbers from 4,294,967,290 on, if they say one.
  package static var isInStep: Bool {
    guard let number = ProcessInfo.processInfo.environment["SLURM_STEP_ID"].flatMap({ Int($0) }) else { return false }
    return number < 4_294_967_280
  }

  /// The status of a step's launch whose allocation was not there any more at its end, or perhaps of its program.
  package static let endedStatus: Int32 = 254

  /// The launch of a program as a step of an allocation, for a `ShellOperation`.
  ///
  /// The step has CPUs of its own; while they are not free it waits. Its directory must be there on the node. It ends with
  /// the program's status, that of a shell after a signal. A signal other than SIGKILL reaches it by `StepControl`: srun
  /// takes SIGTERM for SIGKILL. One that `overlaps` does not wait for CPUs that another step has.
  package static func step(
    _ launch: ProcessLaunch, _ terms: SlurmStep, of id: SlurmJobID, run: String, overlaps: Bool = false
  ) -> ProcessLaunch {
    // srun exits with 0 when a node fails, and with the status of a killed program when the allocation ends. Slurm has the
    // step until its node has reported the end; that of a lost node until the allocation has ended.
    let script = """
      id=$1
      name=$2
      shift 2
      trap : TERM
      srun "$@"
      status=$?
      while :; do
        steps=$(scontrol show step -o "$id" 2>/dev/null)
        state=$(scontrol show job -o "$id" 2>/dev/null) || exit $status
        case $state in *" JobState=RUNNING "*) ;; *) break ;; esac
        case $steps in *" Name=$name "*) sleep 0.2 ;; *) exit $status ;; esac
      done
      echo 'the allocation ended while the step was executing' >&2
      exit \(endedStatus)
      """
    var step = launch
    // What salloc, sbatch and srun leave there is of their job.
    step.environment = launch.environment.removing(SlurmEnvironment.foreignToSteps)
    // The mark by which this program finds the processes that it has started is not for the step's.
    var words = [
      "env", "OPDASH_RUN=\(run)", "/bin/sh", "-c", script, "step", id.description, terms.name, "-Q", "-N1", "-n1",
      "--jobid=\(id)", "--export=ALL", "--input=none",
    ]
    words += terms.arguments + (overlaps ? ["--overlap"] : [])
    if let directory = launch.directory { words.append("--chdir=\(directory)") }
    // srun keeps no order between the two streams of its program.
    if launch.mergesError { words += ["/bin/sh", "-c", "exec \"$@\" 2>&1", "step"] }
    step.arguments = words + launch.arguments
    // srun that is killed leaves its step; at SIGTERM it kills it.
    step.remoteGrace = .seconds(5)
    return step
  }
}

/// What a step has of its allocation.
package struct SlurmStep: Sendable, Equatable {
  /// By which it is found; no other step has it.
  package var name: String
  package var node: String
  package var cpus: Int
  /// In MiB; nil for as much as the others leave.
  package var memory: Int?
  package var gpus: Int

  package init(name: String, node: String, cpus: Int = 1, memory: Int? = nil, gpus: Int = 0) {
    self.name = name
    self.node = node
    self.cpus = cpus
    self.memory = memory
    self.gpus = gpus
  }

  fileprivate var arguments: [String] {
    // Without the option a step would have all memory of the node, so that there could be only one.
    let memory = memory.map { "--mem=\($0)M" } ?? "--mem=0"
    let words = ["--exact", "--job-name=\(name)", "--nodelist=\(node)", "--cpus-per-task=\(cpus)", memory]
    // Without an amount it would have all of the allocation.
    return words + (gpus > 0 ? ["--gpus=\(gpus)"] : ["--gres=none"])
  }
}
