import Basics
import Dispatch
import JobModel
import Screen
import Support

@testable import Dashboard

/// A feed whose events and time the test states, and which records the commands it receives.
final class RecordingFeed: JobFeed, @unchecked Sendable {
  // Safe: the dashboard and the tests use it on the main actor only.
  private(set) var commands: [JobCommand] = []
  private(set) var cancellations = 0
  private var receive: (@Sendable ([JobEvent]) -> Void)?
  var builder: RunBuilder
  let clock = ManualOperationClock()
  /// The run's time at the clock's origin.
  private var origin: Duration
  private let step: Duration
  var speed = 1.0
  /// Where the run's time stands still, as in a replay that is held or over.
  var end: Duration?

  /// Each look at `elapsed` takes `step`.
  init(_ builder: RunBuilder, now: Duration = .zero, step: Duration = .zero) {
    self.builder = builder
    origin = now
    self.step = step
    _ = self.builder.take()
  }

  func subscribe(on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void) -> JobSubscription {
    self.receive = receive
    return JobSubscription(snapshot: builder.run) { [weak self] in
      self?.receive = nil
      self?.cancellations += 1
    }
  }

  var elapsed: Duration {
    defer { origin += step }
    let time = origin + clock.now * speed
    return end.map { min(time, $0) } ?? time
  }

  /// The run's times at which the clock's timers fire.
  var alarms: [Duration] { clock.due.map { origin + $0 } }

  func send(_ command: JobCommand) { commands.append(command) }

  /// States facts and delivers their events in one call.
  func play(_ facts: (inout RunBuilder) -> Void) {
    facts(&builder)
    let events = builder.take()
    if !events.isEmpty { receive?(events) }
  }
}

/// A dashboard with a recording terminal and feed.
@MainActor
final class Stage {
  let feed: RecordingFeed
  let terminal: RecordingTerminal
  let dashboard: TerminalDashboard
  private(set) var departures: [Departure] = []

  init(
    _ builder: RunBuilder, size: Size = Size(width: 80, height: 24),
    options: DashboardOptions = DashboardOptions(timeZone: .gmt),
    now: Duration? = nil, traits: ScreenTraits = ScreenTraits(isASCII: true, palette: .none),
    past: (any RunPast)? = nil
  ) throws {
    feed = RecordingFeed(builder, now: now ?? builder.run.time)
    terminal = RecordingTerminal(size)
    dashboard = TerminalDashboard(
      feed: feed, terminal: terminal, traits: traits, clock: feed.clock, options: options, past: past)
    try dashboard.run { [weak self] in self?.departures.append($0) }
  }

  // A running dashboard keeps itself.
  deinit {
    DispatchQueue.main.async { [dashboard] in MainActor.assumeIsolated { dashboard.close() } }
  }

  /// A stage with jobs that wait, one second after the first frame.
  static func idle(_ jobs: Int) throws -> Stage {
    let stage = try Stage(RunBuilder((0..<jobs).map { .shell("job-\($0)") }))
    stage.clock.advance(by: .seconds(1))
    return stage
  }

  var clock: ManualOperationClock { feed.clock }
  /// The number of frames presented.
  var frames: Int { terminal.frames.count }

  func frames(during body: () -> Void) -> Int {
    let before = frames
    body()
    return frames - before
  }

  /// States facts at an instant of the run, to which the clock is advanced.
  func play(at seconds: Double, _ facts: (inout RunBuilder) -> Void) {
    let time = Duration.milliseconds(Int64(seconds * 1000))
    if time > feed.elapsed { clock.advance(by: time - feed.elapsed) }
    feed.builder.at(seconds)
    feed.play(facts)
    clock.advance(by: .milliseconds(60))
  }

  func press(_ keys: Key...) {
    for key in keys {
      terminal.send(.key(key))
      clock.advance(by: .milliseconds(60))
    }
  }

  func type(_ text: String) { for character in text { press(.character(character)) } }

  var text: String { terminal.shown?.text ?? "" }

  func line(_ row: Int) -> String { terminal.shown?.text(row: row) ?? "" }

  /// The first line of the screen that contains `text`.
  func line(with text: String) -> String? {
    self.text.split(separator: "\n").first { $0.contains(text) }.map(String.init)
  }
}

extension Panel {
  /// The default key that shows the panel.
  var key: Key {
    switch self {
    case .list: .character("1")
    case .tree: .character("2")
    case .timeline: .character("3")
    case .critical: .character("4")
    case .events: .character("5")
    }
  }
}

/// A model that a test drives by messages.
struct Bench {
  var model: Model
  var builder: RunBuilder
  var effects: [Effect] = []
  var now: Duration

  init(
    _ builder: RunBuilder, size: Size = Size(width: 80, height: 24),
    options: DashboardOptions = DashboardOptions(timeZone: .gmt)
  ) {
    self.builder = builder
    _ = self.builder.take()
    now = builder.run.time
    model = Model(run: builder.run, size: size, options: options)
    FramePreparation.prepare(&model, now: now)
  }

  mutating func send(_ message: Message) {
    effects += Update.apply(message, to: &model, now: now)
    FramePreparation.prepare(&model, now: now)
  }

  mutating func send(_ input: TerminalInput) { send(.input(input)) }

  mutating func press(_ keys: Key...) { for key in keys { send(.key(key)) } }

  mutating func type(_ text: String) { for character in text { send(.key(.character(character))) } }

  mutating func play(_ facts: (inout RunBuilder) -> Void) {
    facts(&builder)
    now = max(now, builder.time)
    send(.facts(builder.take()))
  }

  /// Moves the cursor to a job as a click does.
  mutating func select(_ name: String) {
    model.isCursorTaken = true
    let id = builder.run.id(named: name)
    if let id, case .skipped(.job(let cause)) = builder.run[id].state, !model.order.unfolded.contains(cause) {
      model.order.toggle(cause)
    }
    model.moveCursor(to: id)
    FramePreparation.prepare(&model, now: now)
  }

  /// A job named `talker` that executes and has written these lines.
  static func talker(_ lines: [String], size: Size = Size(width: 80, height: 24)) -> Bench {
    var builder = RunBuilder([.shell("talker")])
    builder.at(1)
    builder.move("talker", .executing)
    for line in lines { builder.log("talker", line) }
    return Bench(builder, size: size)
  }

  /// The texts that have been copied to the clipboard.
  var copies: [String] { effects.compactMap { if case .copy(let text) = $0 { text } else { nil } } }

  var commands: [JobCommand] {
    effects.compactMap { if case .send(let command) = $0 { command } else { nil } }
  }

  func names(_ ids: [JobID]) -> [String] { ids.map { builder.run[$0].job.name } }

  var rows: [String] { names(model.order.rows) }
  var cursor: String? { model.record?.job.name }

  func frame(_ traits: ScreenTraits = ScreenTraits(isASCII: true, palette: .none)) -> Frame {
    View.frame(model, traits, now: now)
  }
}
