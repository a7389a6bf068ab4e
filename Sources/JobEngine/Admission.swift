import JobModel

/// An attempt of a job in the operation queue.
package struct Admission: Equatable {
  /// Distinguishes late events of an earlier attempt.
  package var ticket: Int
  package var job: JobID
  package var attempt: Int
  package var priority: JobPriority
  /// The node of the allocation for a step; nil for anything else.
  package var node: String?
  /// Nil if no end of the attempt closes the run.
  var endRule: EndRule?
}
