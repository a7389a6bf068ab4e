import JobModel

/// A job that waits for its admission to the operation queue; the least is admitted first.
struct ReadyJob: Comparable {
  /// The queue that executes an attempt of the job; the width limits only slots.
  enum Queue {
    case slots
    case services
    case cluster
  }

  var level: Int
  var rank: Duration
  var order: Int
  var job: JobID
  var queue: Queue
  /// The job's stamp when it began to wait; an entry with an older stamp is void.
  var stamp: Int

  static func < (left: ReadyJob, right: ReadyJob) -> Bool {
    if left.level != right.level { return left.level > right.level }
    if left.rank != right.rank { return left.rank > right.rank }
    return left.order < right.order
  }
}
