import Dispatch
import JobModel
import Screen

/// A run on a terminal: facts and keys in, frames and commands out.
///
/// Everything of it happens on the main actor. It never ends the process: `whenDone` says that it has come to its end,
/// with the terminal closed.
@MainActor
package final class Dashboard {
  private let feed: any JobFeed
  private let terminal: any Terminal
  private var traits: ScreenTraits
  private let clock: any DashboardClock
  private let options: Options

  private var model: Model
  private var loop = Loop()
  /// Facts that have come and are not folded yet.
  private var backlog: ArraySlice<JobEvent> = []
  private var subscription: JobSubscription?
  private var whenDone: (@MainActor (Departure) -> Void)?
  private var alarm: Duration?
  private var title: String?
  private var mark: Mark?
  private var isRunning = false
  /// Terminal, feed and clock hold it weakly; while it runs it holds itself.
  private var whileRunning: Dashboard?

  private struct Mark: Equatable {
    var percent: Int?
    var failed: Bool
  }

  package init(
    feed: any JobFeed, terminal: any Terminal, traits: ScreenTraits, clock: any DashboardClock,
    options: Options = Options()
  ) {
    self.feed = feed
    self.terminal = terminal
    self.traits = traits
    self.clock = clock
    self.options = options
    model = Model(run: Run(), size: terminal.size, options: options)
  }

  /// Takes the terminal over and shows the run; `whenDone` is called once, when the dashboard has left.
  ///
  /// Throws what keeps the terminal from being had; then nothing has begun.
  package func run(whenDone: @escaping @MainActor (Departure) -> Void) throws {
    precondition(!isRunning && self.whenDone == nil, "a dashboard runs once")
    terminal.setMouse(options.usesMouse)
    try terminal.open { [weak self] input in self?.receive(input) }
    self.whenDone = whenDone
    isRunning = true
    whileRunning = self
    let subscription = feed.subscribe(on: .main) { [weak self] events in
      MainActor.assumeIsolated { self?.receive(events) }
    }
    self.subscription = subscription
    model = Model(run: subscription.snapshot, size: terminal.size, options: options)
    draw()
    perform(Update.departure(model))
  }

  /// As `run(whenDone:)`, for a caller that waits.
  package func run() async throws -> Departure {
    try await withCheckedThrowingContinuation { continuation in
      do {
        try run { continuation.resume(returning: $0) }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  /// Gives the terminal back until the process goes on: for Ctrl-Z.
  package func suspend() {
    guard isRunning else { return }
    terminal.suspend()
    terminal.invalidate()
    take(.resized(terminal.size))
  }

  /// Answers Ctrl-C as `q` without a question: once stops, twice kills, three times leaves; a run that is over is left.
  package func interrupt() {
    guard isRunning else { return }
    perform(Update.interrupt(&model))
    loop.wantAnswer(at: clock.now)
    schedule()
  }

  /// Closes the terminal without a word, for a program that has other reasons to end.
  package func close() {
    guard isRunning else { return }
    isRunning = false
    whenDone = nil
    end()
  }

  // MARK: Messages

  private func receive(_ input: TerminalInput) {
    switch input {
    case .key(let key): take(.key(key))
    case .mouse(let event): take(.mouse(event))
    case .paste(let text): take(.paste(text))
    case .resized(let size): take(.resized(size))
    case .background(let background): learn(background)
    case .closed: take(.closed)
    }
  }

  /// Draws with the colours that hold on what the terminal draws on.
  private func learn(_ background: ScreenTraits.Background) {
    guard isRunning, background != traits.background else { return }
    traits.background = background
    loop.wantAnswer(at: clock.now)
    schedule()
  }

  private func receive(_ events: [JobEvent]) {
    let isUnderWay = !backlog.isEmpty
    backlog += events
    if !isUnderWay { takeFacts() }
  }

  /// Folds what has come; of very much a part, so that keys which have come meanwhile have their turn on the queue.
  private func takeFacts() {
    let began = clock.now
    while isRunning, !backlog.isEmpty {
      guard clock.now - began < Loop.turn else {
        DispatchQueue.main.async { MainActor.assumeIsolated { self.takeFacts() } }
        return
      }
      let portion = Array(backlog.prefix(Loop.portion))
      backlog.removeFirst(portion.count)
      take(.facts(portion))
    }
    backlog = []
  }

  private func take(_ message: Message) {
    guard isRunning else { return }
    let effects = Update.apply(message, to: &model, now: clock.now)
    if case .facts = message {
      loop.wantFacts(at: clock.now)
    } else {
      loop.wantAnswer(at: clock.now)
    }
    perform(effects)
    schedule()
  }

  private func perform(_ effects: [Effect]) {
    for effect in effects where isRunning {
      switch effect {
      case .send(let command): feed.send(command)
      case .copy(let text): terminal.copy(text)
      case .setMouse(let enabled): terminal.setMouse(enabled)
      case .notify(let text): terminal.notify(options.notice, text)
      case .redraw: terminal.invalidate()
      case .leave(let departure): leave(departure)
      }
    }
  }

  // MARK: Frames

  /// Draws what is due and sets the one alarm for what comes next.
  private func schedule() {
    guard isRunning else { return }
    if loop.isDue(model, at: clock.now) {
      draw()
    } else {
      setAlarm()
    }
  }

  private func setAlarm() {
    let deadline = loop.deadline(model)
    guard deadline != alarm else { return }
    alarm = deadline
    clock.setAlarm(at: deadline) { [weak self] in self?.ring() }
  }

  private func ring() {
    alarm = nil
    guard isRunning else { return }
    // The alarm is set for frames alone, and a tick has no effects.
    _ = Update.apply(.tick, to: &model, now: clock.now)
    draw()
  }

  private func draw() {
    let now = clock.now
    model.settle(now: now)
    terminal.present(View.frame(model, traits, now: now))
    let newTitle = View.title(model)
    if newTitle != title {
      title = newTitle
      terminal.setTitle(newTitle)
    }
    let (percent, failed) = View.mark(model)
    let newMark = Mark(percent: percent, failed: failed)
    if newMark != mark {
      mark = newMark
      terminal.setProgress(percent, failed: failed)
    }
    loop.drew(at: now, until: clock.now)
    setAlarm()
  }

  // MARK: The end

  private func leave(_ departure: Departure) {
    guard isRunning else { return }
    isRunning = false
    let done = whenDone
    whenDone = nil
    // The last frame holds what the run came to, for terminals that keep it.
    if departure != .terminalClosed { draw() }
    end()
    done?(departure)
  }

  private func end() {
    subscription?.cancel()
    subscription = nil
    alarm = nil
    clock.setAlarm(at: nil) {}
    terminal.close()
    whileRunning = nil
  }
}
