import JobModel
import Operations
import Processes

/// Makes the operations of attempts; the engine calls it on its queue.
package protocol Executor: AnyObject {
  /// Makes the operation of an attempt; nothing starts before the engine adds it to a queue.
  func execution(of request: AttemptRequest) -> Execution
}

/// The executor of cluster jobs, which start some time after their operations.
package protocol ClusterExecutor: Executor {
  /// Whether the next attempt of the job follows what an earlier run has started.
  func continues(_ job: JobID) -> Bool
  /// What a status that the operation of an attempt has posted means to the run.
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
  /// Makes the executor of a run's cluster jobs; `allocation` is what the jobs of the run request together.
  func executor(for queue: JobQueue, allocation: ClusterTerms?) -> any ClusterExecutor
}

/// What an executor makes the operation of an attempt from.
package struct AttemptRequest {
  package let admission: Admission
  /// The job, with the values of other jobs in its texts.
  package let job: Job
  package let logPath: String?
  package let options: JobQueue.Options
  /// The patterns that the engine searches in the output.
  package let watches: [OutputWatch]
  /// To be made before the program starts.
  package let check: OutputCheck?
}

/// The operation of an attempt, and what the engine needs besides to control it.
package struct Execution {
  package let operation: AsyncOperation
  /// The file that the program writes values for other jobs to.
  package var valuesPath: String?
  /// Whether that file is on a file system that nodes share, and stays for a run that resumes this one.
  package var sharesValues = false
  /// Whether the cluster starts the work, some time after the operation.
  package var startsLater = false
  /// The place of the work, if it is known before the start.
  package var place: ClusterPlace?
  /// A line for the log at the start.
  package var note: String?
  /// Controls the work where signals to the operation's program do not reach it.
  package var control: (any RemoteControl)?
  /// Checks whether the program of a service can be used.
  var probe: ServiceProbe?

  package init(_ operation: AsyncOperation) { self.operation = operation }
}

/// Controls work that the program of an operation only waits for.
package protocol RemoteControl {
  /// Ends the work with its stop signal; the operation is cancelled after the call.
  func stop()
  func pause()
  func resume()
}

/// The standing of an attempt in the cluster.
package struct ClusterReport {
  package enum Standing {
    case waits(reason: String?)
    /// The cluster will execute the attempt once more, from its beginning.
    case requeued
    case executes
  }

  /// Nil where nothing has changed but the place.
  package var standing: Standing?
  package var place: ClusterPlace?

  package init(_ standing: Standing?, at place: ClusterPlace? = nil) {
    self.standing = standing
    self.place = place
  }
}
