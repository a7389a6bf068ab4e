import Basics
import Dispatch
import JobModel

/// Stops a run on signals, makes the session leave a run that does not end, and ends the process if an output without a
/// reader keeps the session from leaving.
///
/// Waits for neither the main queue nor an output. Any thread may call it.
final class StopController: Sendable {
  /// The time without a taken byte after which the reader of an output is considered gone.
  static let patience: Duration = .milliseconds(800)
  /// As `patience`, for a reader that was considered gone before.
  static let nextPatience: Duration = .milliseconds(100)
  /// How long the session may then take to leave while the terminal's unread output is discarded.
  static let lastPatience: Duration = .milliseconds(400)
  /// The time a session that should leave may take if every output is read: a queue of the run may be blocked, by lack
  /// of memory or by a file system.
  static let longestPatience: Duration = .seconds(10)
  /// How long a session that leaves a run that does not end may take, mostly for its recording.
  static let leavingPatience: Duration = .seconds(3)
  /// How long the jobs of `finally` may take after the others' grace; then they are killed.
  static let finalPatience: Duration = .seconds(60)
  private static let discardInterval: Duration = .milliseconds(5)

  /// The session, as the controller needs it; no closure blocks.
  struct Session: Sendable {
    /// Calls the closure once every queue that writes has finished its present work.
    var whenIdle: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// The number of bytes that the outputs have taken.
    var written: @Sendable () -> Int
    /// Whether an output waits for its reader, so that the session may be waiting for it.
    var isBlocked: @Sendable () -> Bool
    /// Discards the unread output of a full terminal, so that writers continue; returns whether there was one.
    ///
    /// With true, most later output to such a terminal is dropped too.
    var discard: @Sendable (Bool) -> Bool
    /// Leaves with this status although the run has not ended.
    var leave: @Sendable (Int32) -> Void = { _ in }
  }

  private struct State {
    var sequence: StopSequence
    var interrupts = 0
    /// Nil before the run has begun.
    var session: Session?
    /// The causes that came before.
    var early: [StopSequence.Cause] = []
    var subscription: JobSubscription?
    /// How many events of the stopped run have come; nil before it is watched, and once it has ended.
    var events: Int?
    /// Whether only a cluster whose controller is down has jobs of the stopped run.
    var waitsForController = false
    var isWatchingEnd = false
    var isWatchingOutputs = false
    /// The status to leave with, once the session should leave.
    var status: Int32?
    var isClosed = false
  }

  private let feed: any JobFeed
  private let clock: any OperationClock
  private let abandon: @Sendable (ProgramEnd) -> Void
  private let queue = DispatchQueue(label: "opdash.stop")
  private let state: Lock<State>

  /// `abandon` ends the process; `hasView` says whether a dashboard shows the run.
  init(
    _ feed: any JobFeed, hasView: Bool = false, clock: any OperationClock,
    abandon: @escaping @Sendable (ProgramEnd) -> Void
  ) {
    self.feed = feed
    self.clock = clock
    self.abandon = abandon
    state = Lock(
      State(
        sequence: StopSequence(leavesRun: feed.attachment != nil, leavesReplay: feed.isReplay && hasView)))
  }

  /// The signal that has stopped the run.
  var signal: Int32? { state.withLock(\.sequence.signal) }

  /// How the process ends with this status.
  func end(_ status: Int32) -> ProgramEnd { ProgramEnd(status, of: state.withLock(\.sequence.cause)) }

  /// The status that the session should have left with by now.
  var status: Int32? { state.withLock(\.status) }

  /// Handles causes from now on; returns the earlier ones, to be received again.
  func begin(_ session: Session) -> [StopSequence.Cause] {
    state.withLock { state in
      state.session = session
      return exchange(&state.early, with: [])
    }
  }

