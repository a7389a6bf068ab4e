import JobModel

/// The kind of room that an attempt occupies; only slots are limited by the width.
enum Lane: CaseIterable {
  case slots
  case services
  case cluster
}

extension Job {
  /// The lane of the job's attempts.
  var lane: Lane { service != nil ? .services : cluster != nil ? .cluster : .slots }
}

/// A job that waits for its admission to the operation queue; the least is admitted first.
struct ReadyJob: Comparable {
  var level: Int
  var rank: Duration
  var order: Int
  var job: JobID
  var lane: Lane
  /// The job's stamp when it began to wait; an entry with an older stamp is void.
  var stamp: Int

  static func < (left: ReadyJob, right: ReadyJob) -> Bool {
    if left.level != right.level { return left.level > right.level }
    if left.rank != right.rank { return left.rank > right.rank }
    return left.order < right.order
  }
}

/// An attempt of a job in the operation queue.
package struct Admission: Equatable {
  /// Distinguishes late events of an earlier attempt.
  package var ticket: Int
  package var job: JobID
  package var attempt: Int
  package var priority: JobPriority
  /// The node of the allocation for a step; nil for anything else.
  package var node: String?
  /// The attempt to compare with, for one that answers a change of inputs; otherwise nil.
  var earlier: EarlierAttempt?
  /// Whether there is no check of files that may find nothing to do.
  var mustExecute = false
  /// Nil if no end of the attempt closes the run.
  var endRule: EndRule?
}

/// Counts the attempts that end in quick succession.
struct AttemptPace {
  /// Attempts that end at this interval leave the engine the time to admit the next one.
  private static let interval: Duration = .milliseconds(50)

  /// The maximum of the count.
  private let most: Int
  private var level = 0.0
  private var last: Duration = .zero

  init(most: Int) { self.most = most }

  /// The number of attempts that ended faster than one per `interval`.
  var recent: Int { max(0, Int(level) - 1) }

  mutating func ended(at time: Duration) {
    level = min(Double(most), max(0, level - (time - last) / Self.interval) + 1)
    last = time
  }
}
