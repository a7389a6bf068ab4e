import JobModel
import Screen

/// The chain of needs that decides the end of the run, then the jobs with the least slack.
struct CriticalPane {
  let model: Model
  let theme: Theme
  let now: Duration

  func draw(_ frame: inout Frame, _ layout: Layout) {
    let fields = CriticalColumns(
      width: layout.list.width, longestName: model.index.longestName,
      longestTime: Format.time(model.path.forecast?.end ?? .zero).count)
    if !layout.titles.isEmpty { drawTitles(&frame, layout.titles, fields) }
    let rows = model.path.rows
    let cursorRow = model.cursorRow
    for (offset, row) in rows.dropFirst(model.top).prefix(layout.list.height).enumerated() {
      let area = Rect(x: layout.list.x, y: layout.list.y + offset, width: layout.list.width, height: 1)
      drawRow(row, &frame, area, fields)
      if model.top + offset == cursorRow {
        theme.highlight(area, focused: model.focus == .list, &frame)
      }
    }
    if rows.isEmpty {
      let reason = model.path.isPartial ? "estimating" : "no job has run"
      frame.put(reason, x: layout.list.x + 3, y: layout.list.y, style: theme.dim)
    }
    LastLine(model: model, theme: theme).draw(summary, &frame, layout.more, order: "")
  }

  private func drawTitles(_ frame: inout Frame, _ area: Rect, _ fields: CriticalColumns) {
    let style = theme.dim
    frame.put("JOB", x: area.x + fields.name.x, y: area.y, style: style)
    if let share = fields.share { frame.put("SHARE", x: area.x + share.x, y: area.y, style: style) }
    let titles: [(String, ColumnSpan?)] = [
      ("TIME", fields.took), ("WAITED", fields.waited), ("ENDS", fields.ends), ("SLACK", fields.slack),
      ("SAVES", fields.saving),
    ]
    for (title, span) in titles {
      if let span { frame.put(title, endingAt: area.x + span.end, y: area.y, style: style) }
    }
  }

  private func drawRow(_ row: PathForecast.Row, _ frame: inout Frame, _ area: Rect, _ fields: CriticalColumns) {
    let state = model.index.classes[row.job.index]
    let (x, y) = (area.x, area.y)
    if model.tags.contains(row.job) { frame.put(theme.pick("•", "*"), x: x, y: y, style: theme.accent) }
    frame.put(theme.letter(state), x: x + 1, y: y, style: theme.style(state))
    if row.link != nil { frame.put(theme.critical, x: x + 3, y: y, style: theme.accent) }
    // The name extends to the right where the columns beside it are empty.
    let room = row.link == nil ? (fields.ends ?? fields.slack).x - 1 - fields.name.x : fields.name.width
    let name = theme.elision.name(model.run.jobs[row.job.index].job.name, to: room)
    frame.put(name, x: x + fields.name.x, y: y, style: row.link == nil ? theme.nameStyle(state) : theme.bold)
    // Times of jobs that have not ended are estimates.
    let guess = state.isTerminal ? "" : "~"
    func put(_ text: String, _ span: ColumnSpan?, _ style: Style = .plain) {
      if let span { frame.put(text, endingAt: x + span.end, y: y, style: style) }
    }
    if let link = row.link {
      drawShare(link, &frame, area, fields)
      put(guess + Format.time(link.executing), fields.took)
      if link.waited >= .milliseconds(500) { put(Format.time(link.waited), fields.waited, theme.held) }
    }
    if let finish = model.path.forecast?.finish(row.job) { put(guess + Format.time(finish), fields.ends, theme.dim) }
    if let slack = row.slack {
      put(
        row.link == nil ? PathForecast.text(slack: slack) : "none", fields.slack, row.link == nil ? .plain : theme.dim)
    }
    if let saving = row.saving, saving >= .milliseconds(500) {
      put("~" + Format.time(saving), fields.saving, theme.accent)
    }
  }

  private func drawShare(_ link: Forecast.Link, _ frame: inout Frame, _ area: Rect, _ fields: CriticalColumns) {
    guard let span = fields.share, let end = model.path.forecast?.end, end > .zero else { return }
    let share = link.share / end
    let state = model.index.classes[link.job.index]
    let bar = Bar(theme: theme).determinate(share, width: span.width - 5, style: theme.style(state))
    frame.put(bar, x: area.x + span.x, y: area.y)
    frame.put(Format.percent(share), endingAt: area.x + span.end, y: area.y)
  }

  /// The run's expected end, and the effect of one more slot.
  private var summary: [TextSpan] {
    guard let forecast = model.path.forecast, !forecast.chain.isEmpty else { return [] }
    let count = Format.count(forecast.chain.count, "job")
    guard !model.isOver, let schedule = model.path.schedule else {
      return [TextSpan("the chain: \(count), \(Format.time(forecast.end))", theme.dim)]
    }
    let slot =
      model.path.slotSaving >= .milliseconds(500)
      ? "one slot more: ~\(Format.time(model.path.slotSaving)) sooner" : "one slot more saves nothing"
    return [
      TextSpan("~ends at \(Format.time(schedule.end))", theme.bold), TextSpan("  \(slot)", theme.accent),
      TextSpan("  saves: if twice as fast", theme.dim),
    ]
  }
}
