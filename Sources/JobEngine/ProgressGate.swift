import JobModel

/// Lets at most ten reports a second and job through; the newest of those held back follows when its time has come.
package struct ProgressGate {
  package static let interval = Duration.milliseconds(100)

  private var last: [Duration?]
  private var held: [JobID: JobProgress] = [:]
  /// When the oldest of `held` may go; later ones may go with it, at most one interval late.
  package private(set) var nextWake: Duration?

  package init(jobs: Int) { last = Array(repeating: nil, count: jobs) }

  /// Makes room for jobs that have come.
  package mutating func grow(to jobs: Int) {
    if jobs > last.count { last += Array(repeating: nil, count: jobs - last.count) }
  }

  /// The report, if it may go now.
  package mutating func report(_ progress: JobProgress, of job: JobID, now: Duration) -> JobProgress? {
    guard let last = last[job.index], now - last < Self.interval else {
      self.last[job.index] = now
      held[job] = nil
      if held.isEmpty { nextWake = nil }
      return progress
    }
    held[job] = progress
    nextWake = nextWake.map { min($0, last + Self.interval) } ?? last + Self.interval
    return nil
  }

  /// What is held for a job that ends, and a clean start for its next attempt.
  package mutating func flush(_ job: JobID) -> JobProgress? {
    defer {
      last[job.index] = nil
      if held.isEmpty { nextWake = nil }
    }
    return held.removeValue(forKey: job)
  }

  /// Those whose time has come.
  package mutating func due(now: Duration) -> [(JobID, JobProgress)] {
    guard let wake = nextWake, wake <= now else { return [] }
    var due: [(JobID, JobProgress)] = []
    nextWake = nil
    for (job, progress) in held.sorted(by: { $0.key < $1.key }) {
      let time = (last[job.index] ?? .zero) + Self.interval
      if time <= now {
        due.append((job, progress))
        held[job] = nil
        last[job.index] = now
      } else {
        nextWake = nextWake.map { min($0, time) } ?? time
      }
    }
    return due
  }
}
