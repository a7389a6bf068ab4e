import JobModel
import Screen

/// The list of jobs: a row each, and a line that says what is below.
struct JobList {
  let model: Model
  let theme: Theme
  let now: Duration
  let columns: Columns

  init(model: Model, theme: Theme, now: Duration) {
    self.model = model
    self.theme = theme
    self.now = now
    columns = Columns(width: Layout(model).list.width, longestName: model.index.longestName)
  }

  func draw(_ frame: inout Frame, _ layout: Layout) {
    if !layout.titles.isEmpty { drawTitles(&frame, layout.titles) }
    let rows = model.order.rows
    let shown = rows.dropFirst(model.top).prefix(layout.list.height)
    for (offset, id) in shown.enumerated() {
      drawRow(id, &frame, Rect(x: layout.list.x, y: layout.list.y + offset, width: layout.list.width, height: 1))
    }
    if rows.isEmpty { drawNothing(&frame, layout.list) }
    drawMore(&frame, layout.more, shown: shown)
  }

  private func drawTitles(_ frame: inout Frame, _ area: Rect) {
    let style = theme.bold.with(.underline)
    frame.fill(area, style: style)
    func title(_ word: String, _ sort: SortColumn, _ span: Columns.Span?, right: Bool) {
      guard let span else { return }
      var text = word
      if model.order.sort == sort {
        text += model.order.isInverted ? theme.pick("▴", "^") : theme.pick("▾", "v")
      }
      let x = area.x + (right ? span.end - TextWidth.of(text) : span.x)
      frame.put(
        text, x: x, y: area.y, limit: span.width, style: model.order.sort == sort ? theme.key.with(.underline) : style)
    }
    frame.put("S", x: area.x + Columns.state, y: area.y, style: style)
    title("JOB", .name, columns.name, right: false)
    title("PROGRESS", .progress, columns.progress, right: false)
    title("RATE", .rate, columns.rate, right: true)
    title("TIME", .time, columns.time, right: true)
    title("ETA", .eta, columns.eta, right: true)
    if let why = columns.why {
      frame.put("WHY", x: area.x + why.x, y: area.y, limit: why.width, style: style)
    }
  }

  private func drawNothing(_ frame: inout Frame, _ area: Rect) {
    let text =
      model.run.start == nil || !model.order.filter.isEmpty
      ? (model.order.filter.isEmpty ? "no run yet" : "no job matches \(model.order.filter.text)") : "no jobs"
    frame.put(theme.elision.end(text, to: area.width - 4), x: area.x + 3, y: area.y, style: theme.dim)
  }

  // MARK: A row

  private func drawRow(_ id: JobID, _ frame: inout Frame, _ area: Rect) {
    let record = model.run.jobs[id.index]
    let state = model.index.classes[id.index]
    let style = theme.style(state)
    let secondary = state.isTerminal && state.attention == 5 ? theme.dim : .plain
    let (x, y) = (area.x, area.y)
    if model.tags.contains(id) { frame.put(theme.pick("•", "*"), x: x, y: y, style: theme.bold) }
    frame.put(theme.letter(state), x: x + Columns.state, y: y, style: style)
    let nameStyle = state == .executing || state.attention == 0 ? theme.bold : secondary
    frame.put(
      theme.elision.middle(record.job.name, to: columns.name.width), x: x + columns.name.x, y: y, style: nameStyle)
    if state == .executing {
      drawProgress(id, record, &frame, area)
    } else {
      drawStanding(id, record, state, &frame, area)
    }
    drawTime(record, secondary, &frame, area)
    if model.cursor == id { highlight(&frame, area) }
  }

  private func drawTime(_ record: JobRecord, _ style: Style, _ frame: inout Frame, _ area: Rect) {
    guard let time = columns.time, let elapsed = shownTime(record) else { return }
    frame.put(Format.time(elapsed), endingAt: area.x + time.end, y: area.y, style: style)
  }

  /// The time of the attempt that executes or of one that ended the job; what waits shows none.
  private func shownTime(_ record: JobRecord) -> Duration? {
    switch record.state {
    case .waiting, .ready, .backingOff, .skipped, .paused(started: false): nil
    case .executing, .paused, .succeeded, .failed, .cancelled: record.elapsed(at: now)
    }
  }

