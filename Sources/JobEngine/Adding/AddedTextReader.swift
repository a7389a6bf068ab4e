import JobModel

/// Reads the texts whose jobs are added to a run; called on one queue of the run, where it may block.
package protocol AddedTextReader: AnyObject, Sendable {
  /// Reads the jobs of a text, or why it has faults; `known` is the part of the run that it has not been told of.
  func read(
    _ text: AddedText, _ style: AddedText.Style, after known: NewlyKnown
  ) throws(AdditionRefusal) -> ReadJobs
}

/// The part of a run that was added since the last reading.
package struct NewlyKnown: Sendable {
  /// All jobs at the first reading.
  package var jobs: [Job]
  /// The sizes of all pools.
  package var pools: [String: Int]

  package init(jobs: [Job], pools: [String: Int]) { (self.jobs, self.pools) = (jobs, pools) }
}

/// The jobs of a text, to be added after the jobs that its reader knows.
package struct ReadJobs: Sendable {
  package var jobs: [Job]
  package var pools: [String: Int]
  /// The values that are never shown or kept.
  package var secrets: Set<String>
  package var notes: [String]
  /// Called with the identifier of the first job before anything is stated of the jobs; on the engine's queue.
  package var willAdd: @Sendable (JobID) -> Void

  package init(
    _ jobs: [Job], pools: [String: Int] = [:], secrets: Set<String> = [], notes: [String] = [],
    willAdd: @escaping @Sendable (JobID) -> Void = { _ in }
  ) {
    (self.jobs, self.pools, self.secrets) = (jobs, pools, secrets)
    (self.notes, self.willAdd) = (notes, willAdd)
  }
}
