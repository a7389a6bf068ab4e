import Basics
import Dispatch
import JobModel
import Reports

/// Delivers a feed's events to the reports on a queue of its own, wakes reports at their time, and notices the run's end.
///
/// A slow reader of the output delays only this queue.
package final class ReportPump: Sendable {
  /// When nothing is left to do in a run but to state its end.
  package enum EndCondition: Sendable {
    /// No job can change any more.
    case complete
    /// A signal has stopped the run and nothing executes; without a signal the end is up to a person, who may still retry.
    case stopped
    /// The feed states its end itself.
    case never

    func isMet(by run: Run) -> Bool {
      guard run.summary == nil, self != .never else { return false }
      let applies = self == .stopped ? run.stopping?.by == .signal : run.stopping != nil
      return (applies && run.isStopped) || (self == .complete && run.isComplete)
    }
  }

  private struct State {
    var reports: ReportSet
    var end: EndCondition
    var subscription: JobSubscription?
    /// The next wake, on the run's clock; it may come earlier than a report asks for, not later.
    var alarm: (time: Duration, timer: any OperationTimer)?
    /// Whether the end may be near.
    var isStopping = false
    /// Each nil once it has been called.
    var whenEnding: (@Sendable () -> Void)?
    var whenFinished: (@Sendable (Run) -> Void)?
  }

  private let feed: any JobFeed
  private let clock: any OperationClock
  private let queue = DispatchQueue(label: "opdash.reports")
  // Used on the queue only, except by `start`.
  private let state: Lock<State>

  /// `showsLogs` has the meaning it has for a `ReportSet`.
  package init(
    _ feed: any JobFeed, reports: [any Report], end: EndCondition = .complete, clock: any OperationClock = .system,
    showsLogs: @escaping @Sendable () -> Bool = { true }
  ) {
    self.feed = feed
    self.clock = clock
    state = Lock(State(reports: ReportSet(reports, showsLogs: showsLogs), end: end))
  }

  /// Must be called before the feed states its first fact, unless the run is another program's; both closures are called on
  /// the queue of the reports.
  ///
  /// `whenEnding` is called at most once, when the end condition is met; the caller then sends `finish`. `whenFinished` is
  /// called once, after the last event, when the reports have written everything.
  package func start(whenEnding: @escaping @Sendable () -> Void, whenFinished: @escaping @Sendable (Run) -> Void) {
    state.withLock { state in
      state.whenEnding = whenEnding
      state.whenFinished = whenFinished
    }
    let subscription = feed.subscribe(on: queue) { [weak self] events in self?.receive(events) }
    precondition(
      subscription.snapshot.nextSeq == 0 || feed.attachment != nil, "the reports were started after the run")
    state.withLock { $0.subscription = subscription }
  }

  private func receive(_ events: [JobEvent]) {
    let (folded, isStopping, end) = state.withLock { state in
      state.reports.receive(events)
      state.isStopping = state.isStopping || events.contains { $0.fact.isEnd }
      return (state.reports.run, state.isStopping, state.end)
    }
    // Without a fold of its own it looks at the feed's, and only where the end may be near: a snapshot costs the feed a copy.
    if let run = folded ?? (isStopping || end == .complete ? feed.snapshot : nil) { checkEnd(of: run) }
    setAlarm()
  }

  private func checkEnd(of run: Run) {
    if run.summary != nil {
      let whenFinished = state.withLock { state in
        state.subscription = nil
        return state.whenFinished.take()
      }
      whenFinished?(run)
    } else if state.withLock(\.end).isMet(by: run) {
      state.withLock { $0.whenEnding.take() }?()
    }
  }

  /// Has the run end as soon as no job can change any more.
  package func endWhenComplete() {
    queue.async { [weak self] in
      guard let self else { return }
      state.withLock { $0.end = .complete }
      checkEnd(of: feed.snapshot)
    }
  }

  /// Has the reports write about a run that the program leaves before its end; waits at most two seconds.
  package func leave(_ run: Run) {
    let _: Void? = BlockingCall.value(within: .seconds(2)) { done in
      queue.async { [self] in done(state.withLock { $0.reports.leave(run) }) }
    }
  }

  /// Calls `body` on the queue of the reports when they have written everything received before.
  package func whenIdle(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  /// Asks the reports again for their wake time, after a change without an event.
  package func poke() { queue.async { [weak self] in self?.setAlarm() } }

  private func setAlarm() {
    state.withLock { state in
      // An alarm that turns out to be too early sets the next one.
      guard let time = state.reports.wakeTime, state.alarm.map({ $0.time > time }) ?? true else { return }
      state.alarm?.timer.cancel()
      let timer = clock.schedule(after: max(.zero, time - feed.elapsed), on: queue) { [weak self] in self?.wake() }
      state.alarm = (time, timer)
    }
  }

  private func wake() {
    let now = feed.elapsed
    state.withLock { state in
      state.alarm = nil
      state.reports.wake(at: now)
    }
    setAlarm()
  }
}

extension JobFact {
  /// Whether the run may end soon after it.
  fileprivate var isEnd: Bool {
    switch self {
    case .stopRequested, .runFinished: true
    default: false
    }
  }
}
