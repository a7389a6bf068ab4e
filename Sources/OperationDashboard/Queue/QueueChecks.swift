import Foundation
import JobModel

/// The times of the checks for mistakes without a notification, and their findings.
///
/// A check follows each change after a while; none is due at rest.
struct QueueChecks {
  /// When the next check is due, on the run's clock.
  private(set) var due: Duration?
  private(set) var lastChange: Duration = .zero
  /// The jobs whose dependencies have not been examined, with the times of their arrival.
  var arrived: [(id: JobID, time: Duration)] = []
  /// Since when the operations are known to be finished that their queue does not know to be.
  var finished: [JobID: Duration] = [:]
  /// The queues without a free slot that waits hold, with the time and the raised warning.
  var held: [ObjectIdentifier: (since: Duration, key: RunWarning.Key?)] = [:]
  /// The operations in no queue that others wait for.
  var strangers: [RunWarning.Key: Operation] = [:]
  /// The operations on each cycle.
  var cycles: [RunWarning.Key: [JobID]] = [:]
  /// The question to the main queue that has not been answered.
  var probe: Probe?
  /// When the last question was asked.
  var probed: Duration?

  struct Probe {
    let sent: Duration
    /// The operations whose handlers waited when the answer was due.
    var waiting: [Operation] = []
  }

  /// The least time between two questions to the main queue.
  static let probeInterval: Duration = .seconds(1)
  /// An operation may be added to a queue so many times later than others may stand still.
  static let arrivalFactor = 5
  /// The most operations that one check examines.
  static let limit = 10_000
  /// The most cycles of dependencies that one check finds.
  static let cycleLimit = 20

  mutating func changed(at now: Duration, _ patience: WarningWatch.Patience) {
    lastChange = now
    expect(now + patience.standstill)
  }

  mutating func expect(_ time: Duration) { due = min(due ?? time, time) }

  mutating func begin() { due = nil }
}
