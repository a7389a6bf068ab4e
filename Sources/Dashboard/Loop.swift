import JobModel
import Screen

/// When the next frame is due: pure, so that what never ticks can be shown never to tick.
struct Loop {
  /// Frames that only tell what has happened are at least this far apart.
  static let frameInterval: Duration = .milliseconds(50)
  /// Answers to a person are at least this far apart, from the end of one: a held key or a paste shares them, and a slow
  /// terminal leaves time for the rest.
  static let answerInterval: Duration = .milliseconds(8)
  /// Facts come in swarms: a frame waits this long for the rest of one.
  static let factDelay: Duration = .milliseconds(5)
  /// Facts are folded so many at a time.
  static let portion = 512
  /// After so long the rest of them waits until what else has come is answered.
  static let turn: Duration = .milliseconds(3)
  /// How long the mark of an indeterminate bar stays in one cell.
  static let animationStep: Duration = .milliseconds(250)

  private(set) var lastFrame: Duration?
  private var wanted: Duration?
  /// When the last answer stood on the screen.
  private var lastAnswer: Duration?
  private var isAnswering = false

  /// Something has happened: a frame is due when the rest of it had time to come and the last frame is old enough.
  mutating func wantFacts(at now: Duration) {
    want(max(now + Self.factDelay, lastFrame.map { $0 + Self.frameInterval } ?? now))
  }

  /// A person did something: a frame is due now, or a moment after the answer before.
  mutating func wantAnswer(at now: Duration) {
    isAnswering = true
    want(max(now, lastAnswer.map { $0 + Self.answerInterval } ?? now))
  }

  private mutating func want(_ due: Duration) { wanted = wanted.map { min($0, due) } ?? due }

  /// What the frame shows is of `now`; it stood on the screen at `end`.
  mutating func drew(at now: Duration, until end: Duration) {
    lastFrame = now
    if isAnswering { lastAnswer = end }
    isAnswering = false
    wanted = nil
  }

  /// Whether a frame is due, or what is shown has aged.
  func isDue(_ model: Model, at now: Duration) -> Bool { deadline(model).map { $0 <= now } ?? false }

  /// The instant of the next frame; nil while nothing moves.
  func deadline(_ model: Model) -> Duration? {
    var deadlines: [Duration] = []
    if let wanted { deadlines.append(wanted) }
    if let last = lastFrame {
      if model.isMoving {
        let step: Duration = Self.isAnimated(model) ? Self.animationStep : .seconds(1)
        deadlines.append(last.next(step))
      }
      if let notice = model.notice { deadlines.append(max(notice.until, last + Self.frameInterval)) }
    }
    return deadlines.min()
  }

  /// Whether a bar without a measure is on the screen.
  static func isAnimated(_ model: Model) -> Bool {
    let height = Layout(model).list.height
    guard model.page == .list, height > 0, model.run.counts.executing > 0 else { return false }
    guard model.panel == .list || model.panel == .tree else { return false }
    return (model.top..<max(model.top, min(model.top + height, model.rowCount))).contains { row in
      guard let id = model.job(row: row) else { return false }
      return model.index.classes[id.index] == .executing && model.run.jobs[id.index].progress?.fraction == nil
    }
  }
}

extension Duration {
  /// The first whole multiple of `step` that is later.
  func next(_ step: Duration) -> Duration { step * (Int(self / step) + 1) }
}