  /// Sends the commands of a signal; returns the other actions, which are the session's.
  ///
  /// `begin` gets all of them first: a run that the commands end may leave no time afterwards.
  @discardableResult
  func receive(
    _ cause: StopSequence.Cause, _ begin: ([StopSequence.Action]) -> Void = { _ in }
  ) -> [StopSequence.Action] {
    let next = state.withLock { state -> [StopSequence.Action]? in
      guard state.session != nil else {
        state.early.append(cause)
        return nil
      }
      if cause == .interrupt { state.interrupts += 1 }
      let actions = state.sequence.receive(cause)
      // The first of three may have closed a dashboard whose run was complete.
      guard state.interrupts >= 3, let signal = state.sequence.signal else { return actions }
      return [.leave(status: ExitStatus.signal(signal))]
    }
    guard let actions = next else {
      giveUpBeginning(cause)
      return []
    }
    begin(actions)
    for action in actions {
      switch action {
      case .send(let command): feed.send(command)
      case .announce: break
      case .leave(let status): expectToLeave(status)
      }
    }
    if cause == .terminate || cause == .hangup { watchEnd() }
    return actions
  }

  /// Calls `body` once a timer has fired and the queue has come round, which the end of the process may depend on.
  func whenResponsive(_ body: @escaping @Sendable () -> Void) {
    _ = clock.schedule(after: .zero, on: queue) { body() }
  }

  /// Counts an interrupt that `receive` was not called for.
  func countInterrupt() { state.withLock { $0.interrupts += 1 } }

  /// The session has left: the process continues, or ends otherwise.
  func close() {
    let subscription = state.withLock { state in
      state.isClosed = true
      return state.subscription.take()
    }
    subscription?.cancel()
  }

  private var openSession: Session? { state.withLock { $0.isClosed ? nil : $0.session } }

  // MARK: The end

  /// Ends the process if the screen can't be opened in time; nothing has started then.
  private func giveUpBeginning(_ cause: StopSequence.Cause) {
    after(Self.patience) { controller in
      guard controller.state.withLock({ $0.session == nil && !$0.isClosed }) else { return }
      controller.abandon(ProgramEnd(ExitStatus.signal(cause.signal), of: cause))
    }
  }

  /// Ends the run once nothing executes, or makes the process leave when the grace of the executing jobs is over.
  private func watchEnd() {
    let isFirst = !state.withLock { exchange(&$0.isWatchingEnd, with: true) }
    guard isFirst, let signal else { return }
    watchOutputs()
    let subscription = feed.subscribe(on: queue) { [weak self] events in
      self?.state.withLock { $0.events = $0.events.map { $0 + events.count } }
      if events.contains(where: \.fact.mayEndRun) { self?.checkEnd() }
    }
    let run = subscription.snapshot
    state.withLock { state in
      state.subscription = subscription
      state.events = run.summary == nil ? 0 : nil
    }
    let grace = run.ids.filter { run[$0].state.isActive }.map { run[$0].job.work.grace }.max() ?? .zero
    // Read now, because the feed's queue may be blocked later.
    let mayHaveFinal = run.counts.openFinal > 0
    after(grace + Self.patience) { controller in
      guard mayHaveFinal else { return controller.endGrace(signal) }
      controller.after(Self.finalPatience) { controller in
        controller.feed.send(.stop(.kill, by: .signal))
        controller.endGrace(signal)
      }
    }
    checkEnd()
  }

  /// The jobs have had their time to end.
  private func endGrace(_ signal: Int32) {
    expectToLeave(ExitStatus.signal(signal))
    leaveCluster()
  }

  /// Leaves the jobs of a cluster whose controller is down, once their grace is over: it may be down for hours.
  private func leaveCluster() {
    if let status, state.withLock(\.waitsForController) { openSession?.leave(status) }
  }

  private func checkEnd() {
    let run = feed.snapshot
    if let summary = run.summary {
      state.withLock { $0.events = nil }
      expectToLeave(summary.exit)
    } else if run.isIdleAfterStop {
      // The session does the same, unless its queue is blocked.
      feed.send(.finish(signal: signal))
    } else {
      state.withLock { $0.waitsForController = run.waitsForController }
      leaveCluster()
    }
  }

  /// From now on the session should leave with this status.
  private func expectToLeave(_ status: Int32) {
    let isFirst = state.withLock { state in
      defer { state.status = state.status ?? status }
      return state.status == nil
    }
    watchOutputs()
    if isFirst, let session = openSession { watchLeaving(progress(of: session)) }
  }

