import Basics

/// The index of a job in its graph, the same for the whole run.
package struct JobID: Hashable, Comparable, Sendable {
  package let index: Int

  package init(_ index: Int) { self.index = index }

  package static func < (left: JobID, right: JobID) -> Bool { left.index < right.index }
}

/// A job as declared; its state and history are in `JobRecord`.
///
/// Copies share the declaration until one is changed: a run has each job in its graph, in events and in its folds.
package struct Job: Sendable, Equatable {
  private struct Declaration: Sendable, Equatable {
    var name: String
    var description: String?
    var work: JobWork
    var needs: [JobNeed]
    var priority: JobPriority
    var uses: [String: Int]
    var timeout: Duration?
    var retry: RetryPolicy
    var allowFailure: Bool
    var parent: JobID?
    var creates: [String]
    var inputs: [String]
    var matrix: String?
    var condition: JobCondition?
    var approval: String?
    var finally: FinalCondition?
    var outputs: [OutputReference]
    var isManual: Bool
  }

  private var declared: Shared<Declaration>
  /// Apart from the declaration: the store gives each job its usual time while the declared graph is kept.
  private var measured: Shared<UsualTime>?

  package var name: String {
    get { declared.value.name }
    set { declared.value.name = newValue }
  }
  /// The job's purpose, as the job file words it.
  package var description: String? {
    get { declared.value.description }
    set { declared.value.description = newValue }
  }
  package var work: JobWork {
    get { declared.value.work }
    set { declared.value.work = newValue }
  }
  package var needs: [JobNeed] {
    get { declared.value.needs }
    set { declared.value.needs = newValue }
  }
  package var priority: JobPriority {
    get { declared.value.priority }
    set { declared.value.priority = newValue }
  }
  /// The units of each named pool that it uses while it executes.
  package var uses: [String: Int] {
    get { declared.value.uses }
    set { declared.value.uses = newValue }
  }
  /// The limit of one attempt; paused time does not count.
  package var timeout: Duration? {
    get { declared.value.timeout }
    set { declared.value.timeout = newValue }
  }
  package var retry: RetryPolicy {
    get { declared.value.retry }
    set { declared.value.retry = newValue }
  }
  /// Whether the run can succeed although this job fails.
  package var allowFailure: Bool {
    get { declared.value.allowFailure }
    set { declared.value.allowFailure = newValue }
  }
  /// The job whose work this one is a part of: a group's child, or an attempt of an operation that retries.
  package var parent: JobID? {
    get { declared.value.parent }
    set { declared.value.parent = newValue }
  }
  /// Paths that its success leaves, absolute; where all are there and newer than `inputs`, it is up to date.
  package var creates: [String] {
    get { declared.value.creates }
    set { declared.value.creates = newValue }
  }
  /// Paths and globs that it reads, absolute.
  package var inputs: [String] {
    get { declared.value.inputs }
    set { declared.value.inputs = newValue }
  }
  /// The times of its last successful runs; nil where none is recorded.
  package var usual: UsualTime? {
    get { measured?.value }
    set { measured = newValue.map { Shared($0) } }
  }
  /// The job of the file that it is an instance of, if that has a matrix.
  package var matrix: String? {
    get { declared.value.matrix }
    set { declared.value.matrix = newValue }
  }
  /// The job is skipped if this is false once its needs are met.
  package var condition: JobCondition? {
    get { declared.value.condition }
    set { declared.value.condition = newValue }
  }
  /// The question that a person answers before the job starts.
  package var approval: String? {
    get { declared.value.approval }
    set { declared.value.approval = newValue }
  }
  /// For which ends of all other jobs it runs, after these; nil for a job that does not wait for the others.
  package var finally: FinalCondition? {
    get { declared.value.finally }
    set { declared.value.finally = newValue }
  }
  /// The values of other jobs in its texts.
  package var outputs: [OutputReference] {
    get { declared.value.outputs }
    set { declared.value.outputs = newValue }
  }
  /// Whether it starts only when a person asks for it.
  package var isManual: Bool {
    get { declared.value.isManual }
    set { declared.value.isManual = newValue }
  }

  package init(
    name: String, work: JobWork, needs: [JobNeed] = [], priority: JobPriority = .normal, uses: [String: Int] = [:],
    timeout: Duration? = nil, retry: RetryPolicy = .never, allowFailure: Bool = false, description: String? = nil,
    parent: JobID? = nil, creates: [String] = [], inputs: [String] = [], usual: UsualTime? = nil,
    matrix: String? = nil, condition: JobCondition? = nil, approval: String? = nil, finally: FinalCondition? = nil,
    outputs: [OutputReference] = [], isManual: Bool = false
  ) {
    declared = Shared(
      Declaration(
        name: name, description: description, work: work, needs: needs, priority: priority, uses: uses,
        timeout: timeout, retry: retry, allowFailure: allowFailure, parent: parent, creates: creates, inputs: inputs,
        matrix: matrix, condition: condition, approval: approval, finally: finally, outputs: outputs,
        isManual: isManual))
    self.usual = usual
  }

  /// Whether it executes in a slot of its own, as services, cluster jobs and parts of other jobs don't.
  package var takesSlot: Bool { parent == nil && service == nil && cluster == nil }

  /// The job's cluster resources; nil for a job of this machine.
  package var cluster: ClusterRequest? {
    if case .shell(let work) = work { return work.cluster }
    return nil
  }

  /// The job's service settings; nil for a job that ends by itself.
  package var service: Service? { work.service }
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
    /// The needed job failed and was not allowed to, was cancelled or was skipped.
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
