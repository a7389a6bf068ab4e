import Basics
import Foundation
import JobModel
import Operations

/// The settings of a run that its graph does not have.
package struct JobQueueOptions: Sendable {
  /// The number of jobs at once; nil takes the graph's number, or else the number of processors.
  package var slots: Int?
  package var onFailure: JobGraph.Failure?
  /// The parent of the run's folder; nil keeps no logs.
  package var stateFolder: String?
  /// How many bytes of an attempt's output its log file keeps.
  package var logLimit = LogFile.defaultLimit
  /// Whether each attempt of a shell job with output has a log file.
  ///
  /// Otherwise an attempt that succeeds with up to 4 KiB of output has none if the lines in the events contain every
  /// byte.
  package var keepsShortLogs = true
  /// Decides the jitter of back-offs.
  package var seed: UInt64
  /// The run that this one resumes.
  package var resumes: String?
  /// When the first of the runs that this one resumes began.
  package var resumedSince: Date?
  /// The jobs that the resumed run may have finished without a record of it.
  package var unrecorded: Set<JobID> = []
  /// The jobs that were done before; they succeed at the start, and only a retry executes them.
  package var restored: [JobID: EarlierSuccess]
  /// The hashes of the inputs that restored jobs read, recorded for the next run that resumes this one.
  package var restoredInputs: [JobID: String]
  /// The newest attempt of a job that earlier runs know; called on any thread, and may block.
  ///
  /// Called only for jobs with `creates` or `inputs`.
  package var earlier: @Sendable (JobID) -> EarlierAttempt?
  /// The values that the newest success of the same work wrote for other jobs; nil if unknown; called like `earlier`.
  package var earlierValues: @Sendable (JobID) -> [String: String]? = { _ in nil }
  /// Whether jobs that are up to date are executed too.
  package var executesAll = false
  /// Whether a user can approve jobs during the run; otherwise jobs that ask for approval fail.
  package var canAsk = true
  /// The jobs that are approved from the start.
  package var approved: Set<JobID> = []
  /// Whether the resumed run has unfinished jobs that this run leaves out.
  package var leavesWork = false
  /// Environment variables for the programs of all jobs.
  package var variables: [String: String] = [:]
  /// The flags of the make that executes this program, and its jobserver if that can be used.
  package var makeFlags = MakeFlags([])
  package var makeJobserver: MakeFlags.Jobserver?
  /// Whether jobs are added after the start, until `endArrivals`.
  package var isOpen = false
  /// Reads jobs that are added during the run; nil for a run that takes none.
  package var addedTexts: (any AddedTextReader)?
  /// The texts of the resumed run whose jobs the graph has.
  package var keptTexts: [KeptText] = []
  /// Whether inputs are watched from the start.
  package var isWatching = false
  /// The files of reports and of the output, which are inputs only of a job that names them.
  package var writtenFiles: Set<FileIdentity> = []
  package var silencedWarnings: Set<RunWarning.Kind> = []
  /// Executes the cluster jobs; nil for a run without any.
  package var cluster: (any Cluster)?

  package init(
    slots: Int? = nil, onFailure: JobGraph.Failure? = nil, stateFolder: String? = nil,
    seed: UInt64 = .random(in: .min ... .max), resumes: String? = nil, restored: [JobID: EarlierSuccess] = [:],
    restoredInputs: [JobID: String] = [:],
    earlier: @escaping @Sendable (JobID) -> EarlierAttempt? = { _ in nil }
  ) {
    self.slots = slots
    self.onFailure = onFailure
    self.stateFolder = stateFolder
    self.seed = seed
    self.resumes = resumes
    self.restored = restored
    self.restoredInputs = restoredInputs
    self.earlier = earlier
  }
}
