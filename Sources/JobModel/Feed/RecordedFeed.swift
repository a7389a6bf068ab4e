import Basics
import Dispatch
import Foundation

/// A recorded run that is played again: its events are delivered at their instants, or `speed` times as fast.
///
/// Of the commands that change a run only `stop` and `finish` have an effect: they end it where it is. A recording without an end, as a
/// killed writer leaves it, gets one after its last event.
package final class RecordedFeed: JobFeed {
  private struct State {
    var run = Run()
    /// The events of the current chunk; the ones before `next` are delivered.
    var chunk: [JobEvent] = []
    var next = 0
    var began: Duration?
    /// Where the recording is held, if it is.
    var heldAt: Duration?
    var timer: (any OperationTimer)?
  }

  private let chunks: @Sendable () -> [JobEvent]?
  package let speed: Double
  private let clock: any OperationClock
  private let queue = DispatchQueue(label: "opdash.recording", qos: .userInitiated)
  private let state = Lock(State())
  private let hub = EventHub()
  /// Events are not delivered in more calls than this allows.
  private static let interval = Duration.milliseconds(10)

  /// Plays what `chunks` returns until it returns nil; called on a queue of the feed's own, one call after another.
  package init(
    speed: Double = 1, clock: any OperationClock = .system,
    chunks: @escaping @Sendable () -> [JobEvent]?
  ) {
    precondition(speed > 0 && speed.isFinite, "the speed of a recording is a positive number")
    self.speed = speed
    self.clock = clock
    self.chunks = chunks
  }

  package convenience init(
    _ events: [JobEvent], speed: Double = 1, clock: any OperationClock = .system
  ) {
    let rest = Lock<[JobEvent]?>(events)
    self.init(speed: speed, clock: clock) { rest.withLock { $0.take() } }
  }

  /// Begins to play; subscribe before it to miss nothing.
  package func start() {
    queue.async { [self] in
      let begins = state.withLock { state in
        guard state.began == nil else { return false }
        state.began = clock.now
        return true
      }
      if begins { play() }
    }
  }

  package var isReplay: Bool { true }

  /// Where the recording is; its end once it has ended.
  package var elapsed: Duration { state.withLock(position) }

  private func position(_ state: inout State) -> Duration {
    guard let began = state.began else { return .zero }
    let isOver = state.run.summary != nil
    if let heldAt = state.heldAt, !isOver { return max(state.run.time, heldAt) }
    return isOver ? state.run.time : max(state.run.time, (clock.now - began) * speed)
  }

  package func subscribe(
    on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void
  ) -> JobSubscription {
    state.withLock { hub.subscribe(to: $0.run, on: queue, pace: nil, receive) }
  }

  package func send(_ command: JobCommand) {
    switch command {
    case .finish(let signal): queue.async { self.end(signal: signal) }
    case .stop: queue.async { self.end(signal: nil) }
    case .holdReplay(let isHeld): queue.async { self.hold(isHeld) }
    case .skipToFailure: queue.async { self.skipToFailure() }
    default: break
    }
  }

  // MARK: On the queue

  private func hold(_ isHeld: Bool) {
    let goesOn = state.withLock { state -> Bool in
      guard isHeld != (state.heldAt != nil) else { return false }
      let now = position(&state)
      state.heldAt = isHeld ? now : nil
      move(&state, to: now)
      return !isHeld
    }
    if goesOn { play() }
  }

  /// Continues from an instant of the recording.
  private func move(_ state: inout State, to time: Duration) {
    if state.began != nil { state.began = clock.now - time / speed }
    if state.heldAt != nil { state.heldAt = time }
    state.timer?.cancel()
    state.timer = nil
  }

  /// Plays what precedes the next failure at once, and the failure.
  private func skipToFailure() {
    while true {
      let (isFound, hasMore) = state.withLock { state -> (Bool, Bool) in
        guard state.began != nil, state.run.summary == nil else { return (false, false) }
        let next = state.chunk[state.next...].first { event in
          if case .jobState(_, .failed, _, _) = event.fact { true } else { false }
        }
        // A failure of now is delivered already.
        if let next {
          move(&state, to: next.time)
        } else if let last = state.chunk.last {
          move(&state, to: last.time)
        }
        return (next != nil, next == nil)
      }
      guard isFound || hasMore else { return }
      let before = state.withLock { $0.chunk.first?.seq }
      play()
      // The record ended without another failure.
      if isFound || before == state.withLock({ $0.chunk.first?.seq }) { return }
    }
  }

  /// Delivers the events that are due and sets the timer for the next.
  private func play() {
    while true {
      let isEmpty = state.withLock { state -> Bool in
        guard state.run.summary == nil else { return false }
        let now = position(&state)
        let first = state.next
        while state.next < state.chunk.count, state.chunk[state.next].time <= now { state.next += 1 }
        deliver(state.chunk[first..<state.next], &state)
        guard state.next < state.chunk.count, state.run.summary == nil else { return state.run.summary == nil }
        guard state.heldAt == nil else { return false }
        let wait = max(Self.interval, (state.chunk[state.next].time - now) / speed)
        state.timer?.cancel()
        state.timer = clock.schedule(after: wait, on: queue) { [weak self] in self?.play() }
        return false
      }
      guard isEmpty else { return }
      guard let chunk = chunks() else {
        end(signal: nil)
        return
      }
      state.withLock { ($0.chunk, $0.next) = (chunk, 0) }
    }
  }

  /// States the end of a run that has none yet, and before it the start, where the recording begins later.
  private func end(signal: Int32?) {
    let isUnread = state.withLock { $0.run.start == nil && $0.next == $0.chunk.count }
    if isUnread, let chunk = chunks() { state.withLock { ($0.chunk, $0.next) = (chunk, 0) } }
    state.withLock { state in
      state.timer?.cancel()
      guard state.run.summary == nil else { return }
      if state.run.start == nil {
        let start = state.chunk[state.next...].first { if case .runStarted = $0.fact { true } else { false } }
        let none = JobFact.runStarted(RunStart(id: "", name: "", slots: 1, at: Date(timeIntervalSince1970: 0), jobs: 0))
        deliver([JobEvent(seq: state.run.nextSeq, time: state.run.time, fact: start?.fact ?? none)], &state)
      }
      let summary = RunSummary(of: state.run, signal: signal)
      deliver([JobEvent(seq: state.run.nextSeq, time: state.run.time, fact: .runFinished(summary))], &state)
    }
  }

  private func deliver(_ events: ArraySlice<JobEvent>, _ state: inout State) {
    for event in events { state.run.apply(event) }
    hub.post(Array(events))
  }
}
