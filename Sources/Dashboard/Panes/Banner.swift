import JobModel
import Screen

/// A line across the screen for urgent information; most of the time there is none.
struct Banner {
  let text: String
  private let style: KeyPath<Theme, Style>

  static func isShown(_ model: Model) -> Bool { model.isFrozen || model.isOver || model.live.stopping != nil }

  init(_ model: Model) {
    let run = model.live
    let quit = model.keys.label(.quit) ?? "Ctrl-C"
    if run.summary == nil, !run.isComplete, let stopping = run.stopping {
      style = \.danger
      let who = Self.running(run, model)
      if stopping.level == .kill {
        text = "Killing \(who)."
      } else {
        switch stopping.by {
        case .person: text = "Stopping; \(quit) again kills \(who)"
        case .signal: text = "Stopping; a second Ctrl-C kills \(who)"
        case .policy: text = "Stopping after a failure; \(quit) kills \(who)"
        case .program: text = "Stopping; \(quit) again leaves \(who)"
        }
      }
    } else if model.isFrozen {
      style = \.warning
      let news = (model.behind?.nextSeq ?? 0) - model.run.nextSeq
      let hint = model.keys.hint(.freeze, "shows it")
      text =
        "FROZEN at \(Format.steadyTime(model.run.time)); the run goes on (\(Format.count(news, "event"))). \(hint)"
    } else {
      style = run.counts.failed > run.counts.allowed ? \.danger : \.good
      text = Self.ending(run, model.keys)
    }
  }

  func draw(_ frame: inout Frame, _ area: Rect, _ theme: Theme) {
    let style = theme[keyPath: style]
    frame.fill(area, style: style)
    frame.put(theme.elision.end(text, to: area.width - 2), x: area.x + 1, y: area.y, style: style)
  }

  /// `3 jobs: fetch, build, api`.
  private static func running(_ run: Run, _ model: Model) -> String {
    var names: [String] = []
    // The index is of the run as shown; a stop ends the freeze, so that this is the live run.
    for id in model.index.open.sorted() where run.jobs[id.index].state.isActive {
      names.append(run.jobs[id.index].job.name)
      if names.count == 8 { break }
    }
    let count = Format.count(run.counts.active, "job")
    if names.isEmpty { return count }
    let more = run.counts.active - names.count
    return "\(count): \(names.joined(separator: ", "))\(more > 0 ? " and \(more) more" : "")"
  }

  private static func ending(_ run: Run, _ keys: KeyMap) -> String {
    let counts = run.counts
    var parts = ["\(counts.succeeded) ok"]
    if counts.failed > counts.allowed { parts.append("\(counts.failed - counts.allowed) failed") }
    if counts.allowed > 0 { parts.append("\(counts.allowed) allowed to fail") }
    if counts.skipped > 0 { parts.append("\(counts.skipped) skipped") }
    if counts.cancelled > 0 { parts.append("\(counts.cancelled) cancelled") }
    let left = run.jobs.count - counts.done
    if left > 0 { parts.append("\(left) left") }
    let canRetry = run.summary == nil && counts.failed + counts.cancelled > 0
    let hints = [canRetry ? keys.hint(.retry, "retries") : "", keys.hint(.quit, "quits")].filter { !$0.isEmpty }
    return
      "Over after \(Format.steadyTime(run.length)): \(parts.joined(separator: ", ")). \(hints.joined(separator: ", "))"
  }
}
