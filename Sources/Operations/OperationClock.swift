import Foundation

/// Where operations have their time from, so that a test can be the one who moves it.
public protocol OperationClock: Sendable {
  /// Calls `body` once when `duration` has passed, on whatever thread, unless the timer is cancelled before.
  func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> any OperationTimer
}

/// What a clock gives for a call that is to come.
public protocol OperationTimer: Sendable {
  /// Keeps the call from being made, unless it has begun; from any thread, any number of times.
  func cancel()
}

/// The machine's monotonic clock; it holds no thread while it waits, and a cancelled timer wakes nobody.
public struct SystemOperationClock: OperationClock {
  /// Makes a clock; all of them are the same.
  public init() {}

  /// Calls `body` on a global dispatch queue, a millisecond late at most on an idle machine.
  public func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> any OperationTimer {
    schedule(after: duration, on: .global(), body)
  }

  /// Calls `body` on `queue`, a millisecond late at most on an idle machine.
  package func schedule(
    after duration: Duration, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
  ) -> any OperationTimer {
    let source = DispatchSource.makeTimerSource(queue: queue)
    // As long as dispatch can count: what is later never comes.
    let seconds = min(max(0, duration / .seconds(1)), 1e9)
    source.schedule(deadline: .now() + seconds, leeway: .milliseconds(1))
    source.setEventHandler {
      source.cancel()
      body()
    }
    source.activate()
    return Timer(source: source)
  }

  private struct Timer: OperationTimer, @unchecked Sendable {
    // Safe: dispatch sources may be cancelled from any thread.
    let source: any DispatchSourceTimer

    func cancel() { source.cancel() }
  }
}

extension OperationClock where Self == SystemOperationClock {
  /// The machine's monotonic clock.
  public static var system: SystemOperationClock { SystemOperationClock() }
}

/// A clock that stands until `advance(by:)` moves it, for tests.
public final class ManualOperationClock: OperationClock {
  private struct State {
    var now = Duration.zero
    var timers: [Int: (time: Duration, body: @Sendable () -> Void)] = [:]
    var last = 0
  }

  private let state = Lock(State())

  /// Makes a clock that stands at zero.
  public init() {}

  /// How far it has been moved.
  public var now: Duration { state.withLock(\.now) }

  /// When the timers that have not fired are due, the first first.
  public var due: [Duration] { state.withLock { $0.timers.values.map(\.time).sorted() } }

  /// Calls `body` from within the `advance(by:)` that comes to its time, even if that is now.
  public func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> any OperationTimer {
    state.withLock { state in
      state.last += 1
      state.timers[state.last] = (state.now + duration, body)
      return Timer(clock: self, number: state.last)
    }
  }

  /// Moves on and calls on this thread what comes due, each at its own instant, equals in the order in which they were set.
  public func advance(by duration: Duration) {
    let end = now + duration
    while let body = takeNext(until: end) { body() }
    state.withLock { $0.now = max($0.now, end) }
  }

  private func takeNext(until end: Duration) -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard let next = state.timers.min(by: { ($0.value.time, $0.key) < ($1.value.time, $1.key) }),
        next.value.time <= end
      else { return nil }
      state.timers[next.key] = nil
      state.now = max(state.now, next.value.time)
      return next.value.body
    }
  }

  private struct Timer: OperationTimer {
    let clock: ManualOperationClock
    let number: Int

    func cancel() { clock.state.withLock { $0.timers[number] = nil } }
  }
}
