import Foundation
import JobModel

/// The recorded end of a job in a run.
package struct EndedJob: Sendable, Equatable {
  package enum Outcome: String, Sendable {
    case ok
    case upToDate = "up-to-date"
    /// The job succeeded in the earlier run that this one resumes.
    case restored
    case failed
    /// The job failed and was allowed to.
    case allowed
    case cancelled
    case skipped
  }

  /// The identifier of the run.
  package var run: String
  package var job: JobID
  package var name: String
  package var fingerprint: String?
  /// How many attempts there were until then, since the last one with a cause other than a failure.
  package var attempts: Int
  package var outcome: Outcome
  /// The execution time of the last attempt, without pauses; nil where none executed.
  package var took: Duration?
  package var at: Date
  /// The hash of the last attempt's inputs.
  package var inputs: String?
}

extension EndedJob.Outcome {
  /// Nil for a state that is not terminal.
  init?(_ state: JobState) {
    switch state {
    case .succeeded(let isUpToDate): self = isUpToDate ? .upToDate : .ok
    case .failed(_, let isAllowed): self = isAllowed ? .allowed : .failed
    case .cancelled: self = .cancelled
    case .skipped: self = .skipped
    case .waiting, .ready, .executing, .serving, .paused, .backingOff: return nil
    }
  }
}

extension RecordedEnd {
  /// Nil for a job that was skipped.
  init?(_ row: EndedJob) {
    let outcome: Outcome
    switch row.outcome {
    case .ok: outcome = .succeeded
    case .upToDate, .restored: outcome = .notExecuted
    case .failed, .allowed: outcome = .failed
    case .cancelled: outcome = .cancelled
    case .skipped: return nil
    }
    // Without inputs nothing shows whether the job's files have changed.
    let work = row.inputs.flatMap { inputs in row.fingerprint.map { "\($0) \(inputs)" } }
    self.init(run: row.run, outcome: outcome, took: row.took ?? .zero, attempts: max(1, row.attempts), work: work)
  }
}

/// The process of an attempt that executes, or did when its run was killed.
package struct AttemptProcess: Sendable, Equatable {
  package var job: JobID
  package var name: String
  package var attempt: Int
  package var process: ProcessIdentity
}
