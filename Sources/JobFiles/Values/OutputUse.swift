/// A reference to a value of another job, as `${jobs.NAME.VALUE}` in a text of a job file.
struct OutputUse {
  var job: String
  var value: String
  /// The text with the first use, and its place there, which is rarely needed.
  var node = YAMLNode.null
  var written = ""
  var count = 0

  /// As it stands in the texts of the decoded job.
  var text: String { "${jobs.\(job).\(value)}" }
}
