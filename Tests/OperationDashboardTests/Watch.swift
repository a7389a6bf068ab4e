import Dispatch
import Foundation
import JobModel
import Operations
import Support

@testable import OperationDashboard

/// A feed over a queue, and all that it has stated.
final class Watch: Sendable {
  let queue: OperationQueue
  let feed: QueueFeed
  private let stated = Lock<[JobEvent]>([])
  private let subscription: JobSubscription

  init(
    width: Int = 2, of queue: OperationQueue = OperationQueue(), clock: any OperationClock = .system,
    _ prepare: (OperationQueue) -> Void = { _ in }
  ) {
    self.queue = queue
    queue.maxConcurrentOperationCount = width
    prepare(queue)
    feed = QueueFeed(observing: queue, clock: clock)
    let stated = stated
    subscription = feed.subscribe(on: DispatchQueue(label: "opdash.tests.watch")) { events in
      stated.withLock { $0 += events }
    }
  }

  /// All that has been stated until now; the reader's queue may be behind the run.
  var events: [JobEvent] {
    let count = feed.run.nextSeq
    _ = Support.eventually { stated.withLock { $0.count } >= count }
    return stated.withLock { $0 }
  }
  var run: Run { feed.run }

  func eventually(_ condition: (Run) -> Bool) -> Bool { Support.eventually { condition(feed.run) } }

  /// Whether jobs come and all that have come end; a run without any is complete from its start.
  func completes() -> Bool { eventually { !$0.jobs.isEmpty && $0.isComplete } }

  func record(_ name: String) -> JobRecord? { run.id(named: name).map { run[$0] } }
  func state(_ name: String) -> JobState? { record(name)?.state }
  func id(_ name: String) -> JobID { run.id(named: name) ?? JobID(.max) }

  /// The words of the states that a job has gone through.
  func path(_ name: String) -> [String] {
    let id = id(name)
    return events.compactMap { event in
      guard case .jobState(id, let state, _, _) = event.fact else { return nil }
      return state.word
    }
  }
}

/// Works until it is told that it is done; a cancel ends it.
final class Manual: AsyncOperation, @unchecked Sendable {
  // Safe: constant, and AsyncOperation is safe itself.
  private let endsWhenCancelled: Bool

  init(_ name: String, endsWhenCancelled: Bool = true) {
    self.endsWhenCancelled = endsWhenCancelled
    super.init()
    self.name = name
  }

  override func main() {}
  override func didCancel() { if endsWhenCancelled { finish() } }
}

/// Ends with what it is given.
final class Giving: ResultOperation<Int>, @unchecked Sendable {
  // Safe: constant.
  private let outcomeToGive: Outcome

  init(_ name: String, _ outcome: Outcome) {
    outcomeToGive = outcome
    super.init()
    self.name = name
  }

  override func main() { finish(outcomeToGive) }
}

/// A block that waits until the test opens it.
final class Door: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func open() { semaphore.signal() }

  func block(_ name: String) -> BlockOperation {
    let operation = BlockOperation { self.semaphore.wait() }
    operation.name = name
    return operation
  }
}

struct Trouble: Error, CustomStringConvertible {
  var description: String
}
