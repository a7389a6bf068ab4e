import Dispatch
import JobEngine
import Operations

/// A clock that stands until a test moves it.
final class ManualClock: JobClock {
  private struct State {
    var now: Duration = .zero
    var timers: [Int: (time: Duration, queue: DispatchQueue, body: @Sendable () -> Void)] = [:]
    var next = 0
  }

  private let state = Lock(State())

  var now: Duration { state.withLock(\.now) }

  /// How many timers are armed.
  var armed: Int { state.withLock { $0.timers.count } }

  func schedule(
    at time: Duration, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
  ) -> any OperationTimer {
    state.withLock { state in
      state.next += 1
      state.timers[state.next] = (time, queue, body)
      return Timer(clock: self, number: state.next)
    }
  }

  /// Moves on, firing on the way what is due, each at its own instant.
  func advance(by duration: Duration) {
    let end = now + duration
    while let due = takeNext(until: end) { due.queue.sync(execute: due.body) }
    state.withLock { $0.now = max($0.now, end) }
  }

  private func takeNext(until end: Duration) -> (queue: DispatchQueue, body: @Sendable () -> Void)? {
    state.withLock { state in
      guard let next = state.timers.min(by: { ($0.value.time, $0.key) < ($1.value.time, $1.key) }),
        next.value.time <= end
      else { return nil }
      state.timers[next.key] = nil
      state.now = max(state.now, next.value.time)
      return (next.value.queue, next.value.body)
    }
  }

  private struct Timer: OperationTimer {
    let clock: ManualClock
    let number: Int

    func cancel() { clock.state.withLock { $0.timers[number] = nil } }
  }
}
