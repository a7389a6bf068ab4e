import Dispatch

/// The source of time of operations, engines and screens, so that a test can replace it.
public protocol OperationClock: Sendable {
  /// Monotonic, since an origin of the clock's own.
  var now: Duration { get }

  /// Calls `body` once when `duration` has passed, unless the timer is cancelled before.
  ///
  /// On `queue`; where that is nil, on a thread of the clock's choice.
  func schedule(
    after duration: Duration, on queue: DispatchQueue?, _ body: @escaping @Sendable () -> Void
  ) -> any OperationTimer
}

extension OperationClock {
  /// Calls `body` once when `duration` has passed, on a thread of the clock's choice, unless the timer is cancelled before.
  public func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> any OperationTimer {
    schedule(after: duration, on: nil, body)
  }

  /// Calls `body` once on the main queue when `duration` has passed, unless the timer is cancelled before.
  @discardableResult
  package func scheduleOnMain(
    after duration: Duration, _ body: @escaping @MainActor @Sendable () -> Void
  ) -> any OperationTimer {
    schedule(after: duration, on: .main) { MainActor.assumeIsolated(body) }
  }
}

/// Calls `body` on the main queue, soon.
package func onMain(_ body: @escaping @MainActor @Sendable () -> Void) {
  DispatchQueue.main.async { MainActor.assumeIsolated(body) }
}

/// A call that a clock is going to make.
public protocol OperationTimer: Sendable {
  /// Prevents the call, unless it has begun; from any thread, any number of times.
  func cancel()
}

/// The machine's monotonic clock; it holds no thread while it waits, and a cancelled timer wakes no thread.
public struct SystemOperationClock: OperationClock {
  private static let origin = ContinuousClock.now

  /// Makes a clock; all of them are the same.
  public init() {}

  /// Since the first use of such a clock in this process.
  public var now: Duration { ContinuousClock.now - Self.origin }

  /// Calls `body` on `queue`, or on a global dispatch queue, at most a millisecond late on an idle machine.
  public func schedule(
    after duration: Duration, on queue: DispatchQueue?, _ body: @escaping @Sendable () -> Void
  ) -> any OperationTimer {
    let source = DispatchSource.makeTimerSource(queue: queue ?? .global())
    // Within the range of dispatch's times.
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

/// A clock that only `advance(by:)` moves, for tests.
public final class ManualOperationClock: OperationClock {
  private struct State {
    var now = Duration.zero
    var timers: [Int: (time: Duration, queue: DispatchQueue?, body: @Sendable () -> Void)] = [:]
    var last = 0
  }

  private let state = Lock(State())

  /// Makes a clock at zero.
  public init() {}

  /// The sum of all advances.
  public var now: Duration { state.withLock(\.now) }

  /// When the timers that have not fired are due, earliest first.
  public var due: [Duration] { state.withLock { $0.timers.values.map(\.time).sorted() } }

  /// Calls `body` from within the `advance(by:)` that reaches its time, even if that is now.
  public func schedule(
    after duration: Duration, on queue: DispatchQueue?, _ body: @escaping @Sendable () -> Void
  ) -> any OperationTimer {
    state.withLock { state in
      state.last += 1
      state.timers[state.last] = (state.now + duration, queue, body)
      return Timer(clock: self, number: state.last)
    }
  }

  /// Advances and makes the calls that come due, each at its own instant, equal ones in the order of scheduling.
  ///
  /// A call without a queue is made on this thread; one with a queue is made there and waited for, or at once from there.
  public func advance(by duration: Duration) {
    let end = now + duration
    while let (number, queue) = reachNext(until: end) {
      // Taken on its queue, from where a cancellation may have come first.
      let call: @Sendable () -> Void = { self.state.withLock { $0.timers.removeValue(forKey: number)?.body }?() }
      if let queue, !Self.isCurrent(queue) { queue.sync(execute: call) } else { call() }
    }
    state.withLock { $0.now = max($0.now, end) }
  }

  /// Asks the queue itself: dispatch may drain the main queue on another thread than the main one.
  private static func isCurrent(_ queue: DispatchQueue) -> Bool {
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    defer { queue.setSpecific(key: key, value: nil) }
    return DispatchQueue.getSpecific(key: key) == true
  }

  private func reachNext(until end: Duration) -> (number: Int, queue: DispatchQueue?)? {
    state.withLock { state in
      guard let next = state.timers.min(by: { ($0.value.time, $0.key) < ($1.value.time, $1.key) }),
        next.value.time <= end
      else { return nil }
      state.now = max(state.now, next.value.time)
      return (next.key, next.value.queue)
    }
  }

  private struct Timer: OperationTimer {
    let clock: ManualOperationClock
    let number: Int

    func cancel() { clock.state.withLock { $0.timers[number] = nil } }
  }
}
