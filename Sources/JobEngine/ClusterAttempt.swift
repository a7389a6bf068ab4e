import Processes
import Slurm

/// The parts of an operation for an attempt that the cluster executes.
struct ClusterAttempt {
  var launch: LaunchTerms.ClusterLaunch
  var observer: SlurmObserver
  /// Whether an earlier run may have submitted the attempt.
  var mayExist: Bool

  func operation(check: OutputCheck?, log: SlurmOperation.LogTerms) -> SlurmOperation {
    SlurmOperation(launch.job, on: observer, mayExist: mayExist, check: check, log: log)
  }
}
