import JobModel
import Screen

/// Computes when the next frame is due; pure, so that a test can show that nothing ticks while nothing moves.
struct FrameSchedule {
  /// The least time between frames that only show new events.
  static let frameInterval: Duration = .milliseconds(50)
  /// The least time from the end of one answer to a key to the next: a held key or a paste shares answers, and a slow
  /// terminal leaves time for the rest.
  static let answerInterval: Duration = .milliseconds(8)
  /// Events arrive in bursts: a frame waits this long for the rest of one.
  static let factDelay: Duration = .milliseconds(5)
  /// The number of events folded between two looks at the clock.
  static let portion = 512
  /// The longest time to fold events before the queue is yielded.
  static let turn: Duration = .milliseconds(3)

  private(set) var lastFrame: Duration?
  private var wanted: Duration?
  /// When the last answer had been written.
  private var lastAnswer: Duration?
  private var isAnswering = false

  /// Requests a frame for new events: after `factDelay`, and not before the last frame is `frameInterval` old.
  mutating func wantFacts(at now: Duration) {
    want(max(now + Self.factDelay, lastFrame.map { $0 + Self.frameInterval } ?? now))
  }

  /// Requests a frame that answers a person: now, or `answerInterval` after the last answer.
  mutating func wantAnswer(at now: Duration) {
    isAnswering = true
    want(max(now, lastAnswer.map { $0 + Self.answerInterval } ?? now))
  }

  private mutating func want(_ due: Duration) { wanted = wanted.map { min($0, due) } ?? due }

  /// Records a frame that shows the instant `now` and was written by `end`.
  mutating func drew(at now: Duration, until end: Duration) {
    lastFrame = now
    if isAnswering { lastAnswer = end }
    isAnswering = false
    wanted = nil
  }

  func isDue(_ model: Model, at now: Duration) -> Bool { deadline(model).map { $0 <= now } ?? false }

  /// The instant of the next frame; nil while nothing moves.
  func deadline(_ model: Model) -> Duration? {
    var deadlines: [Duration] = []
    if let wanted { deadlines.append(wanted) }
    if let last = lastFrame {
      if model.isMoving {
        let step: Duration = Self.isAnimated(model, at: last) ? Bar.animationStep : .seconds(1)
        deadlines.append(last.next(step))
      }
      if model.path.isPartial { deadlines.append(last + Self.frameInterval) }
      if let notice = model.notice {
        deadlines.append(last + max((notice.until - last) / model.speed, Self.frameInterval))
      }
    }
    return deadlines.min()
  }

  /// Whether an indeterminate bar moves on the screen.
  static func isAnimated(_ model: Model, at now: Duration) -> Bool {
    let height = Layout(model).list.height
    guard !model.isFrozen, model.page == .list, height > 0, model.run.counts.executing > 0 else { return false }
    guard model.panel == .list || model.panel == .tree else { return false }
    return (model.top..<max(model.top, min(model.top + height, model.rowCount))).contains { row in
      guard let id = model.job(row: row) else { return false }
      return model.index.classes[id.index] == .executing && Bar.isIndeterminate(model.run.jobs[id.index], now: now)
    }
  }
}

extension Duration {
  /// The first whole multiple of `step` that is later.
  func next(_ step: Duration) -> Duration { step * (Int(self / step) + 1) }
}
