import Foundation

/// The way an operation reports its readiness and notifies its queue when it may start.
///
/// Foundation does not notify an operation that it has been added to a queue; the first reading of `isReady` is the
/// only sign of it.
extension AsyncOperation {
  /// Set while Foundation reads `isReady` after a notification, not because the operation is being added.
  @TaskLocal private static var isTold = false

  /// Answers a reading of `isReady` from the operation's own dependencies and conditions.
  final func answerReadiness() -> Bool {
    let snapshot = parts.snapshot
    // A queue reads `isReady` at every event for all waiting operations, so only one word is loaded.
    if !snapshot.has(.mayBeQueued), !Self.isTold { mayBeInQueue() }
    guard snapshot.isReady else {
      if !snapshot.has(.wasNotReady) { parts.set(.wasNotReady) }
      return parts.lifecycle.isReady
    }
    // A queue that is adding the operation may read "not ready" just before the operation becomes ready, and store that
    // value after the notification. It then reads once more but does not act on the answer, so it is notified again.
    if snapshot.has(.wasNotReady), !Self.isTold { DispatchQueue.global().async { self.postReadiness() } }
    return true
  }

  /// Makes the queue read `isReady` again, if the operation is in one.
  final func postReadiness() {
    let snapshot = parts.snapshot
    if snapshot.has(.mayBeQueued), !snapshot.has(.hasRareState), !snapshot.has(.wasNotReady) {
      didChangeValue(forKey: "isReady")
    } else {
      postReadiness { didChangeValue(forKey: "isReady") }
    }
  }

  /// Calls `body`, which makes Foundation read `isReady`.
  final func postReadiness(_ body: () -> Void) { Self.$isTold.withValue(true, operation: body) }
}
