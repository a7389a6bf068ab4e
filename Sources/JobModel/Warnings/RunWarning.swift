/// A state of a run that is most likely a mistake, with the numbers that show it and the remedy.
package struct RunWarning: Sendable, Equatable {
  package var kind: Kind
  /// The jobs that it is about, the most important first; empty if no job of the run is known to be.
  package var jobs: [JobID]
  /// A clause with the numbers at the time when the warning was raised.
  package var evidence: String
  /// A clause that says what to do.
  package var advice: String
  /// When the state began, on the run's clock.
  package var since: Duration

  /// The raw value is the name in events and options.
  package enum Kind: String, Sendable, CaseIterable {
    /// The main queue was busy while handlers waited for it.
    case uiQueueBusy = "ui-queue-busy"
    /// An operation waits for one that no queue has.
    case dependencyInNoQueue = "dependency-in-no-queue"
    /// Operations of other classes wait for each other.
    case dependencyCycle = "dependency-cycle"
    /// Each slot is held by an operation that waits for one without a slot.
    case slotsHeld = "slots-held"
    /// A job executes long after its cancellation.
    case cancelledExecuting = "cancelled-executing"
    /// A job executes longer than usual without progress or output.
    case slowAndSilent = "slow-and-silent"
    /// An operation has finished although it was not executed.
    case finishedUnexecuted = "finished-unexecuted"
    /// `isFinished` is true, and the queue was not notified.
    case finishUnannounced = "finish-unannounced"
    /// Nothing starts although jobs are ready.
    case queueSuspended = "queue-suspended"
    /// Many jobs wait for the one that has the only slot.
    case longLine = "long-line"
    /// Operations take two categories of mutual exclusion in both orders.
    case exclusionOrder = "exclusion-order"
    /// An operation was freed while it executed.
    case releasedUnfinished = "released-unfinished"
  }

  /// A run has at most one warning of a kind about a job.
  package struct Key: Sendable, Hashable {
    package var kind: Kind
    package var job: JobID?

    package init(_ kind: Kind, _ job: JobID?) {
      self.kind = kind
      self.job = job
    }
  }

  /// The most warnings that a run has at a time, and the most jobs of one.
  package static let limits = (warnings: 100, jobs: 20)

  /// Keeps the first jobs only; without `advice`, the kind gives it.
  package init(_ kind: Kind, _ jobs: [JobID], _ evidence: String, advice: String? = nil, since: Duration) {
    self.kind = kind
    self.jobs = Array(jobs.prefix(Self.limits.jobs))
    self.evidence = evidence
    self.advice = advice ?? kind.advice
    self.since = since
  }

  package var key: Key { Key(kind, jobs.first) }
}

extension RunWarning.Kind {
  /// A few words for the row of a job.
  package var short: String {
    switch self {
    case .uiQueueBusy: "UI queue was busy"
    case .dependencyInNoQueue: "needs one in no queue"
    case .dependencyCycle: "in a cycle"
    case .slotsHeld: "slots held by waits"
    case .cancelledExecuting: "still executes"
    case .slowAndSilent: "slow and silent"
    case .finishedUnexecuted: "never executed"
    case .finishUnannounced: "end not announced"
    case .queueSuspended: "queue is suspended"
    case .longLine: "a long line waits"
    case .exclusionOrder: "exclusion order"
    case .releasedUnfinished: "released too early"
    }
  }

  var advice: String {
    switch self {
    case .uiQueueBusy: "move the work off the main queue; only short handlers belong there"
    case .dependencyInNoQueue: "add it to a queue, or remove the dependency"
    case .dependencyCycle: "link them in one direction only; cancelling one of them ends the wait"
    case .slotsHeld: "replace the wait by a dependency, which takes no slot"
    case .cancelledExecuting: "let it check isCancelled, or end its work in didCancel"
    case .slowAndSilent: "find out why, or cancel it"
    case .finishedUnexecuted: "let it become finished only after its queue has started it"
    case .finishUnannounced: "call willChangeValue and didChangeValue for isFinished, or derive it from AsyncOperation"
    case .queueSuspended: "resume the queue"
    case .longLine: "give the queue a greater width, or divide the work"
    case .exclusionOrder: "take the categories in the same order everywhere"
    case .releasedUnfinished: "keep a reference until it has finished, or add it to a queue"
    }
  }
}
