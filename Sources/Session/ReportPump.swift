import Dispatch
import JobModel
import Operations
import Reports

/// Carries a feed's facts to the reports on a queue of its own, wakes those that ask for it, and says when the run is over.
///
/// A slow reader of the output holds up only this queue.
package final class ReportPump: Sendable {
  /// When a run is settled: nothing is left but to state its end.
  package enum Settling: Sendable {
    /// Once no job can change any more.
    case whenComplete
    /// Once a signal has ended it and nothing executes; otherwise a person decides, who may still retry.
    case whenStopped
  }

  private struct State {
    var reports: ReportSet
    var subscription: JobSubscription?
    /// Where the run's clock began, on ours.
    var origin: Duration?
    /// When the earliest wake that is on its way comes, on our clock.
    var wakeDue: Duration?
    var hasSettled = false
    var whenSettled: (@Sendable () -> Void)?
    var whenOver: (@Sendable (Run) -> Void)?
  }

  private struct Ending {
    var run: Run
    var whenOver: @Sendable (Run) -> Void
  }

  private let feed: any JobFeed
  private let settling: Settling
  private let clock: WakeClock
  private let queue = DispatchQueue(label: "opdash.reports")
  // Touched on the queue only, but for the start.
  private let state: Lock<State>

  package init(_ feed: any JobFeed, reports: [any Report], settling: Settling = .whenComplete, clock: WakeClock = .real)
  {
    self.feed = feed
    self.settling = settling
    self.clock = clock
    state = Lock(State(reports: ReportSet(reports)))
  }

  /// Must be called before the feed states its first fact.
  ///
  /// `whenSettled` comes once at most; whoever gets it sends `finish`. `whenOver` comes once, after the fact of the end, when
  /// the reports have written all.
  package func start(whenSettled: @escaping @Sendable () -> Void, whenOver: @escaping @Sendable (Run) -> Void) {
    state.withLock { state in
      state.whenSettled = whenSettled
      state.whenOver = whenOver
    }
    let subscription = feed.subscribe(on: queue) { [weak self] events in self?.receive(events) }
    precondition(subscription.snapshot.nextSeq == 0, "the reports were started after the run")
    state.withLock { $0.subscription = subscription }
  }

  private func receive(_ events: [JobEvent]) {
    guard let last = events.last else { return }
    let now = clock.now()
    let (isSettled, ending) = state.withLock { state -> (Bool, Ending?) in
      let origin = now - last.time
      state.origin = min(state.origin ?? origin, origin)
      state.reports.receive(events)
      return (self.isSettled(&state), Self.ending(&state))
    }
    if let ending {
      ending.whenOver(ending.run)
      return
    }
    if isSettled { state.withLock { $0.whenSettled }?() }
    armWake()
  }

  private func isSettled(_ state: inout State) -> Bool {
    let run = state.reports.run
    guard !state.hasSettled, run.summary == nil else { return false }
    let isDue =
      switch settling {
      case .whenComplete: run.isComplete || (run.stopping != nil && run.counts.active == 0)
      case .whenStopped: run.stopping?.by == .signal && run.counts.active == 0
      }
    if isDue { state.hasSettled = true }
    return isDue
  }

  private static func ending(_ state: inout State) -> Ending? {
    guard state.reports.run.summary != nil, let whenOver = state.whenOver else { return nil }
    state.whenOver = nil
    state.subscription = nil
    return Ending(run: state.reports.run, whenOver: whenOver)
  }

  /// Has the reports asked anew when they want to be woken, for what is no fact of the run.
  package func poke() { queue.async { [weak self] in self?.armWake() } }

  /// One wake is on its way, or several where a later one wanted to be earlier: one that comes in vain arms the next.
  private func armWake() {
    let wake = state.withLock { state -> (due: Duration, wait: Duration)? in
      guard let origin = state.origin, let time = state.reports.wakeTime else { return nil }
      let due = origin + time
      if let known = state.wakeDue, known <= due { return nil }
      state.wakeDue = due
      return (due, max(.zero, due - clock.now()))
    }
    guard let wake else { return }
    clock.wake(wake.wait, queue) { [weak self] in self?.wake(due: wake.due) }
  }

  private func wake(due: Duration) {
    state.withLock { state in
      if state.wakeDue == due { state.wakeDue = nil }
      if let origin = state.origin { state.reports.wake(at: clock.now() - origin) }
    }
    armWake()
  }
}

/// A monotonic clock that can call back; tests have one that they move by hand.
package struct WakeClock: Sendable {
  package var now: @Sendable () -> Duration
  /// Calls the closure on the queue after the wait.
  package var wake:
    @Sendable (_ after: Duration, _ queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) -> Void

  package static let real = WakeClock(
    now: { .nanoseconds(Int64(DispatchTime.now().uptimeNanoseconds)) },
    wake: { wait, queue, body in
      let nanoseconds = wait.components.seconds * 1_000_000_000 + wait.components.attoseconds / 1_000_000_000
      queue.asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds)), execute: body)
    })
}
