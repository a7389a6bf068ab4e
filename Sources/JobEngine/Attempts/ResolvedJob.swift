import Basics
import JobModel

extension Run {
  /// The known values of other jobs, by the references to them.
  func values(of references: [OutputReference]) -> [String: String] {
    var values: [String: String] = [:]
    for reference in references { values[reference.text] = jobs[reference.job.index].outputs[reference.name] }
    return values
  }

  /// Inserts the values of other jobs into the job's work; throws the failure of its attempt.
  ///
  /// Its condition may have read values that were not written.
  func resolved(_ job: Job) throws(JobFailure) -> Job {
    if job.outputs.isEmpty { return job }
    var values: [(key: String, value: String)] = []
    for reference in job.outputsToApprove {
      guard let value = jobs[reference.job.index].outputs[reference.name] else {
        let record = jobs[reference.job.index]
        let known = record.outputs.keys.sorted().joined(separator: ", ")
        throw JobFailure(
          .launch,
          "\(record.job.name) has written no \(reference.name) to $OPDASH_OUTPUT"
            + (known.isEmpty ? "" : ", but \(known)"))
      }
      values.append((reference.text, value))
    }
    var job = job
    job.work = job.work.mapTexts { text in
      text.replacing(values)
    } path: { path in
      // The path was made absolute before the values were known, so an absolute value follows a folder.
      let parts = values.lazy.filter { $0.value.isAbsolutePath }.compactMap { value in
        path.unicodeScalars.ranges(of: Array(("/" + value.key).unicodeScalars)).last
      }
      guard let last = parts.max(by: { $0.lowerBound < $1.lowerBound }) else { return path.replacing(values) }
      return String(path[path.unicodeScalars.index(after: last.lowerBound)...]).replacing(values)
    }
    return job
  }
}
