import JobModel

/// An attempt of a job in the operation queue.
struct Admission: Equatable {
  /// Tells late news of an earlier attempt apart.
  var ticket: Int
  var job: JobID
  var attempt: Int
  var priority: JobPriority
  /// The node of the allocation that it has; nil for anything but a step.
  var node: String?
  /// Nil if no end of it closes the run.
  var endRule: EndRule?
}
