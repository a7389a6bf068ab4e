import Basics
import JobModel

/// A need: of a name or pattern as the file has it, then of the job by its index.
struct Need<Job> {
  var job: Job
  var when: JobNeed.Condition
  var place: Place
}

/// Who starts a job whose needs are met: the scheduler or a person.
enum JobStart: String, CaseIterable {
  case auto
  /// A person, by a key.
  case manual
}

/// A job with the parts that could be read.
struct JobDraft {
  var name: String
  var place: Place
  /// The key of a job that this is an instance of.
  var matrix: String?
  /// Whether its instances are unknown.
  var hasBrokenMatrix = false
  var finally: FinalCondition?
  var description: String?
  var needs: [Need<String>] = []
  /// Nil after a fault.
  var work: JobWork?
  /// The place of a download's file name.
  var target: Place?
  var creates: [String] = []
  var inputs: [String] = []
  var condition: JobCondition?
  var approval: String?
  var outputs: [OutputUse] = []
  var start = JobStart.auto
  /// Shared with the defaults, as most jobs have no settings of their own.
  var settings = standardSettings
  var policy: JobPolicy {
    _read { yield settings.value }
    _modify { yield &settings.value }
  }

  private static let standardSettings = Shared(JobPolicy())

  /// The job, with its needs and the values that it reads; nil without its work.
  func job(_ needs: [Need<Int>], _ outputs: [OutputReference], _ faults: FaultLog) -> Job? {
    let retry = policy.retry.map { $0.policy(faults) }
    guard let work else { return nil }
    return Job(
      name: name, work: work, needs: needs.map { JobNeed(JobID($0.job), when: $0.when) },
      priority: policy.priority,
      uses: policy.uses.isEmpty ? [:] : policy.uses.mapValues(\.amount).filter { $0.value > 0 },
      timeout: policy.timeout,
      retry: retry ?? Self.standardRetry(of: work), allowFailure: policy.allowFailure,
      description: description, creates: creates, inputs: inputs, matrix: matrix,
      condition: condition, approval: approval, finally: finally,
      outputs: outputs, isManual: start == .manual)
  }

  /// How often work is repeated whose job says nothing of that: a service may be started again five times.
  private static func standardRetry(of work: JobWork) -> RetryPolicy {
    guard let service = work.service, service.restart != .never else { return .never }
    return RetryPolicy(max: 5)
  }
}
