import JobModel

/// The keys that show the run as it was.
enum PastTime {
  /// Moves the shown instant by a hundredth of the run, rounded to a step of the timeline.
  static func scrub(forward: Bool, _ model: inout Model, _ now: Duration) -> [Effect] {
    let end = Self.end(model, now)
    let step = Self.step(end)
    // A display may have been frozen after the end of its run.
    let from = model.wantedPast ?? (model.isFrozen ? min(model.shownTime(now), end) : end)
    let place = from / step
    let next = step * Int(forward ? place.rounded(.down) + 1 : place.rounded(.up) - 1)
    guard next < end else {
      model.setFrozen(false)
      return []
    }
    let isAsking = model.wantedPast != nil
    model.wantedPast = max(.zero, next)
    // One question at a time: the answer asks for the newest instant.
    return isAsking ? [] : [.find(max(.zero, next))]
  }

  /// Shows the answer to `find`, unless the display is live again.
  static func show(_ run: Run?, at time: Duration, _ model: inout Model, _ now: Duration) -> [Effect] {
    guard let wanted = model.wantedPast else { return [] }
    guard let run else {
      model.wantedPast = nil
      model.say("the record of this run can't be read", now)
      return []
    }
    model.show(run, at: time)
    model.reviewPrompt()
    guard wanted != time else {
      model.wantedPast = nil
      return []
    }
    return [.find(wanted)]
  }

  /// The last instant that can be shown.
  static func end(_ model: Model, _ now: Duration) -> Duration {
    let run = model.live
    return run.summary != nil || run.isComplete ? run.time : max(now, run.time)
  }

  /// A hundredth of the run, rounded up to a step of the timeline; at least the tenth of a second that the banner shows.
  static func step(_ end: Duration) -> Duration {
    TimeWindow.steps.first { $0 >= .milliseconds(100) && $0 * 100 >= end } ?? .seconds(86_400)
  }
}
