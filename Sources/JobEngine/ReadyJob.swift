import JobModel

/// What an attempt occupies; only slots are limited by the width.
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
