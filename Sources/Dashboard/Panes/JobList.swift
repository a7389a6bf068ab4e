import JobModel
import Screen

/// The list or the tree of jobs: a row for each, and a summary of the rows below.
struct JobList {
  let model: Model
  let theme: Theme
  let now: Duration
  let columns: Columns

  init(model: Model, theme: Theme, now: Duration) {
    self.model = model
    self.theme = theme
    self.now = now
    columns = Self.columns(model, width: Layout(model).list.width)
  }

  static func columns(_ model: Model, width: Int) -> Columns {
    let isTree = model.panel == .tree
    return Columns(width: width, longestName: isTree ? model.tree.width : model.index.longestName, isTree: isTree)
  }

  func draw(_ frame: inout Frame, _ layout: Layout) {
    if !layout.titles.isEmpty { drawTitles(&frame, layout.titles) }
    let area = layout.list
    let shown = min(model.top, model.rowCount)..<min(model.top + area.height, model.rowCount)
    let cursorRow = model.cursorRow
    for row in shown {
      guard let id = model.job(row: row) else { continue }
      let place = Rect(x: area.x, y: area.y + row - shown.lowerBound, width: area.width, height: 1)
      drawRow(id, &frame, place, name: name(id, row: row))
      if row == cursorRow { highlight(&frame, place) }
    }
    if model.rowCount == 0 { drawNothing(&frame, area) }
    drawMore(&frame, layout.more, below: shown.upperBound)
  }

