import Foundation

/// One fact of a run, stated once, in the past tense, with its number and instant.
package struct JobEvent: Sendable, Equatable {
  /// 0, 1, 2 … without a gap.
  package var seq: Int
  /// Since the run began, on a monotonic clock.
  package var time: Duration
  package var fact: JobFact

  package init(seq: Int, time: Duration, fact: JobFact) {
    self.seq = seq
    self.time = time
    self.fact = fact
  }
}

/// What can happen in a run.
package enum JobFact: Sendable, Equatable {
  indirect case runStarted(RunStart)
  /// Stated for each job, in the order of their identifiers: right after `runStarted` for those that it counts, later for
  /// those that come to a queue which is observed.
  indirect case jobAdded(JobID, Job)
  /// `attempt` is the one in question, 0 before the first; `pid` the process group's leader, for shell jobs that execute.
  case jobState(JobID, JobState, attempt: Int, pid: Int32?)
  /// At most ten a second for each job.
  case jobProgress(JobID, JobProgress)
  case jobLog(JobID, attempt: Int, LogLine)
  /// A person, a signal or a policy ends an attempt; its `jobState` follows when it has ended.
  case cancelRequested(JobID, by: JobState.Canceller, kill: Bool)
  case slotsChanged(Int)
  case priorityChanged(JobID, JobPriority)
  /// While draining, nothing new starts.
  case drainChanged(Bool)
  case stopRequested(StopLevel, by: JobState.Canceller)
  case runFinished(RunSummary)
}

/// What is known when a run begins.
package struct RunStart: Sendable, Equatable {
  package var id: String
  package var name: String
  package var slots: Int
  package var at: Date
  package var jobs: Int
  package var pools: [String: Int]
  /// Where the run's logs are; nil for a run that keeps none.
  package var folder: String?

  package init(
    id: String, name: String, slots: Int, at: Date, jobs: Int, pools: [String: Int] = [:], folder: String? = nil
  ) {
    self.id = id
    self.name = name
    self.slots = slots
    self.at = at
    self.jobs = jobs
    self.pools = pools
    self.folder = folder
  }
}

/// How hard a run is being ended.
package enum StopLevel: String, Sendable, Comparable {
  /// Start nothing new; end what executes as its job says, SIGTERM by default.
  case terminate
  /// SIGKILL to what still executes.
  case kill

  package static func < (left: StopLevel, right: StopLevel) -> Bool { left == .terminate && right == .kill }
}

/// One line of a job's output, cut at 4 KiB; the log file has it whole.
package struct LogLine: Sendable, Equatable {
  package enum Stream: String, Sendable {
    case stdout
    case stderr
    /// Said by opdash about the job: a redirect, a resumed transfer.
    case note
  }

  package static let limit = 4096

  package var stream: Stream
  /// As the job wrote it, escape sequences included, without the line feed; invalid UTF-8 is replaced.
  package var text: String
  /// Whether the line was longer than `limit`.
  package var isCut: Bool

  package init(_ stream: Stream, _ text: String, isCut: Bool = false) {
    self.stream = stream
    self.text = text
    self.isCut = isCut
  }
}
