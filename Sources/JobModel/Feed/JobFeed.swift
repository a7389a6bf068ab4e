import Dispatch

/// A live run: a snapshot, then every later event, and a way to send commands.
///
/// The dashboard depends on nothing else, so the run may be in another process, or a recording.
package protocol JobFeed: AnyObject, Sendable {
  /// Returns the run as it stands; then `receive` is called on `queue` with every later event, in order.
  ///
  /// Events that occur while a call is pending are delivered in that call. Nothing is delivered after the subscription
  /// is cancelled or released.
  func subscribe(on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void) -> JobSubscription

  /// The time since the run began, on the clock of its events; zero before.
  var elapsed: Duration { get }

  /// From any thread; commands take effect in the order of the calls.
  func send(_ command: JobCommand)

  /// Whether the run is over and is played again: its stop was recorded, and is not asked for now.
  var isReplay: Bool { get }

  /// How many times as fast as the clock of a person `elapsed` runs.
  var speed: Double { get }

  /// How this program is attached to the run of another one, which continues without it; nil for a run of its own.
  var attachment: RunAttachment? { get }
}

/// The access that a program has to the run of another one.
package enum RunAttachment: Sendable, Equatable {
  case full
  /// Commands are refused.
  case readOnly
}

extension JobFeed {
  package var isReplay: Bool { false }
  package var speed: Double { 1 }
  package var attachment: RunAttachment? { nil }

  /// The run as it stands now.
  package var snapshot: Run {
    let subscription = subscribe(on: .main) { _ in }
    defer { subscription.cancel() }
    return subscription.snapshot
  }
}

/// Delivers events until it is cancelled or released.
package final class JobSubscription: Sendable {
  package let snapshot: Run
  private let onCancel: @Sendable () -> Void

  package init(snapshot: Run, onCancel: @escaping @Sendable () -> Void) {
    self.snapshot = snapshot
    self.onCancel = onCancel
  }

  package func cancel() { onCancel() }

  deinit { onCancel() }
}

/// A request of a person or a signal to a run; events answer it.
package enum JobCommand: Sendable, Equatable {
  /// Ends waiting jobs at once, executing jobs by their stop policies.
  case cancel([JobID], by: JobState.Canceller)
  /// Cancels without grace.
  case kill([JobID])
  case pause([JobID])
  case resume([JobID])
  /// Starts new attempts of ended jobs, restarts services, and resets the jobs that were skipped because of them;
  /// `withDependents` also resets cancelled dependents, and restarts the services' users.
  case retry([JobID], withDependents: Bool)
  case setPriority([JobID], JobPriority)
  case setSlots(Int)
  /// Adds slots, or removes them: several of these in a row add up.
  case changeSlots(by: Int)
  /// Adds units to a pool, or removes them, and leaves at least one.
  case changePool(String, by: Int)
  /// Sets the size of the terminals of jobs that have one.
  case setTerminalSize(columns: Int, rows: Int)
  /// Writes the calls of the threads that execute a program's operations to their logs.
  case showStack([JobID])
  /// Lets jobs start that wait for a person.
  case approve([JobID])
  case setDraining(Bool)
  /// Executes jobs again when files that they read change, or no longer.
  case setWatching(Bool)
  /// Executes jobs again because files that they read have changed, with all that needs them; each with one of the files.
  case inputsChanged([JobID: InputChange])
  /// Holds a replay, or resumes it.
  case holdReplay(Bool)
  /// Moves a replay on to the next failure of a job.
  case skipToFailure
  case stop(StopLevel, by: JobState.Canceller)
  /// Ends the run once no job executes; `signal` is the one that ended it, if any.
  case finish(signal: Int32?)
}

/// A change of a file that a job reads.
package struct InputChange: Sendable, Equatable {
  /// In words for a person.
  package var path: String
  /// The absolute path of a file that does not exist any more; nil for another change.
  package var gone: String?
  /// The attempt that may have made it: one that executed at that time.
  package var writer: Writer

  package enum Writer: Sendable {
    case none
    /// The change came so close to the end of the job's newest attempt that the clock of files can't tell.
    case unclear
    /// The newest attempt of the job.
    case own
    /// An attempt that started after that one, and may be its consequence.
    case later
    /// A service, which executes whenever a person saves a file.
    case service
  }

  package init(path: String, gone: String? = nil, writer: Writer = .none) {
    self.path = path
    self.gone = gone
    self.writer = writer
  }
}

extension Run {
  /// The number of slots after `changeSlots`, at least one; without a limit it counts from the attempts in progress.
  package func slots(changedBy change: Int) -> Int {
    max(1, (slots == Run.unlimited ? counts.usedSlots : slots) + change)
  }
}
