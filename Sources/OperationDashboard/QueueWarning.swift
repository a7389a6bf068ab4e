import JobModel
import Operations

/// A mistake that the dashboard warns of; the raw value is its name on the screen and in events.
public enum QueueWarning: String, Sendable, CaseIterable {
  /// The main queue was busy while handlers waited for it.
  case uiQueueBusy = "ui-queue-busy"
  /// An operation waits for one that no queue has.
  case dependencyInNoQueue = "dependency-in-no-queue"
  /// Operations that aren't `AsyncOperation`s wait for each other.
  case dependencyCycle = "dependency-cycle"
  /// Each slot is held by an operation that waits for one without a slot.
  case slotsHeld = "slots-held"
  /// An operation executes long after its cancellation.
  case cancelledExecuting = "cancelled-executing"
  /// An operation executes longer than others of its class did, without progress or output.
  case slowAndSilent = "slow-and-silent"
  /// An operation has finished although it was not executed.
  case finishedUnexecuted = "finished-unexecuted"
  /// `isFinished` is true, and the queue was not notified.
  case finishUnannounced = "finish-unannounced"
  /// The queue is suspended while operations are ready.
  case queueSuspended = "queue-suspended"
  /// Many operations wait for the one that has the only slot.
  case longLine = "long-line"
  /// Groups and their children take two categories of mutual exclusion in both orders.
  case exclusionOrder = "exclusion-order"
  /// An operation was freed while it executed.
  case releasedUnfinished = "released-unfinished"

  var kind: RunWarning.Kind {
    guard let kind = RunWarning.Kind(rawValue: rawValue) else {
      programmerError("no kind of warning is named \(rawValue)")
    }
    return kind
  }
}