  private func drawProgress(_ id: JobID, _ record: JobRecord, _ frame: inout Frame, _ area: Rect) {
    let style = theme.style(.executing)
    let progress = columns.progress
    let x = area.x + progress.x
    let bar = Bar(theme: theme)
    if let share = record.progress?.fraction {
      if progress.width >= 12 {
        frame.put(bar.determinate(share, width: progress.width - 5, style: style), x: x, y: area.y)
      }
      frame.put(Format.percent(share), endingAt: x + progress.width, y: area.y)
    } else {
      let step = Int(now / Loop.animationStep)
      frame.put(bar.indeterminate(step: step, width: progress.width - 5, style: style), x: x, y: area.y)
    }
    if let column = columns.rate, let rate = record.rate, let unit = record.progress?.unit {
      frame.put(Format.rate(rate, unit), endingAt: area.x + column.end, y: area.y)
    }
    if let eta = columns.eta {
      let left = record.remaining(at: now).map { Format.countdown($0) }
      frame.put(left ?? "?", endingAt: area.x + eta.end, y: area.y, style: left == nil ? theme.dim : .plain)
    }
    if let why = columns.why {
      let words = Wording(id, model.run, model.index, now: now)
      frame.put(theme.elision.end(words.reason, to: why.width - 1), x: area.x + why.x, y: area.y, style: theme.dim)
    }
  }

  /// Status over the columns that the state leaves empty, the reason beside it or, where that is too narrow, after it.
  private func drawStanding(
    _ id: JobID, _ record: JobRecord, _ state: StateClass, _ frame: inout Frame, _ area: Rect
  ) {
    let words = Wording(id, model.run, model.index, now: now, canAct: model.live.summary == nil)
    let x = columns.progress.x
    let hasTime = shownTime(record) != nil
    let end =
      if hasTime, let time = columns.time {
        time.end - Format.time(shownTime(record) ?? .zero).count - 1
      } else {
        columns.why.map { $0.x - 1 } ?? area.width - 1
      }
    let room = end - x
    let style = state == .waiting || state == .skipped || state.attention == 5 ? theme.dim : theme.style(state)
    func putStatus(_ text: String) {
      frame.put(theme.elision.end(text, to: room), x: area.x + x, y: area.y, style: style)
    }
    guard let why = columns.why else { return putStatus(words.whole) }
    let fits = TextWidth.of(words.reason) < why.width
    if fits || words.isHint {
      putStatus(words.status)
      let reasonStyle = words.isHint ? theme.accent : theme.dim
      frame.put(theme.elision.end(words.reason, to: why.width - 1), x: area.x + why.x, y: area.y, style: reasonStyle)
    } else if TextWidth.of(words.whole) <= room || !hasTime {
      // Nothing stands between the two, so the line may run on to the edge.
      let text = theme.elision.end(words.whole, to: hasTime ? room : area.width - 1 - x)
      frame.put(text, x: area.x + x, y: area.y, style: style)
    } else {
      putStatus(words.status)
      frame.put(theme.elision.end(words.reason, to: why.width - 1), x: area.x + why.x, y: area.y, style: theme.dim)
    }
  }

  /// The cursor's row loses its colours, so that one contrast holds for all of it; its bold words too where it has a
  /// colour of its own, because many terminals show bold black as grey.
  private func highlight(_ frame: inout Frame, _ area: Rect) {
    let cursor = theme.cursor(focused: model.focus == .list)
    frame.restyle(area) { style in
      style = style.attributes.contains(.bold) && cursor.background == .standard ? cursor.with(.bold) : cursor
    }
  }

  // MARK: The last line

  private func drawMore(_ frame: inout Frame, _ area: Rect, shown: ArraySlice<JobID>) {
    let rows = model.order.rows
    let below = rows.dropFirst(model.top + shown.count)
    let sort = "sort \(model.order.sort.word)\(model.order.isInverted ? " inverted" : "")"
    let place = model.cursorRow.map { "\($0 + 1)/\(rows.count)" } ?? "\(rows.count)"
    var right = "\(sort)  \(place)"
    if !model.order.filter.isEmpty {
      right = "/\(theme.elision.end(model.order.filter.text, to: 24))  \(rows.count)/\(model.run.jobs.count)"
    }
    if !model.tags.isEmpty { right = "\(model.tags.count) tagged  " + right }
    var left = ""
    if !below.isEmpty {
      left = "\(theme.pick("▾", "v")) \(below.count) more: \(summary(of: below))"
    } else if model.top > 0 {
      left = "\(theme.pick("▴", "^")) \(model.top) above"
    }
    let room = area.width - 2 - right.count - 2
    let style = theme.dim
    if room > 12 { frame.put(theme.elision.end(left, to: room), x: area.x + 1, y: area.y, style: style) }
    let start = max(area.x + 1, area.maxX - 1 - TextWidth.of(right))
    frame.put(
      right, x: start, y: area.y, limit: area.maxX - start, style: model.order.filter.isEmpty ? style : theme.accent)
  }

  /// `12 ok, 11 waiting`, the most frequent first.
  private func summary(of ids: ArraySlice<JobID>) -> String {
    var counts = [Int](repeating: 0, count: StateClass.allCases.count)
    for id in ids { counts[Int(model.index.classes[id.index].rawValue)] += 1 }
    let present = StateClass.allCases.filter { counts[Int($0.rawValue)] > 0 }
      .sorted { counts[Int($0.rawValue)] > counts[Int($1.rawValue)] }
    return present.map { "\(counts[Int($0.rawValue)]) \($0.word)" }.joined(separator: ", ")
  }
}
