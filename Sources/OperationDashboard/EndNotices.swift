import Foundation

/// Where it is told that operations of other classes have ended.
///
/// Left to itself an operation queue would use dispatch's global pool, which wakes once a second for ever after to count
/// its threads.
enum EndNotices {
  // Kept for ever, because an operation queue does not keep what it begins its operations on.
  private static let notices = DispatchQueue(label: "opdash.ends")

  /// A queue of its own: one walks past all that waits in it whenever something happens.
  static func queue() -> OperationQueue {
    let queue = OperationQueue()
    queue.underlyingQueue = notices
    return queue
  }
}
