import Basics
import Foundation
import Operations
import Processes

/// Nodes of the cluster, held for many short programs that run as steps of one job.
///
/// A step starts in about 25 ms, where a job takes half a second or more. The job that holds the nodes ends when its
/// lease is no longer renewed, so the nodes are released when this process or its machine dies. `salloc` would hold
/// them until their time limit if the machine died.
package final class SlurmAllocation: Sendable {
  /// The operation that holds the nodes while it is executing.
  ///
  /// Add it to a queue; cancelling it releases the nodes.
  package let operation: SlurmOperation
  private let observer: SlurmObserver
  private let leasePath: String
  private let interval: Int
  private let lease = Lock(Lease())

  private struct Lease {
    /// Rewrites the lease file, even while Ctrl-Z stops this process; ends with this process.
    var renewal: ShellOperation?
    var isOver = false
  }

  /// The longest wait for Slurm to accept a release.
  private static let patience = Duration.seconds(2)
  /// The delay before a renewal that has ended is started again.
  private static let retryTime = Duration.seconds(1)

  /// - Parameters:
  ///   - resources: The resources to hold: `nodes` nodes, each with `cpus` CPUs.
  ///   - observer: The observer of the run.
  ///   - patience: The seconds from the last change of the lease file to the end of the job.
  ///   - interval: The seconds between two changes of the lease file.
  package init(_ resources: SlurmResources, on observer: SlurmObserver, patience: Int = 30, interval: Int = 5) {
    self.observer = observer
    self.interval = interval
    // A random number each time: an allocation is never resumed.
    let identity = observer.identity(job: "@allocation", attempt: Int(UInt32.random(in: 1 ... .max)))
    leasePath = observer.files.path(of: identity) + ".lease"
    operation = SlurmOperation(
      SlurmJob(
        identity, name: "allocation", arguments: ["/bin/sh", "-c", Self.script(leasePath, patience)], directory: "/",
        resources: resources),
      on: observer)
    operation.whenDone { [weak self] _ in self?.endLease() }
    // On the observer's queue because the file system may block.
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

  /// Ends the renewal and removes the lease file.
  private func endLease() { endRenewal()?.whenDone { [leasePath] _ in unlink(leasePath) } }

  /// Ends only the renewal, as the death of this process does.
  @discardableResult
  func endRenewal() -> ShellOperation? {
    let renewal = lease.withLock { lease in
      lease.isOver = true
      return lease.renewal
    }
    renewal?.kill()
    return renewal
  }

  /// Rewrites the lease file periodically while this process exists.
  private var renewalScript: String {
    """
    umask 077
    count=0
    while kill -0 \(getpid()) 2>/dev/null; do
      count=$((count + 1))
      echo $count >\(leasePath.shellQuoted)
      sleep \(interval)
    done
    """
  }

  /// The script of the job: ends when the lease file is gone or, by the node's own clock, has not changed for a while.
  private static func script(_ path: String, _ patience: Int) -> String {
    """
    last=
    quiet=0
    while [ "$quiet" -lt \(patience) ]; do
      if [ ! -e \(path.shellQuoted) ]; then
        [ -z "$last" ] || exit 0
        quiet=$((quiet + 5))
      fi
      now=$(cat \(path.shellQuoted) 2>/dev/null)
      if [ "$now" = "$last" ]; then quiet=$((quiet + 1)); else quiet=0 last=$now; fi
      sleep 1
    done
    echo 'the allocation is released: its lease was not renewed'
    """
  }

  /// Releases the nodes and ends the steps that are executing.
  ///
  /// Calls `done` on any thread when Slurm has accepted the release, or after two seconds: by then the lease is no
  /// longer renewed, so the nodes are released without this process.
  package func release(_ done: @escaping @Sendable () -> Void = {}) {
    let isDone = Lock(false)
    let finish: @Sendable () -> Void = {
      if !isDone.withLock({ exchange(&$0, with: true) }) { done() }
    }
    let id: SlurmJobID? =
      switch operation.status {
      case .submitted(let id), .pending(let id, _), .found(let id, _), .running(let id, _), .suspended(let id, _),
        .requeued(let id):
        id
      case .waiting, .full, .ended: nil
      }
    operation.cancel()
    operation.whenDone { _ in finish() }
    _ = observer.clock.schedule(after: Self.patience, on: observer.queue, finish)
    // The operation ends only when a query has shown the end, which takes a second.
    endLease()
    if let id { observer.runner.run(SlurmCommand(["scancel", id.description])) { if $0.isSuccess { finish() } } }
  }

  /// Queries the nodes of a running job; `done` receives nil if the controller doesn't report them.
  package static func nodes(
    of id: SlurmJobID, _ runner: any SlurmRunner, _ done: @escaping @Sendable ([AllocatedNode]?) -> Void
  ) {
    runner.run(AllocatedNode.query(id)) { answer in
      let nodes = answer.isSuccess ? AllocatedNode.nodes(in: answer.output) : []
      done(nodes.isEmpty ? nil : nodes)
    }
  }

  /// The state of an allocation.
  package enum Standing: Sendable, Equatable {
    /// The allocation has its nodes.
    case held
    /// The allocation does not have its nodes and its end is not known, or the controller does not answer.
    case unknown
    case ended(SlurmEnd)
  }

  /// Queries the state of an allocation; `done` is called on any thread.
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

  /// The allocation that this process was started in, by `salloc` or as a job; nil outside an allocation.
  package static var surrounding: SlurmJobID? {
    ProcessVariables.current["SLURM_JOB_ID"].flatMap { SlurmJobID($0) }
  }

  /// Whether this process runs inside a step of an allocation, such as the step of `srun --pty`, and not beside its
  /// steps.
  ///
  /// Steps that don't run a program of srun, such as a batch script, have numbers of 4,294,967,290 and above, if any.
  package static func isInStep(_ environment: [String: String] = ProcessVariables.current) -> Bool {
    guard let number = environment["SLURM_STEP_ID"].flatMap({ Int($0) }) else { return false }
    return number < 4_294_967_280
  }

  /// The exit status of a step's launch if the allocation was gone at its end; a program may also exit with it.
  package static let endedStatus: Int32 = 254

  /// The exit status of a step's launch if srun could not create the step.
  ///
  /// srun never passes on this status of a program, which it takes for the end of memory.
  package static let unstartedStatus: Int32 = 253
  /// How often a controller that answers is asked for a step, about once a second.
  private static let mostTries = 60

  /// The launch of a program as a step of an allocation, for a `ShellOperation`.
  ///
  /// The step has its own CPUs and waits while they are not free; with `overlaps`, it does not wait for CPUs of another
  /// step. Its directory must exist on the node. The launch exits with the program's status, or with the status that a
  /// shell reports for a signal. Send signals other than SIGKILL with `StepControl`: srun treats SIGTERM as SIGKILL.
  package static func step(
    _ launch: ProcessLaunch, _ terms: SlurmStep, of id: SlurmJobID, run: String, overlaps: Bool = false
  ) -> ProcessLaunch {
    // After a restart the controller creates no steps for some seconds: they are requested again while it may have the
    // allocation, and an outage is waited for. The text of srun decides, if it is apart from the program's output.
    //
    // srun exits with 0 when a node fails, and with the status of a killed program when the allocation ends. Slurm
    // lists a step until its node has reported the end, and a step on a lost node until the allocation has ended.
    let call =
      launch.mergesError
      ? """
      { error=$(exec srun "$@" 2>&1 1>&3 3>&-); status=$?; } 3>&1
        case $error in *'Unable to create step'*|*'Unable to confirm allocation'*) ;; *) break ;; esac
      """ : "srun \"$@\"; status=$?"
    let script = """
      id=$1
      name=$2
      shift 2
      error= stopped= tries=0
      trap stopped=1 TERM
      export SLURM_EXIT_ERROR=\(unstartedStatus)
      while :; do
        \(call)
        [ $status = \(unstartedStatus) ] && [ -z "$stopped" ] || break
        state=$(scontrol show job -o "$id" 2>&1)
        case $state in
          *" JobState=RUNNING "*|*" JobState=PENDING "*) tries=$((tries + 1)) ;;
          *" JobState="*|*"Invalid job id"*) break ;;
        esac
        [ $tries -lt \(mostTries) ] || break
        sleep 1
        [ -z "$stopped" ] || break
      done
      [ -z "$error" ] || printf '%s\\n' "$error" >&2
      while :; do
        steps=$(scontrol show step -o "$id" 2>/dev/null)
        state=$(scontrol show job -o "$id" 2>/dev/null) || exit $status
        case $state in *" JobState=RUNNING "*) ;; *) break ;; esac
        case $steps in *" Name=$name "*) sleep 0.2 ;; *) exit $status ;; esac
      done
      echo 'the allocation has ended' >&2
      exit \(endedStatus)
      """
    var step = launch
    // Removes the variables that salloc, sbatch and srun set for their own job.
    step.environment = launch.environment.removing(SlurmEnvironment.foreignToSteps)
    // Replaces the mark that identifies this program's own processes: the step's processes must not have it.
    var words = [
      "env", "OPDASH_RUN=\(run)", "/bin/sh", "-c", script, "step", id.description, terms.name, "-Q", "-N1", "-n1",
      "--jobid=\(id)", "--export=ALL", "--input=none",
    ]
    words += terms.arguments + (overlaps ? ["--overlap"] : [])
    if let directory = launch.directory { words.append("--chdir=\(directory)") }
    // srun does not preserve the order of its program's two streams. Its own variable is not the program's.
    words += ["/bin/sh", "-c", "unset SLURM_EXIT_ERROR; exec \"$@\"" + (launch.mergesError ? " 2>&1" : ""), "step"]
    step.arguments = words + launch.arguments
    // If srun is killed, its step keeps executing; on SIGTERM, srun kills the step.
    step.remoteGrace = .seconds(5)
    return step
  }
}

/// A step's name, node and share of the allocation.
package struct SlurmStep: Sendable, Equatable {
  /// The name that identifies the step; no other step has it.
  package var name: String
  package var node: String
  package var cpus: Int
  /// In MiB; nil for as much as the other steps leave.
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
    // Without the option, a step would take all memory of the node, and only one could execute.
    let memory = memory.map { "--mem=\($0)M" } ?? "--mem=0"
    let words = ["--exact", "--job-name=\(name)", "--nodelist=\(node)", "--cpus-per-task=\(cpus)", memory]
    // Without a number, a step would have all GPUs of the allocation.
    return words + (gpus > 0 ? ["--gpus=\(gpus)"] : ["--gres=none"])
  }
}
