import JobModel
import Screen

/// The line above the log: whose it is, what is looked for, how long it is, and where the rest of it is kept.
struct LogBar {
  let model: Model
  let theme: Theme

  func draw(_ frame: inout Frame, _ area: Rect) {
    let style = model.focus == .log ? theme.accent : theme.rule
    frame.fill(area, theme.horizontal, style: style)
    guard let lines = model.lines else {
      frame.put(" log ", x: area.x + 2, y: area.y, style: theme.dim)
      return
    }
    let right = facts(lines)
    let rest = rest(lines)
    var x = area.x + 2
    let room = area.width - right.count - 20 - (rest == nil ? 0 : Self.restWidth)
    x += frame.put(title(room: room), x: x, y: area.y, limit: area.width - 4)
    let end = area.maxX - 2
    guard x + right.count + 4 <= end else { return }
    frame.put(" \(right) ", endingAt: end, y: area.y, style: model.log.follows ? theme.dim : theme.bold)
    if let rest { draw(rest, &frame, x: x + 2, end: end - right.count - 4, y: area.y) }
  }

  /// What a long name leaves to the rest.
  private static let restWidth = 28

  private func title(room: Int) -> [Span] {
    if model.showsMerged, let merged = model.merged {
      let kind =
        switch merged.scope {
        case .all: ""
        case .tags: "tagged "
        case .filter: "found "
        }
      return [Span(" log: ", theme.dim), Span(Format.count(merged.jobs, "\(kind)job") + " ", theme.bold)]
    }
    guard let record = model.record else { return [] }
    let attempt = record.attempt.map { " #\($0.number)" } ?? ""
    let name = theme.elision.middle(record.job.name, to: max(6, room))
    return [Span(" log: ", theme.dim), Span(name, theme.bold), Span(attempt + " ", theme.dim)]
  }

  private func facts(_ lines: LogLines) -> String {
    var facts: [String] = []
    if !model.log.query.isEmpty {
      let place = model.log.matchNumber.map { "\($0) of " } ?? ""
      facts.append("/\(theme.elision.end(model.log.query, to: 16)) \(place)\(model.log.matches.count)")
    }
    if model.log.wraps { facts.append("wrap") }
    if model.log.follows { facts.append("follow") }
    if model.newer > 0 { facts.append("\(model.newer) newer") }
    facts.append(Format.count(lines.total, "line"))
    return facts.joined(separator: "  ")
  }

  /// Where the whole is of what is not shown: the rest of the cursor's line, else the lines that have left memory.
  private func rest(_ lines: LogLines) -> (what: String, path: String?)? {
    if model.focus == .log, !model.log.follows, let line = model.currentLine, line.entry.line.isCut {
      return ("cut at 4 KiB", model.logPath(of: line))
    }
    return lines.dropped > 0 ? ("\(lines.dropped) older", model.olderPath) : nil
  }

  private func draw(_ rest: (what: String, path: String?), _ frame: inout Frame, x: Int, end: Int, y: Int) {
    let room = end - x - 2
    guard room >= rest.what.count else { return }
    let left = room - rest.what.count - 4
    let place = rest.path.flatMap { left >= 8 ? " in \(theme.elision.middle($0, to: left))" : nil } ?? ""
    frame.put(" \(rest.what)\(place) ", x: x, y: y, style: theme.held)
  }
}
