/// The past instants of a run.
package protocol RunPast: AnyObject, Sendable {
  /// Takes the next events of a run in progress, so that they need not be read.
  func note(_ events: [JobEvent])
  /// Calls `receive` on the main queue with the run as it was at `time`; nil where its record can't be read.
  func find(_ time: Duration, _ receive: @escaping @MainActor @Sendable (Run?) -> Void)
}
