import JobModel
import Operations
import Processes

/// Makes the operations of attempts; the engine calls it on its queue.
package protocol Executor: AnyObject {
  /// Makes the operation of an attempt; nothing starts before the engine adds it to a queue.
  func execution(of request: AttemptRequest) -> Execution
}

/// An admitted attempt whose operation an executor is to make.
package struct AttemptRequest {
  package let admission: Admission
  /// The job, with the values of other jobs in its texts.
  package let job: Job
  package let log: AttemptLog
  /// The patterns that the engine searches in the output.
  package let watches: [OutputWatch]
  /// To be made before the program starts.
  package let check: OutputCheck?
}

/// The file of an attempt's output.
package struct AttemptLog {
  /// Nil for a run without a folder.
  package let path: String?
  package let limit: Int
  package let keepsShort: Bool
}

/// The operation of an attempt, with the values that the engine needs to control it.
package struct Execution {
  package let operation: AsyncOperation
  /// The file that the program writes values for other jobs to.
  package var valuesPath: String?
  /// The file for jobs that the program adds to the run; nil where none can be added.
  package var additionPath: String?
  /// Whether these files are on a file system that nodes share, and the values stay for a run that resumes this one.
  package var sharesValues = false
  /// Whether the cluster starts the work, some time after the operation.
  package var startsLater = false
  /// The place of the work, if it is known before the start.
  package var place: ClusterPlace?
  /// A line for the log at the start.
  package var note: String?
  /// Controls the work where signals to the operation's program do not reach it.
  package var control: (any RemoteControl)?
  /// Checks whether the program of a service can be used, and whether it still can be.
  var probe: ServiceProbe?
  /// The socket on which a service's program reports that it is ready.
  var notification: NotificationSocket?

  package init(_ operation: AsyncOperation) { self.operation = operation }
}

/// Controls work that the program of an operation only waits for.
package protocol RemoteControl {
  /// Ends the work with its stop signal; the operation is cancelled after the call.
  func stop()
  func pause()
  func resume()
}
