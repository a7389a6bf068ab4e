import Foundation
import JobModel

/// A recorded run without its events.
package struct RunEntry: Sendable, Equatable {
  package var id: String
  package var name: String
  package var origin: RunOrigin
  package var startedAt: Date
  /// Nil while the run is in progress, and for a run whose program was killed.
  package var endedAt: Date?
  /// Nil without `endedAt`.
  package var summary: RunSummary?
  /// The time until the last end of a job; nil without `endedAt`, and where it was not recorded.
  package var length: Duration?
  package var jobs: Int
  /// The process that executes it.
  package var process: ProcessIdentity
  /// The folder of its log files.
  package var folder: String?
  /// The run that this one resumes.
  package var resumes: String?
  /// The value that marks every process of its shell jobs in their environment.
  package var cookie: String?

  package init(
    id: String, name: String, origin: RunOrigin, startedAt: Date, endedAt: Date? = nil, summary: RunSummary? = nil,
    length: Duration? = nil, jobs: Int, process: ProcessIdentity, folder: String? = nil, resumes: String? = nil,
    cookie: String? = nil
  ) {
    self.id = id
    self.name = name
    self.origin = origin
    self.startedAt = startedAt
    self.endedAt = endedAt
    self.summary = summary
    self.length = length
    self.jobs = jobs
    self.process = process
    self.folder = folder
    self.resumes = resumes
    self.cookie = cookie
  }
}
