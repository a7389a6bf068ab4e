/// Where a job stands, as its observer tells.
package enum SlurmStatus: Sendable, Equatable {
  /// It waits for its submission, or whether it was submitted already is being found out.
  case waiting
  /// Slurm has accepted it.
  case submitted(SlurmJobID)
  /// It waits for the cluster.
  case pending(SlurmJobID, SlurmReason?)
  case running(SlurmJobID, nodes: String)
  /// It had begun, and Slurm will execute it from its beginning once more; it waits for the cluster.
  case requeued(SlurmJobID)
  case ended(SlurmOutcome)
}

/// The end of a job, and what is known of it.
package struct SlurmOutcome: Sendable, Equatable {
  package var end: SlurmEnd
  /// Nil for a job that was never accepted.
  package var id: SlurmJobID?
  package var nodes: String
  /// How long its program has executed, if its node has noted it.
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
  /// Since an instant of the observer's clock; jobs go on meanwhile, and nothing is submitted.
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
