/// Keeps one observation alive: it ends when the token is cancelled or the last reference to the token goes away.
///
/// After `cancel()` on the queue that the observation is delivered on, the handler is never called again. After
/// `cancel()` on another thread no call begins, but one that has begun may still be under way.
public final class ObservationToken: Sendable {
  private let observation: Lock<OperationObservation?>

  init(_ observation: OperationObservation?) { self.observation = Lock(observation) }

  deinit { cancel() }

  /// Ends the observation and lets go of its handler; from any thread, any number of times.
  public func cancel() {
    let observation = observation.withLock { observation in
      defer { observation = nil }
      return observation
    }
    observation?.end()
  }
}
