import Dispatch
import Foundation

/// The operation queues that execute attempts, one for each lane; confined to the engine's queue.
final class Lanes {
  /// A reason to start no attempt.
  enum Hold {
    /// The run is not recorded yet.
    case recording
    case drain
  }

  private let queues: [Lane: OperationQueue]
  private var holds: Set<Hold> = []
  /// The queue on which attempts start, one after another; they execute elsewhere, as many at once as the width allows.
  ///
  /// Without it, an operation queue would use dispatch's global pool, which then wakes once a second to count its
  /// threads. It is kept here because the operation queue does not keep it.
  private let starting = DispatchQueue(label: "opdash.attempts", qos: .userInitiated)

  init(slots: Int, clusterJobs: Int) {
    var queues: [Lane: OperationQueue] = [:]
    for lane in Lane.allCases {
      let queue = OperationQueue()
      queue.name = "opdash.\(lane)"
      queue.underlyingQueue = starting
      queues[lane] = queue
    }
    queues[.slots]?.maxConcurrentOperationCount = slots
    queues[.cluster]?.maxConcurrentOperationCount = clusterJobs
    self.queues = queues
  }

  /// Operations leave a suspended queue only after it is resumed.
  deinit { for queue in queues.values { queue.isSuspended = false } }

  subscript(lane: Lane) -> OperationQueue {
    guard let queue = queues[lane] else { preconditionFailure("each lane has a queue") }
    return queue
  }

  /// Starts no attempt while any hold is set.
  func set(_ hold: Hold, _ isSet: Bool) {
    if isSet { holds.insert(hold) } else { holds.remove(hold) }
    for queue in queues.values { queue.isSuspended = !holds.isEmpty }
  }
}
