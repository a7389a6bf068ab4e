import Basics
import JobModel

/// A need of a job or of several, by the name or pattern that the file has.
struct Need {
  var job: String
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
  /// The job, which gets its needs and the values that it reads when the names of all jobs are known.
  var job: Job
  var place: Place
  /// Whether its instances are unknown.
  var hasBrokenMatrix = false
  var needs: [Need] = []
  private(set) var hasWork = false
  private(set) var isService = false
  /// The place of a download's file name.
  var target: Place?
  var outputs: [OutputUse] = []
  /// Shared with the defaults, as most jobs have no settings of their own.
  var settings = standardSettings
  var policy: JobPolicy {
    _read { yield settings.value }
    _modify { yield &settings.value }
  }

  private static let standardSettings = Shared(JobPolicy())
  private static let noWork = JobWork.simulate(SimulatedWork())

  /// `matrix` is the key of a job that this is an instance of.
  init(name: String, place: Place, matrix: String? = nil, finally: FinalCondition? = nil) {
    job = Job(name: name, work: Self.noWork, matrix: matrix, finally: finally)
    self.place = place
  }

  /// A job of the run, without what only its own file decides.
  init(_ job: Job) {
    (self.job, place, hasWork, isService) = (job, .start, true, job.service != nil)
  }

  var start: JobStart {
    get { job.isManual ? .manual : .auto }
    set { job.isManual = newValue == .manual }
  }

  /// Nil after a fault.
  var work: JobWork? {
    get { hasWork ? job.work : nil }
    set {
      guard let newValue else { return hasWork = false }
      (job.work, hasWork, isService) = (newValue, true, newValue.service != nil)
    }
  }

  /// Gives the job its settings; most have none.
  mutating func applySettings(_ faults: FaultLog) {
    if policy.priority != .normal { job.priority = policy.priority }
    if policy.allowFailure { job.allowFailure = true }
    if policy.timeout != nil { job.timeout = policy.timeout }
    if !policy.uses.isEmpty { job.uses = policy.uses.mapValues(\.amount).filter { $0.value > 0 } }
    if let retry = policy.retry {
      job.retry = retry.policy(faults)
    } else if let service = work?.service, service.restart != .never {
      // A service may be started again five times.
      job.retry = RetryPolicy(max: 5)
    }
  }

  /// The place of the need that means another job; a name says more than a pattern.
  func place(ofNeed other: Job) -> Place? {
    let need =
      needs.first { $0.job == other.name }
      ?? needs.first { $0.job == other.matrix || JobPattern($0.job)?.matches(other.name) == true }
    return need?.place
  }
}
