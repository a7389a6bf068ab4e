/// The index of a job in its graph, the same for the whole run.
package struct JobID: Hashable, Comparable, Sendable {
  package let index: Int

  package init(_ index: Int) { self.index = index }

  package static func < (left: JobID, right: JobID) -> Bool { left.index < right.index }
}

/// A job as declared; its state and history are in `JobRecord`.
package struct Job: Sendable, Equatable {
  package var name: String
  /// The job's purpose, as the job file words it.
  package var description: String?
  package var work: JobWork
  package var needs: [JobNeed]
  package var priority: JobPriority
  /// The units of each named pool that it uses while it executes.
  package var uses: [String: Int]
  /// The limit of one attempt; paused time does not count.
  package var timeout: Duration?
  package var retry: RetryPolicy
  /// Whether the run can succeed although this job fails.
  package var allowFailure: Bool
  /// The job whose work this one is a part of: a group's child, or an attempt of an operation that retries.
  package var parent: JobID?
  /// Paths that its success leaves, absolute; where all are there and newer than `inputs`, it is up to date.
  package var creates: [String]
  /// Paths and globs that it reads, absolute.
  package var inputs: [String]
  /// The times of its last successful runs; nil where none is recorded.
  package var usual: UsualTime?
  /// The job of the file that it is an instance of, if that has a matrix.
  package var matrix: String?
  /// The job is skipped if this is false once its needs are met.
  package var condition: JobCondition?
  /// The question that a person answers before the job starts.
  package var approval: String?
  /// For which ends of all other jobs it runs, after these; nil for a job that does not wait for the others.
  package var finally: FinalCondition?
  /// The values of other jobs in its texts.
  package var outputs: [OutputReference]
  /// Whether it starts only when a person asks for it.
  package var isManual: Bool

  package init(
    name: String, work: JobWork, needs: [JobNeed] = [], priority: JobPriority = .normal, uses: [String: Int] = [:],
    timeout: Duration? = nil, retry: RetryPolicy = .never, allowFailure: Bool = false, description: String? = nil,
    parent: JobID? = nil, creates: [String] = [], inputs: [String] = [], usual: UsualTime? = nil,
    matrix: String? = nil, condition: JobCondition? = nil, approval: String? = nil, finally: FinalCondition? = nil,
    outputs: [OutputReference] = [], isManual: Bool = false
  ) {
    self.name = name
    self.work = work
    self.needs = needs
    self.priority = priority
    self.uses = uses
    self.timeout = timeout
    self.retry = retry
    self.allowFailure = allowFailure
    self.description = description
    self.parent = parent
    self.creates = creates
    self.inputs = inputs
    self.usual = usual
    self.matrix = matrix
    self.condition = condition
    self.approval = approval
    self.finally = finally
    self.outputs = outputs
    self.isManual = isManual
  }

  /// Whether it executes in a slot of its own, as services, cluster jobs and parts of other jobs don't.
  package var takesSlot: Bool { parent == nil && service == nil && cluster == nil }

  /// The job's cluster resources; nil for a job of this machine.
  package var cluster: ClusterRequest? {
    if case .shell(let work) = work { return work.cluster }
    return nil
  }

  /// The job's service settings; nil for a job that ends by itself.
  package var service: Service? {
    if case .shell(let work) = work { return work.service }
    return nil
  }
}

/// An edge of the graph: another job, and how it must end before this one can start.
package struct JobNeed: Sendable, Hashable {
  package enum Condition: String, Sendable, Hashable, CaseIterable {
    /// The needed job succeeded, or failed and was allowed to.
    case ok
    /// The needed job ended in any way, including skipped.
    case finished
    /// The needed job failed.
    case failed
    /// The needed job failed, was cancelled or was skipped.
    case notOK = "not-ok"
    /// The needed job ended in any way, and it or another need of this kind failed.
    case anyFailed = "any-failed"
    /// The service can be used.
    case ready
  }

  package var job: JobID
  package var when: Condition

  package init(_ job: JobID, when: Condition = .ok) {
    self.job = job
    self.when = when
  }
}

/// The ends of all other jobs after which a job of `finally` runs.
package enum FinalCondition: String, Sendable, CaseIterable {
  /// All succeeded, or failed and were allowed to.
  case ok
  /// At least one failed.
  case failed
  case always
}

/// The five levels of `Operation.QueuePriority`, by the names of the job file.
package enum JobPriority: String, Sendable, CaseIterable, Comparable {
  case veryLow = "very-low"
  case low
  case normal
  case high
  case veryHigh = "very-high"

  /// From -2 to 2, with 0 for normal.
  package var level: Int {
    switch self {
    case .veryLow: -2
    case .low: -1
    case .normal: 0
    case .high: 1
    case .veryHigh: 2
    }
  }

  package var raised: JobPriority { JobPriority.allCases.first { $0.level == level + 1 } ?? self }
  package var lowered: JobPriority { JobPriority.allCases.first { $0.level == level - 1 } ?? self }

  package static func < (left: JobPriority, right: JobPriority) -> Bool { left.level < right.level }
}
