import Foundation
import JobModel
import OperationDashboard

/// A scenario with real operations in a real queue.
package struct Performance: Sendable {
  package let feed: QueueFeed
  private let whenStarted: @Sendable () -> Void
  private let story: @Sendable (Run) -> [String]

  init(
    _ feed: QueueFeed, whenStarted: @escaping @Sendable () -> Void = {}, story: @escaping @Sendable (Run) -> [String]
  ) {
    self.feed = feed
    self.whenStarted = whenStarted
    self.story = story
  }

  /// Starts the operations; subscribe before.
  package func start() {
    whenStarted()
    feed.queue.isSuspended = false
    feed.start()
  }

  /// The closing lines, with the times of this run.
  func closing(_ run: Run) -> [String] { story(run) }

  /// A queue whose operations wait for `start`.
  static func queue(_ name: String, width: Int) -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    queue.maxConcurrentOperationCount = width
    queue.isSuspended = true
    return queue
  }
}
