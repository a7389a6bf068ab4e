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
  package var resumes: String?
  /// The value that marks every process of its shell jobs in their environment.
  package var cookie: String?
}

/// How a run was started: enough to make its job graph again.
package struct RunOrigin: Sendable, Equatable, Codable {
  /// The command: `run`, `get`, `demo` or `each`.
  package var command: String
  /// The operands and options of the command line that make the graph.
  package var words: [String]
  /// The absolute path of the job file; nil for a run without one.
  package var file: String?
  /// The current folder at the start.
  package var directory: String
  package var slots: Int
  package var onFailure: String
  /// The approvals given at the start, as `Fingerprint.ofApproval`; nil without approvals.
  package var approvals: [String]?

  package init(
    command: String, words: [String] = [], file: String? = nil, directory: String, slots: Int, onFailure: String
  ) {
    self.command = command
    self.words = words
    self.file = file
    self.directory = directory
    self.slots = slots
    self.onFailure = onFailure
  }
}
