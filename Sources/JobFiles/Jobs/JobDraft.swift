import JobModel

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
  var needs: [NeedReader.Need] = []
  /// Nil after a fault.
  var work: JobWork?
  /// The place of a download's file name.
  var target: Place?
  var creates: [String] = []
  var inputs: [String] = []
  var condition: JobCondition?
  var outputs: [OutputUse] = []
  var policy: JobPolicy

  /// The job, with its needs and the values that it reads; nil without its work.
  func job(_ needs: [NeedResolver.Need], _ outputs: [OutputReference], _ faults: FaultLog) -> Job? {
    let retry = policy.retry.map { $0.policy(faults) }
    guard let work else { return nil }
    return Job(
      name: name, work: work, needs: needs.map { JobNeed(JobID($0.job), when: $0.when) },
      priority: policy.priority ?? .normal,
      uses: policy.uses.mapValues(\.amount).filter { $0.value > 0 }, timeout: policy.timeout,
      retry: retry ?? ServiceReader.standardRetry(of: work), allowFailure: policy.allowFailure ?? false,
      description: description, creates: creates, inputs: inputs, matrix: matrix,
      condition: condition, approval: policy.approval, finally: finally,
      outputs: outputs)
  }
}
