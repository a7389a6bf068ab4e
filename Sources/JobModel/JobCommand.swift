/// What a person or a signal may ask of a run; the answer is facts.
package enum JobCommand: Sendable, Equatable {
  /// Ends waiting jobs at once, executing ones as each job's stop policy says.
  case cancel([JobID], by: JobState.Canceller)
  /// Cancels without grace.
  case kill([JobID])
  case pause([JobID])
  case resume([JobID])
  /// A new attempt of ended jobs; `withDependents` also returns to the run what they caused to be skipped or cancelled.
  case retry([JobID], withDependents: Bool)
  case setPriority([JobID], JobPriority)
  case setSlots(Int)
  case setDraining(Bool)
  case stop(StopLevel, by: JobState.Canceller)
  /// States the end of the run once no job executes; `signal` is the one that ended it, if any.
  case finish(signal: Int32?)
}
