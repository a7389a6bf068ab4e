import JobModel

/// What one attempt of one kind of job does; a new back end is one more of these.
///
/// Every call may come from any thread; `cancel`, `kill`, `pause` and `resume` come only after `start` has returned.
protocol Runner: AnyObject, Sendable {
  /// Begins the work and returns. `report.started` comes first, `report.ended` last and once.
  func start(_ report: AttemptReport)

  /// Ends the work as its job says; `report.ended` follows.
  func cancel()

  /// Ends the work without grace.
  func kill()

  func pause()
  func resume()
}

extension Runner {
  func kill() { cancel() }
}

/// How an attempt ended.
enum AttemptOutcome: Sendable, Equatable {
  case succeeded
  case failed(JobFailure)
  case cancelled
}

/// What a runner tells the engine, from any thread; the engine keeps the order of the calls.
struct AttemptReport: Sendable {
  /// `pid` is the leader of the process group, where there is one.
  var started: @Sendable (_ pid: Int32?) -> Void
  var progress: @Sendable (JobProgress) -> Void
  /// `consumed` is called, from any thread, once the readers have caught up; until then hold more output back.
  var output: @Sendable (_ lines: [LogLine], _ consumed: @escaping @Sendable () -> Void) -> Void
  var ended: @Sendable (AttemptOutcome) -> Void

  func note(_ text: String) { output([LogLine(.note, text)]) {} }
}
