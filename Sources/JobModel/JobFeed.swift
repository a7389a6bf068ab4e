import Dispatch

/// A live run, seen from its readers: a snapshot, then every event after it, and one door for commands.
///
/// The dashboard knows no more than this, so a run in another process or a recording can stand behind it.
package protocol JobFeed: AnyObject, Sendable {
  /// The run as it stands; then `receive` is called on `queue` with what followed it, in order, none lost or repeated.
  ///
  /// However many events happen while one call is on its way, they come in one call. Nothing is delivered after the
  /// subscription is cancelled or gone.
  func subscribe(on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void) -> JobSubscription

  /// The time since the run began, on the clock of its events; zero before.
  var elapsed: Duration { get }

  /// May be called from any thread; takes effect in the order of the calls.
  func send(_ command: JobCommand)
}

/// Keeps events coming until it is cancelled or released.
package final class JobSubscription: Sendable {
  package let snapshot: Run
  private let onCancel: @Sendable () -> Void

  package init(snapshot: Run, onCancel: @escaping @Sendable () -> Void) {
    self.snapshot = snapshot
    self.onCancel = onCancel
  }

  package func cancel() { onCancel() }

  deinit { onCancel() }
}
