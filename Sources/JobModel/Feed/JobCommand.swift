/// A request of a person or a signal to a run; events answer it.
package enum JobCommand: Sendable, Equatable {
  /// Ends waiting jobs at once, executing jobs by their stop policies.
  case cancel([JobID], by: JobState.Canceller)
  /// Cancels without grace.
  case kill([JobID])
  case pause([JobID])
  case resume([JobID])
  /// Starts new attempts of ended jobs; `withDependents` also resets the jobs that they caused to be skipped or cancelled.
  case retry([JobID], withDependents: Bool)
  case setPriority([JobID], JobPriority)
  case setSlots(Int)
  case setDraining(Bool)
  case stop(StopLevel, by: JobState.Canceller)
  /// Ends the run once no job executes; `signal` is the one that ended it, if any.
  case finish(signal: Int32?)
}
