import Foundation
import JobModel
import OperationDashboard

/// A scenario on its way, played with real operations in a real queue.
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

  /// Lets the operations begin, once somebody watches.
  package func start() {
    whenStarted()
    feed.queue.isSuspended = false
    feed.start()
  }

  /// What it showed, with what was measured in this very run.
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
