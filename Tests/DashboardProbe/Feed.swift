import Dispatch
import Foundation
import JobEngine
import JobModel
import Operations

/// A run whose facts the probe states, by way of the engine's own journal and hub.
final class Feed: JobFeed {
  private let hub = EventHub()
  private let journal = Lock(RunJournal())
  private let began = DispatchTime.now()

  /// Since the probe began.
  var elapsed: Duration {
    .nanoseconds(Int64(DispatchTime.now().uptimeNanoseconds - began.uptimeNanoseconds))
  }

  func subscribe(on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void) -> JobSubscription {
    journal.withLock { hub.subscribe(to: $0.run, on: queue, receive) }
  }

  /// Commands have no effect.
  func send(_ command: JobCommand) {}

  func post(_ facts: [JobFact], at time: Duration) {
    journal.withLock { journal in
      journal.advance(to: time)
      for fact in facts { journal.state(fact) }
      hub.post(journal.takeEvents())
    }
  }

  func begin(_ jobs: [Job], slots: Int, at time: Duration) {
    let start = RunStart(id: "1", name: "probe", slots: slots, at: Date(timeIntervalSince1970: 0), jobs: jobs.count)
    post([.runStarted(start)] + jobs.enumerated().map { .jobAdded(JobID($0), $1) }, at: time)
  }
}
