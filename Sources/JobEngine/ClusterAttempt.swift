import Processes
import Slurm

/// What makes the operation of an attempt that the cluster executes.
struct ClusterAttempt {
  var launch: LaunchTerms.ClusterLaunch
  var observer: SlurmObserver
  /// Whether an earlier run has perhaps submitted it.
  var mayExist: Bool

  func operation(check: OutputCheck?, log: SlurmOperation.LogTerms) -> SlurmOperation {
    SlurmOperation(launch.job, on: observer, mayExist: mayExist, check: check, log: log)
  }
}
