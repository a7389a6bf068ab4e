import JobModel
import Operations

/// The executor of cluster jobs, which start some time after their operations.
package protocol ClusterExecutor: Executor {
  /// Whether the next attempt of the job follows a cluster job of an earlier run.
  func continues(_ job: JobID) -> Bool
  /// Translates a status that the operation of an attempt has posted; nil if the run does not depend on it.
  func report(_ status: any OperationPlacement, of attempt: Attempt) -> ClusterReport?
  /// Calls `done` on the engine's queue with the failure of an attempt whose operation does not show how it has ended,
  /// nil if it does after all; returns false if the operation shows it.
  func determinesEnd(of attempt: Attempt, _ done: @escaping (JobFailure?) -> Void) -> Bool
  /// Requests nodes for the jobs of the run, as the scheduler asks.
  func requestAllocation()
  func releaseAllocation()
  /// Called when the scheduler's decisions have been carried out.
  func update()
  /// Whether the run must not end yet.
  var isBusy: Bool { get }
  /// Called once, after the end of the run was stated.
  func didEnd()
}

/// A cluster that a run may use.
package protocol Cluster: Sendable {
  /// Whether the run was started in an allocation, whose steps its cluster jobs are.
  var hasSurroundingAllocation: Bool { get }
  /// Makes the executor of a run's cluster jobs; `allocation` is the request for nodes that they share.
  func executor(for run: any ClusterRun, allocation: ClusterRequest?) -> any ClusterExecutor
}

/// A run as its cluster's executor sees it; on the engine's queue.
package protocol ClusterRun: AnyObject {
  var id: String { get }
  var folder: RunFolder? { get }
  var stream: FactStream { get }
  var programs: ProcessExecutor { get }
  var graph: JobGraph { get }
  /// Gives a change to the scheduler, whose decisions are then carried out; no effect once the run is over.
  func withScheduler(_ change: (inout Scheduler) -> Void)
}

/// The standing of an attempt in the cluster.
package struct ClusterReport: Equatable {
  package enum Standing: Equatable {
    case waits(reason: String?)
    /// The cluster will execute the attempt once more, from its beginning.
    case requeued
    case executes
    /// The cluster has suspended the attempt, which had begun; `executes` follows.
    case suspended
  }

  /// Nil where nothing has changed but the place.
  package var standing: Standing?
  package var place: ClusterPlace?

  package init(_ standing: Standing?, at place: ClusterPlace? = nil) {
    self.standing = standing
    self.place = place
  }
}
