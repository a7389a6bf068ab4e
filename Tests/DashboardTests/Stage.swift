import Dispatch
import JobModel
import Screen
import Support

@testable import Dashboard

/// A feed that is played by the test and keeps the commands it gets.
final class RecordingFeed: JobFeed, @unchecked Sendable {
  // Safe: the dashboard and the tests use it on the main actor only.
  private(set) var commands: [JobCommand] = []
  private(set) var cancellations = 0
  private var receive: (@Sendable ([JobEvent]) -> Void)?
  var builder: RunBuilder

  init(_ builder: RunBuilder) {
    self.builder = builder
    _ = self.builder.take()
  }

  func subscribe(on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void) -> JobSubscription {
    self.receive = receive
    return JobSubscription(snapshot: builder.run) { [weak self] in
      self?.receive = nil
      self?.cancellations += 1
    }
  }

  var elapsed: Duration { builder.run.time }

  func send(_ command: JobCommand) { commands.append(command) }

  /// States facts and delivers them in one call.
  func play(_ facts: (inout RunBuilder) -> Void) {
    facts(&builder)
    let events = builder.take()
    if !events.isEmpty { receive?(events) }
  }
}

/// A clock that moves when the test says so.
@MainActor
final class ManualClock: DashboardClock {
  private(set) var time: Duration
  private(set) var alarm: Duration?
  private(set) var rings = 0
  private var fire: (@MainActor () -> Void)?
  private let step: Duration

  /// Each look at it takes `step`.
  init(_ now: Duration = .zero, step: Duration = .zero) {
    time = now
    self.step = step
  }

  var now: Duration {
    defer { time += step }
    return time
  }

  func setAlarm(at time: Duration?, _ fire: @escaping @MainActor () -> Void) {
    alarm = time
    self.fire = time == nil ? nil : fire
  }

  /// Rings what is due on the way.
  func advance(by duration: Duration) {
    let end = time + duration
    while let alarm, alarm <= end {
      time = max(time, alarm)
      self.alarm = nil
      rings += 1
      fire?()
    }
    time = max(time, end)
  }
}

/// A dashboard on a terminal and a feed that record.
@MainActor
final class Stage {
  let feed: RecordingFeed
  let terminal: RecordingTerminal
  let clock: ManualClock
  let dashboard: Dashboard
  private(set) var departures: [Departure] = []

  init(
    _ builder: RunBuilder, size: Size = Size(width: 80, height: 24), options: Options = Options(timeZone: .gmt),
    now: Duration? = nil, traits: ScreenTraits = ScreenTraits(isASCII: true, palette: .none)
  ) throws {
    feed = RecordingFeed(builder)
    terminal = RecordingTerminal(size)
    clock = ManualClock(now ?? builder.run.time)
    dashboard = Dashboard(
      feed: feed, terminal: terminal, traits: traits, clock: clock, options: options)
    try dashboard.run { [weak self] in self?.departures.append($0) }
  }

  /// Facts at an instant of the run, which the clock goes to.
  func play(at seconds: Double, _ facts: (inout RunBuilder) -> Void) {
    let time = Duration.milliseconds(Int64(seconds * 1000))
    if time > clock.now { clock.advance(by: time - clock.now) }
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

  /// The first line of the screen that holds `text`.
  func line(with text: String) -> String? {
    self.text.split(separator: "\n").first { $0.contains(text) }.map(String.init)
  }
}

/// A model that a test drives by messages.
struct Bench {
  var model: Model
  var builder: RunBuilder
  var effects: [Effect] = []
  var now: Duration

  init(_ builder: RunBuilder, size: Size = Size(width: 80, height: 24), options: Options = Options(timeZone: .gmt)) {
    self.builder = builder
    _ = self.builder.take()
    now = builder.run.time
    model = Model(run: builder.run, size: size, options: options)
    model.settle(now: now)
  }

  mutating func send(_ message: Message) {
    effects += Update.apply(message, to: &model, now: now)
    model.settle(now: now)
  }

  mutating func press(_ keys: Key...) { for key in keys { send(.key(key)) } }

  mutating func type(_ text: String) { for character in text { send(.key(.character(character))) } }

  mutating func play(_ facts: (inout RunBuilder) -> Void) {
    facts(&builder)
    now = max(now, builder.time)
    send(.facts(builder.take()))
  }

  /// Puts the cursor on a job as a click would.
  mutating func select(_ name: String) {
    model.isCursorTaken = true
    let id = builder.run.id(named: name)
    if let id, case .skipped(let cause) = builder.run[id].state, !model.order.unfolded.contains(cause) {
      model.order.toggle(cause)
    }
    model.moveCursor(to: id)
    model.settle(now: now)
  }

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