  private func progress(of session: Session) -> (written: Int, events: Int?) {
    (session.written(), state.withLock(\.events))
  }

  private func watchLeaving(_ before: (written: Int, events: Int?)) {
    after(Self.longestPatience) { controller in
      guard let session = controller.openSession, let status = controller.status else { return }
      let now = controller.progress(of: session)
      // An inline interface draws its clock for as long as a run does not end.
      let isStuck = now.written == before.written || now.events != nil && now.events == before.events
      if !isStuck { return controller.watchLeaving(now) }
      guard now.events != nil else { return controller.abandon(controller.end(status)) }
      session.leave(status)
      controller.after(Self.leavingPatience) { controller in
        if controller.openSession != nil { controller.abandon(controller.end(status)) }
      }
    }
  }

  private func watchOutputs() {
    if !state.withLock({ exchange(&$0.isWatchingOutputs, with: true) }) { checkOutputs() }
  }

  /// Checks whether the outputs are read, repeatedly until the session leaves.
  ///
  /// If a terminal is not read, its output is discarded, so that the jobs' output is taken and the session may leave in
  /// order. If that does not help, a session that should leave is abandoned. `discards` is the number of consecutive
  /// intervals with discarded output; `isInDoubt` says whether the reader was considered gone before.
  private func checkOutputs(discards: Int = 0, isInDoubt: Bool = false) {
    guard let session = openSession else { return }
    let (written, status) = (session.written(), self.status)
    let isIdle = Lock(false)
    session.whenIdle { isIdle.withLock { $0 = true } }
    let check: @Sendable (StopController, Bool) -> Void = { controller, hasDiscarded in
      // Discarded output counts as written.
      let isStuck = !isIdle.withLock { $0 } && (hasDiscarded || session.written() == written)
      if discards > 0, isStuck, session.isBlocked(), let status {
        controller.abandon(controller.end(status))
      } else {
        controller.checkOutputs(
          discards: isStuck || hasDiscarded ? discards + 1 : 0, isInDoubt: isInDoubt || discards > 0)
      }
    }
    if discards > 0 {
      let isForGood = discards > 1 || status != nil
      discardOutput(isForGood: isForGood, until: clock.now + Self.lastPatience, session, check)
    } else {
      after(isInDoubt ? Self.nextPatience : Self.patience) { check($0, false) }
    }
  }

  private func discardOutput(
    isForGood: Bool, until end: Duration, _ session: Session, before: Bool = false,
    _ body: @escaping @Sendable (StopController, Bool) -> Void
  ) {
    let hasDiscarded = session.discard(isForGood) || before
    after(Self.discardInterval) { controller in
      guard controller.openSession != nil else { return }
      guard controller.clock.now < end else { return body(controller, hasDiscarded) }
      controller.discardOutput(isForGood: isForGood, until: end, session, before: hasDiscarded, body)
    }
  }

  private func after(_ delay: Duration, _ body: @escaping @Sendable (StopController) -> Void) {
    // Without a way to cancel it: `isClosed` makes it do nothing.
    _ = clock.schedule(after: delay, on: queue) { [weak self] in if let self { body(self) } }
  }
}

extension JobFact {
  /// Whether the run may end soon after it.
  fileprivate var mayEndRun: Bool {
    switch self {
    case .jobState, .stopRequested, .clusterChanged, .runFinished: true
    default: false
    }
  }
}

extension Run {
  /// Whether all that executes is in a cluster whose controller is down.
  fileprivate var waitsForController: Bool {
    clusterOutage != nil && jobs.allSatisfy { !$0.state.isActive || $0.clusterJob != nil }
  }
}

extension JobWork {
  /// The time from the stop signal to SIGKILL.
  fileprivate var grace: Duration {
    switch self {
    case .shell(let work): work.stop.grace
    // A program's operation has no grace of its own.
    case .operation: ShellWork.Stop().grace
    case .download, .upload, .simulate: .zero
    }
  }
}
