import Dispatch
import Foundation
import JobEngine
import JobModel

/// A run whose facts the probe states, by way of the engine's own hub.
final class Feed: JobFeed {
  private let hub = EventHub()
  private let began = DispatchTime.now()

  /// Since the probe began.
  var elapsed: Duration {
    .nanoseconds(Int64(DispatchTime.now().uptimeNanoseconds - began.uptimeNanoseconds))
  }

  func subscribe(on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void) -> JobSubscription {
    hub.subscribe(on: queue, receive)
  }

  /// Nobody obeys.
  func send(_ command: JobCommand) {}

  func post(_ facts: [JobFact], at time: Duration) { hub.post(facts.map { ($0, time) }) }

  func begin(_ jobs: [Job], slots: Int, at time: Duration) {
    let start = RunStart(id: "1", name: "probe", slots: slots, at: Date(timeIntervalSince1970: 0), jobs: jobs.count)
    post([.runStarted(start)] + jobs.enumerated().map { .jobAdded(JobID($0), $1) }, at: time)
  }
}
