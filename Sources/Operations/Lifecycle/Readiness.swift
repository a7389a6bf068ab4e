import Foundation

/// How an operation answers and tells its queue that it may start.
///
/// Foundation has no call that says "you are in a queue now"; its first reading of `isReady` is the only sign of it.
extension AsyncOperation {
  /// Set while Foundation reads `isReady` because it was told to, not because the operation is being added.
  @TaskLocal private static var isTold = false

  /// Answers a reading of `isReady`, as far as our own dependencies and conditions go.
  final func answerReadiness() -> Bool {
    let snapshot = parts.snapshot
    // A queue reads this at every event for all that wait in it: no more than a word is looked at.
    if !snapshot.has(.mayBeQueued), !Self.isTold { mayBeInQueue() }
    guard snapshot.isReady else {
      if !snapshot.has(.wasNotReady) { parts.set(.wasNotReady) }
      return parts.lifecycle.isReady
    }
    // A queue that is being given the operation may have read "not ready" just before it became so, and write that down
    // after it was told better. It then reads once more, but does not act on the answer: so it is told again.
    if snapshot.has(.wasNotReady), !Self.isTold { DispatchQueue.global().async { self.postReadiness() } }
    return true
  }

  /// Makes the queue, if the operation is in one, read `isReady` again.
  final func postReadiness() {
    let snapshot = parts.snapshot
    if snapshot.has(.mayBeQueued), !snapshot.has(.hasSideState), !snapshot.has(.wasNotReady) {
      didChangeValue(forKey: "isReady")
    } else {
      postReadiness { didChangeValue(forKey: "isReady") }
    }
  }

  /// Calls `body`, which makes Foundation read `isReady`.
  final func postReadiness(_ body: () -> Void) { Self.$isTold.withValue(true, operation: body) }
}
