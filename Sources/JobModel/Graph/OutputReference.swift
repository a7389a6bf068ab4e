/// A value of another job's `$OPDASH_OUTPUT`, which the texts of a job name as `${jobs.NAME.VALUE}`.
package struct OutputReference: Sendable, Hashable {
  /// As it stands in the texts.
  package var text: String
  package var job: JobID
  package var name: String

  package init(_ text: String, job: JobID, name: String) {
    self.text = text
    self.job = job
    self.name = name
  }
}
