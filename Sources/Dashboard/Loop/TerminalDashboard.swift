import Basics
import Dispatch
import JobModel
import Screen

/// A run on a terminal: takes events and keys, presents frames and sends commands.
///
/// Everything happens on the main actor. The dashboard never ends the process: `whenDone` is called once it has closed
/// the terminal.
@MainActor
package final class TerminalDashboard {
  private let feed: any JobFeed
  private let terminal: any Terminal
  private var traits: ScreenTraits
  private let clock: any OperationClock
  private let options: DashboardOptions
  private let past: (any RunPast)?

  package nonisolated let prompt = PromptFlag()

  private var model: Model
  private var frames = FrameSchedule()
  /// Events that have been delivered and are not folded yet.
  private var backlog: ArraySlice<JobEvent> = []
  private var subscription: JobSubscription?
  /// Nil before the dashboard runs and after its end.
  private var whenDone: (@MainActor (Departure) -> Void)?
  private var isRunning: Bool { whenDone != nil }
  /// The timer of the next frame and its due time on the run's clock.
  private var alarm: (time: Duration, timer: any OperationTimer)?
  private var title: String?
  private var mark: View.Mark?
  private var terminalSize: Size?
  /// Keeps the dashboard alive while it runs; terminal, feed and clock refer to it weakly.
  private var whileRunning: TerminalDashboard?

  /// The run's time is the feed's; `clock` only times the next frame.
  ///
  /// Without `past`, only the present is shown.
  package init(
    feed: any JobFeed, terminal: any Terminal, traits: ScreenTraits, clock: any OperationClock = .system,
    options: DashboardOptions = DashboardOptions(), past: (any RunPast)? = nil
  ) {
    self.feed = feed
    self.terminal = terminal
    self.traits = traits
    self.clock = clock
    self.options = options
    self.past = past
    model = Model(run: Run(), size: terminal.size, options: options)
  }

  /// Opens the terminal and shows the run; `whenDone` is called once, after the terminal is closed.
  ///
  /// Throws the terminal's error if it cannot be opened; nothing has started then.
  package func run(whenDone: @escaping @MainActor (Departure) -> Void) throws {
    precondition(!isRunning, "a dashboard runs once")
    terminal.setMouse(options.usesMouse)
    try terminal.open { [weak self] input in self?.receive(input) }
    self.whenDone = whenDone
    whileRunning = self
    let subscription = feed.subscribe(on: .main) { [weak self] events in
      MainActor.assumeIsolated { self?.receive(events) }
    }
    self.subscription = subscription
    model = Model(run: subscription.snapshot, size: terminal.size, options: options)
    model.hasPast = past != nil
    (model.isReplay, model.speed) = (feed.isReplay, feed.speed)
    model.attachment = feed.attachment
    if model.isReplay { model.options.keys = options.keys.forReplay }
    draw()
    perform(Update.departure(model))
  }

  /// Closes the terminal until the process is continued: for Ctrl-Z.
  package func suspend() {
    guard isRunning else { return }
    terminal.suspend()
    terminal.invalidate()
    take(.input(.resized(terminal.size)))
  }

  /// Closes the terminal without calling `whenDone`.
  package func close() {
    guard isRunning else { return }
    whenDone = nil
    end()
  }

  /// Shows that the run is no longer recorded, and why.
  package func showUnrecorded(_ reason: String) { take(.unrecorded(reason)) }

  /// Closes the open prompt, as Escape does.
  package func closePrompt() {
    guard model.prompt != nil else { return }
    take(.input(.key(.escape)))
  }

  // MARK: Messages

  private func receive(_ input: TerminalInput) {
    if case .background(let background) = input {
      guard background != traits.background else { return }
      traits.background = background
    }
    take(.input(input))
  }

  private func receive(_ events: [JobEvent]) {
    past?.note(events)
    let isUnderWay = !backlog.isEmpty
    backlog += events
    if !isUnderWay { takeEvents() }
  }

  /// Folds the backlog for at most `FrameSchedule.turn`, then yields the queue to keys that arrived meanwhile.
  private func takeEvents() {
    let began = feed.elapsed
    while isRunning, !backlog.isEmpty {
      guard feed.elapsed - began < FrameSchedule.turn else {
        onMain { self.takeEvents() }
        return
      }
      let portion = Array(backlog.prefix(FrameSchedule.portion))
      backlog.removeFirst(portion.count)
      take(.facts(portion))
    }
    backlog = []
  }

  private func take(_ message: Message) {
    guard isRunning else { return }
    let effects = Update.apply(message, to: &model, now: feed.elapsed)
    prompt.set(model.prompt != nil)
    let isAnswer = if case .facts = message { false } else { true }
    if isAnswer { frames.wantAnswer(at: feed.elapsed) } else { frames.wantFacts(at: feed.elapsed) }
    perform(effects)
    guard isRunning else { return }
    if frames.isDue(model, at: feed.elapsed) { return draw() }
    // The next key acts on the rows after this message, whether or not a frame shows them before.
    if isAnswer { FramePreparation.arrange(&model, now: feed.elapsed) }
    setAlarm()
  }

  private func perform(_ effects: [Effect]) {
    for effect in effects where isRunning {
      switch effect {
      case .send(let command): feed.send(command)
      case .copy(let text): terminal.copy(JobText.written(text))
      case .setMouse(let enabled): terminal.setMouse(enabled)
      case .notify(let text): terminal.notify(options.notice, JobText.clean(text))
      case .redraw: terminal.invalidate()
      case .find(let time): past?.find(time) { [weak self] run in self?.take(.past(run, at: time)) }
      case .leave(let departure): leave(departure)
      }
    }
  }

  // MARK: Frames

  private func setAlarm() {
    let deadline = frames.deadline(model)
    guard deadline != alarm?.time else { return }
    alarm?.timer.cancel()
    alarm = deadline.map { time in
      let wait = max(.zero, time - feed.elapsed)
      let due = feed.elapsed + wait * feed.speed
      let timer = clock.schedule(after: wait, on: .main) { [weak self] in
        MainActor.assumeIsolated { self?.tick(due: due) }
      }
      return (time, timer)
    }
  }

  private func tick(due: Duration) {
    alarm = nil
    guard isRunning else { return }
    // A tick has no effects. The time of a replay that is held or over stands still, but that of a notice passes.
    _ = Update.apply(.tick, to: &model, now: max(feed.elapsed, due))
    draw()
  }

  private func draw() {
    let now = feed.elapsed
    FramePreparation.prepare(&model, now: now)
    terminal.present(View.frame(model, traits, now: now))
    let newTitle = View.title(model)
    if newTitle != title {
      title = newTitle
      terminal.setTitle(JobText.clean(newTitle))
    }
    if let size = model.terminalSize, size != terminalSize {
      terminalSize = size
      feed.send(.setTerminalSize(columns: size.width, rows: size.height))
    }
    let newMark = View.mark(model)
    if newMark != mark {
      mark = newMark
      terminal.setProgress(newMark.percent, failed: newMark.failed)
    }
    frames.drew(at: now, until: feed.elapsed)
    setAlarm()
  }

  // MARK: The end

  private func leave(_ departure: Departure) {
    let done = whenDone.take()
    // The last frame shows the result, on terminals that keep it.
    if departure != .terminalClosed { draw() }
    end()
    done?(departure)
  }

  private func end() {
    subscription?.cancel()
    subscription = nil
    alarm?.timer.cancel()
    alarm = nil
    terminal.close()
    whileRunning = nil
  }
}

/// Whether a prompt is open, for the thread of a signal: Ctrl-C closes the prompt and does not stop the run.
package final class PromptFlag: Sendable {
  private let isOpen = Lock(false)

  package init() {}

  func set(_ isOpen: Bool) { self.isOpen.withLock { $0 = isOpen } }

  /// Returns whether a prompt is open; the next call returns false, so that a second Ctrl-C reaches the run in any case.
  package func take() -> Bool { isOpen.withLock { exchange(&$0, with: false) } }
}
