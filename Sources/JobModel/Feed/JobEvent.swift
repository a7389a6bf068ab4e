import Foundation

/// A fact of a run with its number and instant.
package struct JobEvent: Sendable, Equatable {
  /// 0, 1, 2 … without a gap.
  package var seq: Int
  /// Since the run began, on a monotonic clock.
  package var time: Duration
  package var fact: JobFact
  /// The run as of this event, which replaces the fold; only events that stand for missed ones have it.
  package var standing: Standing?

  package init(seq: Int, time: Duration, fact: JobFact, standing: Standing? = nil) {
    self.seq = seq
    self.time = time
    self.fact = fact
    self.standing = standing
  }

  /// A run behind a reference: nearly no event has one.
  package final class Standing: Sendable, Equatable {
    package let run: Run

    package init(_ run: Run) { self.run = run }

    package static func == (left: Standing, right: Standing) -> Bool { left.run == right.run }
  }
}

/// Something that has happened in a run.
package enum JobFact: Sendable, Equatable {
  indirect case runStarted(RunStart)
  /// One for each job, in the order of identifiers: right after `runStarted` for the jobs that it counts, later for
  /// operations that are added to an observed queue. A parent comes before its children.
  case jobAdded(JobID, Job)
  /// `attempt` is 0 before the first; `pid` is the leader of the process group of an executing shell job, if it is known yet.
  case jobState(JobID, JobState, attempt: Int, pid: Int32?)
  /// The newest attempt, which is active, has this process: its program starts after a check or a pause, or its start was
  /// stated before the program was there.
  case jobLaunched(JobID, pid: Int32)
  /// The job succeeded in an earlier run and is not executed; `jobState(.succeeded(upToDate: true))` follows.
  indirect case jobRestored(JobID, EarlierSuccess)
  /// Why the attempt with this number is made, as in `src/main.c has changed`; before the attempt begins.
  case jobCaused(JobID, attempt: Int, String)
  /// The hash of an attempt's inputs, taken before the attempt begins; only for jobs with `inputs`.
  case inputsHashed(JobID, String)
  /// The values that its newest attempt wrote to `$OPDASH_OUTPUT`.
  case jobOutputs(JobID, [String: String])
  /// The cluster has accepted its newest attempt, or given it nodes.
  indirect case jobPlaced(JobID, ClusterPlace)
  /// At most ten a second for each job.
  case jobProgress(JobID, JobProgress)
  /// A line that replaces the unfinished one of its stream and attempt, if there is one.
  case jobLog(JobID, attempt: Int, LogLine)
  /// A line that the program itself wrote to its standard output or error while a dashboard had the terminal.
  case programLog(LogLine)
  /// An attempt is to be ended; a `jobState` follows when it has ended.
  case cancelRequested(JobID, by: JobState.Canceller, kill: Bool)
  case slotsChanged(Int)
  case poolChanged(String, Int)
  /// The cluster's controller does not answer, with the sentence that its tools gave, or answers again.
  case clusterChanged(fault: String?)
  /// No job is added any more to a run that began open.
  case arrivalsEnded
  case priorityChanged(JobID, JobPriority)
  /// While draining, nothing new starts.
  case drainChanged(Bool)
  /// While inputs are watched, jobs whose inputs change are executed again, and the run does not end by itself; `fault`
  /// says why they can't be watched.
  case watchChanged(Bool, fault: String?)
  case stopRequested(StopLevel, by: JobState.Canceller)
  /// A new warning, or other numbers of one that was raised before.
  indirect case warningRaised(RunWarning)
  /// A warning is no longer true.
  case warningCleared(RunWarning.Key)
  indirect case runFinished(RunSummary)
}

extension JobFact {
  /// The job that it is about; nil for a fact about the run.
  package var job: JobID? {
    switch self {
    case .jobAdded(let id, _), .jobState(let id, _, _, _), .jobLaunched(let id, _), .jobRestored(let id, _),
      .jobCaused(let id, _, _), .inputsHashed(let id, _), .jobOutputs(let id, _), .jobPlaced(let id, _),
      .jobProgress(let id, _),
      .jobLog(let id, _, _), .cancelRequested(let id, _, _), .priorityChanged(let id, _):
      id
    case .warningRaised(let warning): warning.jobs.first
    case .warningCleared(let key): key.job
    case .runStarted, .programLog, .slotsChanged, .poolChanged, .clusterChanged, .arrivalsEnded, .drainChanged,
      .watchChanged,
      .stopRequested, .runFinished:
      nil
    }
  }
}

/// The properties of a run that are known at its start.
package struct RunStart: Sendable, Equatable {
  package var id: String
  package var name: String
  package var slots: Int
  /// To the millisecond.
  package var at: Date
  package var jobs: Int
  package var pools: [String: Int]
  /// The folder of the log files; nil for a run without log files.
  package var folder: String?
  /// The run that this one resumes.
  package var resumes: String?
  /// The limit of the whole run.
  package var timeout: Duration?
  /// Whether jobs are added until `arrivalsEnded`.
  package var isOpen: Bool

  package init(
    id: String, name: String, slots: Int, at: Date, jobs: Int, pools: [String: Int] = [:], folder: String? = nil,
    resumes: String? = nil, timeout: Duration? = nil, isOpen: Bool = false
  ) {
    self.id = id
    self.name = name
    self.slots = slots
    self.at = at.wholeMilliseconds
    self.jobs = jobs
    self.pools = pools
    self.folder = folder
    self.resumes = resumes
    self.timeout = timeout
    self.isOpen = isOpen
  }
}

/// How a run that is being stopped ends its executing jobs.
package enum StopLevel: String, Sendable, Comparable {
  /// By each job's stop policy, SIGTERM by default; nothing new starts.
  case terminate
  /// With SIGKILL.
  case kill

  package static func < (left: StopLevel, right: StopLevel) -> Bool { left == .terminate && right == .kill }
}
