import Dispatch
import Foundation
import JobEngine
import JobModel
import Operations

/// A run whose events the probe states through the engine's hub.
final class Feed: JobFeed {
  private let hub = EventHub()
  private let clock: any OperationClock
  private let began: Duration

  init(clock: any OperationClock = .system) {
    self.clock = clock
    began = clock.now
  }

  var elapsed: Duration { clock.now - began }

  func subscribe(on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void) -> JobSubscription {
    hub.subscribe(on: queue, receive)
  }

  /// Ignored: the probe states every event itself.
  func send(_ command: JobCommand) {}

  func post(_ facts: [JobFact], at time: Duration) { hub.post(facts.map { ($0, time) }) }

  func begin(_ jobs: [Job], slots: Int, at time: Duration) {
    let start = RunStart(id: "1", name: "probe", slots: slots, at: Date(timeIntervalSince1970: 0), jobs: jobs.count)
    post([.runStarted(start)] + jobs.enumerated().map { .jobAdded(JobID($0), $1) }, at: time)
  }
}
