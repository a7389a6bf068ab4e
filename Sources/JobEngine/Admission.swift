import JobModel

/// An attempt of a job in the operation queue.
struct Admission: Equatable {
  /// Distinguishes late events of an earlier attempt.
  var ticket: Int
  var job: JobID
  var attempt: Int
  var priority: JobPriority
  /// The node of the allocation for a step; nil for anything else.
  var node: String?
  /// Nil if no end of the attempt closes the run.
  var endRule: EndRule?
}
