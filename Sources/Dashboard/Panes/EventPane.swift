import JobModel
import Screen

/// The events of the run, the newest at the bottom.
struct EventPane {
  let model: Model
  let theme: Theme

  func draw(_ frame: inout Frame, _ layout: Layout) {
    let area = layout.list
    let names = min(max(8, model.index.longestName), area.width * 35 / 100)
    if !layout.titles.isEmpty { drawTitles(&frame, layout.titles, names) }
    let count = model.events.rows.count
    // While the list follows, or its run has no chosen event yet, it has no cursor of its own.
    let cursorRow = model.events.chosen == nil ? nil : model.cursorRow
    for row in min(model.top, count)..<min(model.top + area.height, count) {
      let place = Rect(x: area.x, y: area.y + row - model.top, width: area.width, height: 1)
      drawRow(model.events[row], &frame, place, names)
      if row == cursorRow { theme.highlight(place, focused: model.focus == .list, &frame) }
    }
    if count == 0 {
      frame.put(
        model.filter.isEmpty ? "no event yet" : "no event matches", x: area.x + 3, y: area.y,
        style: theme.dim)
    }
    let lost = model.events.lost
    let left = model.top > 0 ? "\(theme.pick("▴", "^")) \(model.top) above" : ""
    let older = lost > 0 && model.top == 0 ? "\(lost) older ones are not kept" : left
    LastLine(model: model, theme: theme).draw(
      [TextSpan(older, theme.dim)], &frame, layout.more, order: model.events.follows ? "following" : "")
  }

  private static let nameAt = 11
  /// The blanks between name and event.
  private static let gap = 2

  private func drawTitles(_ frame: inout Frame, _ area: Rect, _ names: Int) {
    let style = theme.dim
    frame.put("   TIME", x: area.x, y: area.y, style: style)
    frame.put("JOB", x: area.x + Self.nameAt, y: area.y, limit: area.width, style: style)
    frame.put("EVENT", x: area.x + Self.nameAt + names + Self.gap, y: area.y, style: style)
  }

  private func drawRow(_ event: JobEvent, _ frame: inout Frame, _ area: Rect, _ names: Int) {
    let (x, y) = (area.x, area.y)
    let (job, state) = (event.fact.job, event.fact.state)
    let isSelected = job != nil && job == model.cursor
    frame.put(Format.stamp(event.time), endingAt: x + Self.nameAt - 3, y: y, style: theme.dim)
    if let state {
      frame.put(theme.letter(state), x: x + Self.nameAt - 2, y: y, style: theme.style(state))
    } else if event.fact.isWarning {
      frame.put(theme.warningMark, x: x + Self.nameAt - 2, y: y, style: theme.held)
    } else {
      // An action of a person, a signal or a policy.
      frame.put(theme.pick("›", "*"), x: x + Self.nameAt - 2, y: y, style: theme.accent)
    }
    let name = job.map { model.run.jobs[$0.index].job.name } ?? ""
    let text = JobText(event.fact.text(in: model.run)).plain
    let at = Self.nameAt + names + Self.gap
    frame.put(
      theme.elision.name(name, to: names), x: x + Self.nameAt, y: y, style: isSelected ? theme.bold : .plain)
    let style = state.map { theme.wordStyle($0) } ?? (event.fact.isWarning ? theme.held : theme.accent)
    frame.put(theme.elision.end(text, to: max(0, area.width - at - 1)), x: x + at, y: y, style: style)
  }
}
