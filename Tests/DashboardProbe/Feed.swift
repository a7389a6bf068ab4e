import Dispatch
import Foundation
import JobEngine
import JobModel
import Operations

/// A run whose facts the probe states through the engine's journal and hub.
final class Feed: JobFeed {
  private let hub = EventHub()
  private let journal = Lock(RunJournal())
  private let clock: any OperationClock
  private let began: Duration

  init(clock: any OperationClock = .system) {
    self.clock = clock
    began = clock.now
  }

  var elapsed: Duration { clock.now - began }

  func subscribe(on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void) -> JobSubscription {
    journal.withLock { hub.subscribe(to: $0.run, on: queue, receive) }
  }

  /// Ignored: the probe states every event itself.
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
