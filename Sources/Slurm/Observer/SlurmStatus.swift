import Operations

/// The status of a job, as its observer reports it.
package enum SlurmStatus: OperationPlacement, Equatable {
  /// The job waits for its submission, or the observer is finding out whether it was already submitted.
  case waiting
  /// Slurm has accepted no more jobs for now, with its own sentence; the job is submitted again later.
  case full(String)
  /// Slurm has accepted the job.
  case submitted(SlurmJobID)
  /// The job waits for the cluster.
  case pending(SlurmJobID, SlurmReason?)
  case running(SlurmJobID, nodes: String)
  /// The job has executed for at least this time, much of it perhaps before this process followed it.
  ///
  /// Comes before `running`, and before `ended` if no query has found it executing, for jobs of another process.
  case found(SlurmJobID, after: Duration)
  /// The cluster has suspended the job, or someone has stopped its program, until `running` follows.
  case suspended(SlurmJobID, nodes: String)
  /// The job had begun, and Slurm will execute it once more from its beginning; it waits for the cluster.
  case requeued(SlurmJobID)
  case ended(SlurmOutcome)

  /// Whether the job has nodes, and executes or is suspended.
  var isOnNodes: Bool {
    switch self {
    case .running, .suspended: true
    case .waiting, .full, .submitted, .pending, .found, .requeued, .ended: false
    }
  }
}

/// The end of a job, with its number, nodes and execution time if they are known.
package struct SlurmOutcome: Sendable, Equatable {
  package var end: SlurmEnd
  /// Nil for a job that was never accepted.
  package var id: SlurmJobID?
  package var nodes: String
  /// The program's execution time, if its node has recorded it.
  package var took: Duration?

  package init(_ end: SlurmEnd, id: SlurmJobID? = nil, nodes: String = "") {
    self.end = end
    self.id = id
    self.nodes = nodes
  }
}

/// Whether the controller answers.
package enum SlurmController: Sendable, Equatable, CustomStringConvertible {
  case answers
  /// The controller has been down since a time of the observer's clock; jobs continue, and nothing is submitted.
  case down(since: Duration, fault: String)

  package var description: String {
    switch self {
    case .answers: "the Slurm controller answers"
    case .down(_, let fault): "the Slurm controller is down, and is waited for: \(fault)"
    }
  }
}

/// A job of a run that the controller knows.
package struct FoundSlurmJob: Sendable, Equatable {
  package var identity: SlurmIdentity
  package var id: SlurmJobID
  package var state: SlurmState
}

/// The reason that Slurm could not be queried, as a sentence.
package struct SlurmFault: Error, Sendable, Equatable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
