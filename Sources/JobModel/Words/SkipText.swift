/// Why a job is skipped, as the words after `skipped because` or `skipped,`.
package enum SkipText {
  package static func reason(_ cause: JobState.SkipCause, _ id: JobID, in run: Run) -> String {
    switch cause {
    case .job(let cause):
      let record = run.jobs[cause.index]
      return "\(record.job.name) \(StateClass(record.state).ending)"
    case .condition:
      return "its condition is false" + (run.jobs[id.index].job.condition.map { ": \($0.text)" } ?? "")
    case .unneeded: return "no job needs it any more"
    case .outcome:
      switch run.jobs[id.index].job.finally {
      case .ok: return "not every job succeeded"
      case .failed, .always, nil: return "no job failed"
      }
    }
  }
}