  private func drawTitles(_ frame: inout Frame, _ area: Rect) {
    let style = theme.bold.with(.underline)
    frame.fill(area, style: style)
    func title(_ word: String, _ sort: SortColumn, _ span: ColumnSpan?, right: Bool) {
      guard let span else { return }
      var text = word
      let isSorted = model.panel == .list && model.order.sort == sort
      if isSorted {
        text += model.order.isInverted ? theme.pick("▴", "^") : theme.pick("▾", "v")
      }
      let x = area.x + (right ? span.end - TextWidth.of(text) : span.x)
      frame.put(
        text, x: x, y: area.y, limit: span.width, style: isSorted ? theme.key.with(.underline) : style)
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
      !model.filter.isEmpty ? "no job matches \(model.filter.text)" : model.run.start == nil ? "no run yet" : "no jobs"
    frame.put(theme.elision.end(text, to: area.width - 4), x: area.x + 3, y: area.y, style: theme.dim)
  }

  // MARK: A row

  /// The signs at the left and right of a job's name.
  private struct Name {
    var lead = ""
    var tail = ""
    /// Whether the row only refers to a row above.
    var isRepeat = false
  }

  private func name(_ id: JobID, row: Int) -> Name {
    guard model.panel == .tree else {
      guard model.groupsSkipped, case .skipped(let cause) = model.run.jobs[id.index].state,
        model.order.unfolded.contains(cause)
      else { return Name() }
      return Name(lead: theme.pick("└ ", "\\ "))
    }
    let tree = model.tree
    let place = tree.rows[row]
    var name = Name(lead: guides(tree, row), isRepeat: place.isRepeat)
    if place.isRepeat {
      name.tail = theme.pick(" ↑", " ^")
    } else {
      if tree.folded.contains(id) { name.tail += theme.pick(" ▸", " +") }
      let uses = model.run.jobs[id.index].dependents.count
      if uses > 1 { name.tail += theme.pick(" ×", " x") + "\(uses)" }
    }
    return name
  }

  /// The lines from a job to its dependent; below `JobTree.deepest`, only the nearest.
  private func guides(_ tree: JobTree, _ row: Int) -> String {
    let place = tree.rows[row]
    guard place.parent >= 0 else { return "" }
    var parts = [place.isLast ? theme.pick("└ ", "` ") : theme.pick("├ ", "|-")]
    var parent = place.parent
    while parts.count < JobTree.deepest, tree.rows[parent].parent >= 0 {
      parts.append(tree.rows[parent].isLast ? "  " : theme.pick("│ ", "| "))
      parent = tree.rows[parent].parent
    }
    let isDeeper = tree.rows[parent].parent >= 0
    return (isDeeper ? theme.elision.mark : "") + parts.reversed().joined()
  }

  private func drawRow(_ id: JobID, _ frame: inout Frame, _ area: Rect, name: Name) {
    let record = model.run.jobs[id.index]
    let state = model.index.classes[id.index]
    let style = theme.style(state)
    let secondary = name.isRepeat || (state.isTerminal && state.attention == 5) ? theme.dim : .plain
    let (x, y) = (area.x, area.y)
    if model.tags.contains(id) { frame.put(theme.pick("•", "*"), x: x, y: y, style: theme.bold) }
    frame.put(theme.letter(state), x: x + Columns.state, y: y, style: style)
    let nameStyle = name.isRepeat || !(state == .executing || state.attention == 0) ? secondary : theme.bold
    let room = columns.name.width - TextWidth.of(name.tail)
    // A legible name has precedence over the lines.
    let lead = Elision.suffix(name.lead, max(0, room - min(TextWidth.of(record.job.name), room * 2 / 3)))
    let text = theme.elision.middle(record.job.name, to: max(1, room - TextWidth.of(lead)))
    frame.put(
      [TextSpan(lead, theme.rule), TextSpan(text, nameStyle), TextSpan(name.tail, theme.accent)], x: x + columns.name.x,
      y: y,
      limit: columns.name.width)
    // The row that it refers to shows the state.
    if name.isRepeat { return }
    if state == .executing {
      drawProgress(id, record, &frame, area)
    } else {
      drawStanding(id, record, state, &frame, area)
    }
    guard let time = columns.time, let elapsed = shownTime(record) else { return }
    frame.put(Format.time(elapsed), endingAt: area.x + time.end, y: area.y, style: secondary)
  }

  /// The time of the executing or last attempt; nil for a job that waits.
  private func shownTime(_ record: JobRecord) -> Duration? {
    switch record.state {
    case .waiting, .ready, .backingOff, .skipped, .paused(started: false): nil
    case .executing, .paused, .succeeded, .failed, .cancelled: record.elapsed(at: now)
    }
  }

  private func drawProgress(_ id: JobID, _ record: JobRecord, _ frame: inout Frame, _ area: Rect) {
    Bar(theme: theme).draw(
      record.progress?.fraction, now: now, &frame, x: area.x + columns.progress.x, y: area.y,
      width: columns.progress.width - 5)
    if let column = columns.rate, let rate = record.rate, let unit = record.progress?.unit {
      frame.put(Format.rate(rate, unit), endingAt: area.x + column.end, y: area.y)
    }
    if let eta = columns.eta {
      let left = record.remaining(at: now).map { Format.countdown($0) }
      frame.put(left ?? "?", endingAt: area.x + eta.end, y: area.y, style: left == nil ? theme.dim : .plain)
    }
    if let why = columns.why {
      let words = StatusText(id, model.run, model.index, now: now)
      let isCritical = model.path.isCritical(id)
      var x = area.x + why.x
      if isCritical { x += 1 + frame.put(theme.critical, x: x, y: area.y, style: theme.accent) }
      let reason = words.reason.isEmpty && isCritical ? "critical" : words.reason
      let end = area.x + why.x + why.width - (isCritical ? 0 : 1)
      // In the style of the numbers before it, which change with it.
      frame.put(theme.elision.end(reason, to: end - x), x: x, y: area.y)
    }
  }

  /// Draws the status over the columns that the state leaves empty; the reason in its column or, if too long, after it.
  private func drawStanding(
    _ id: JobID, _ record: JobRecord, _ state: StateClass, _ frame: inout Frame, _ area: Rect
  ) {
    var words = StatusText(id, model.run, model.index, now: now, keys: model.live.summary == nil ? model.keys : nil)
    if model.panel == .list, let skipped = model.order.skipped[id]?.count, skipped > 0 {
      let sign = model.order.unfolded.contains(id) ? theme.pick("▾", "-") : theme.pick("▸", "+")
      let room = (columns.why?.width ?? 12) - 1
      let forms = ["\(sign) \(skipped) skipped", "\(sign)\(skipped) skipped"]
      words.reason = forms.first { TextWidth.of($0) <= room } ?? "\(sign)\(skipped) skip"
      words.isHint = true
      if columns.why == nil { words.status = short(words.status, beside: words.reason) }
    }
    let x = columns.progress.x
    let time = columns.time.flatMap { column in shownTime(record).map { column.end - Format.time($0).count - 1 } }
    let room = (time ?? columns.why.map { $0.x - 1 } ?? area.width - 1) - x
    let style = state == .waiting || state == .skipped || state.attention == 5 ? theme.dim : theme.style(state)
    func putStatus(_ text: String, to room: Int) {
      frame.put(theme.elision.end(text, to: room), x: area.x + x, y: area.y, style: style)
    }
    guard let why = columns.why else { return putStatus(words.whole, to: room) }
    let hasTime = shownTime(record) != nil
    let fits = TextWidth.of(words.reason) < why.width || words.isHint
    if !fits, !hasTime || TextWidth.of(words.whole) <= room {
      // No column is between the two, so that the text may extend to the edge.
      return putStatus(words.whole, to: hasTime ? room : area.width - 1 - x)
    }
    putStatus(words.status, to: room)
    let reasonStyle = words.isHint ? theme.accent : theme.dim
    frame.put(theme.elision.end(words.reason, to: why.width - 1), x: area.x + why.x, y: area.y, style: reasonStyle)
  }

  /// Both texts in one column, the second whole.
  private func short(_ status: String, beside reason: String) -> String {
    let room = columns.progress.width - TextWidth.of(reason) - 1
    return room < 4 ? reason : theme.elision.end(status, to: room) + " " + reason
  }

  /// Draws the cursor's row in one style, so that all of it has one contrast; without bold on a background colour, because
  /// many terminals show bold black as grey.
  private func highlight(_ frame: inout Frame, _ area: Rect) {
    let cursor = theme.cursor(focused: model.focus == .list)
    frame.restyle(area) { style in
      style = style.attributes.contains(.bold) && cursor.background == .standard ? cursor.with(.bold) : cursor
    }
  }

  // MARK: The last line

  private func drawMore(_ frame: inout Frame, _ area: Rect, below: Int) {
    let sort = "sort \(model.order.sort.rawValue)\(model.order.isInverted ? " inverted" : "")"
    let line = LastLine(model: model, theme: theme)
    var left = ""
    if below < model.rowCount {
      left = "\(theme.pick("▾", "v")) \(model.rowCount - below) more: \(summary(from: below))"
    } else if model.top > 0 {
      left = "\(theme.pick("▴", "^")) \(model.top) above"
    }
    line.draw([TextSpan(left, theme.dim)], &frame, area, order: model.panel == .list ? sort : "tree by needs")
  }

  /// The states of the rows from `row` on, the most frequent first: `12 ok, 11 waiting`.
  private func summary(from row: Int) -> String {
    let counts = model.counts(from: row)
    let present = StateClass.allCases.filter { counts[Int($0.rawValue)] > 0 }
      .sorted { counts[Int($0.rawValue)] > counts[Int($1.rawValue)] }
    return present.map { "\(counts[Int($0.rawValue)]) \($0.word)" }.joined(separator: ", ")
  }
}

/// The line below the rows of a panel: a summary at the left; order, filter, tags and place at the right.
struct LastLine {
  let model: Model
  let theme: Theme

  func draw(_ left: [TextSpan], _ frame: inout Frame, _ area: Rect, order: String) {
    let rows = model.rowCount
    let place = model.cursorRow.map { "\($0 + 1)/\(rows)" } ?? "\(rows)"
    var right = order.isEmpty ? place : "\(order)  \(place)"
    if !model.filter.isEmpty {
      right = "/\(theme.elision.end(model.filter.text, to: 24))  \(model.found)"
    }
    if !model.tags.isEmpty { right = "\(model.tags.count) tagged  " + right }
    let room = area.width - 2 - TextWidth.of(right) - 2
    var used = 0
    for span in left where room > 12 && used < room {
      let text = theme.elision.end(span.text, to: room - used)
      used += frame.put(text, x: area.x + 1 + used, y: area.y, style: span.style)
    }
    let start = max(area.x + 1, area.maxX - 1 - TextWidth.of(right))
    frame.put(
      right, x: start, y: area.y, limit: area.maxX - start,
      style: model.filter.isEmpty ? theme.dim : theme.accent)
  }
}
