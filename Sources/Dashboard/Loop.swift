import JobModel
import Screen

/// When the next frame is due: pure, so that what never ticks can be shown never to tick.
struct Loop {
  /// Frames are at least this far apart.
  static let frameInterval: Duration = .milliseconds(50)
  /// Facts come in swarms: a frame waits this long for the rest of one.
  static let factDelay: Duration = .milliseconds(5)
  /// How long the mark of an indeterminate bar stays in one cell.
  static let animationStep: Duration = .milliseconds(250)

  private(set) var lastFrame: Duration?
  private var wanted: Duration?

  /// Something changed: a frame is due after `delay`, or as soon as the last one is old enough.
  mutating func want(at now: Duration, after delay: Duration = .zero) {
    let earliest = lastFrame.map { $0 + Self.frameInterval } ?? now
    let due = max(now + delay, earliest)
    wanted = wanted.map { min($0, due) } ?? due
  }

  mutating func drew(at now: Duration) {
    lastFrame = now
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
