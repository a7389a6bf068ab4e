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
      if row == cursorRow { theme.highlight(place, focused: model.focus == .list, &frame) }
    }
    if model.rowCount == 0 { drawNothing(&frame, area) }
    drawMore(&frame, layout.more, below: shown.upperBound)
  }

  private func drawTitles(_ frame: inout Frame, _ area: Rect) {
    func title(_ word: String, _ sort: SortColumn, at x: Int) {
      let isSorted = model.panel == .list && model.order.sort == sort
      let sign = model.order.isInverted ? theme.pick("▴", "^") : theme.pick("▾", "v")
      let style = isSorted ? theme.accent : theme.dim
      frame.put(isSorted ? word + sign : word, x: area.x + x, y: area.y, limit: area.width - x, style: style)
    }
    title("JOB", .name, at: Columns.name)
    title("STATUS", .progress, at: columns.status)
    if let time = columns.time { title("TIME", .time, at: time - 4) }
    if let left = columns.left { title("LEFT", .eta, at: left - 4) }
  }

  func drawNothing(_ frame: inout Frame, _ area: Rect) {
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
      if model.groupsSkipped, case .skipped(.job(let cause)) = model.run.jobs[id.index].state,
        model.order.unfolded.contains(cause)
      {
        return Name(lead: theme.pick("└ ", "\\ "))
      }
      // The rows of the list are apart from each other.
      guard let parent = model.run.jobs[id.index].job.parent else { return Name() }
      return Name(lead: model.run.jobs[parent.index].job.name + theme.pick(" › ", " > "))
    }
    let tree = model.tree
    let place = tree.rows[row]
    var name = Name(lead: guides(tree, row), isRepeat: place.isRepeat)
    if place.isRepeat {
      name.tail = theme.pick(" ↑", " ^")
    } else {
      if tree.isFolded(id) { name.tail += theme.pick(" ▸", " +") }
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
    let (x, y) = (area.x, area.y)
    if model.tags.contains(id) { frame.put(theme.pick("•", "*"), x: x, y: y, style: theme.accent) }
    frame.put(theme.letter(state), x: x + Columns.state, y: y, style: theme.style(state))
    // The row that it refers to shows the state.
    let times = name.isRepeat ? Times() : times(record, state)
    let end = drawTimes(times, &frame, area)
    if model.path.isCritical(id), !state.isTerminal {
      frame.put(theme.critical, x: x + columns.mark, y: y, style: theme.accent)
    }
    let skipped = model.panel == .list ? model.order.skipped[id]?.count ?? 0 : 0
    let at = columns.status
    let room = at - Columns.gap - Columns.name - TextWidth.of(name.tail)
    // A legible name has precedence over the lines.
    let lead = Elision.suffix(name.lead, max(0, room - min(TextWidth.of(record.job.name), room * 2 / 3)))
    let text = theme.elision.name(record.job.name, to: max(1, room - TextWidth.of(lead)))
    let style = name.isRepeat ? theme.dim : theme.nameStyle(state)
    frame.put(
      [TextSpan(lead, theme.rule), TextSpan(text, style), TextSpan(name.tail, theme.accent)], x: x + Columns.name, y: y,
      limit: at - Columns.gap - Columns.name)
    if state == .executing, !name.isRepeat {
      drawProgress(id, record, &frame, x: x + at, y: y, width: end - at)
    } else if !name.isRepeat {
      let fitting = status(id, record, state, room: end - at, hint: skipped).fitted(to: end - at, theme.elision)
      frame.put(fitting, x: x + at, y: y)
    }
  }

  // MARK: Times

  private struct Times {
    var time: String?
    var left: String?
  }

  /// The time of the executing or last attempt, and the time left; none for a job that waits.
  private func times(_ record: JobRecord, _ state: StateClass) -> Times {
    switch record.state {
    case .waiting, .ready, .backingOff, .skipped, .paused(started: false): Times()
    case .executing, .serving, .paused:
      Times(
        time: record.elapsed(at: now).map { Format.time($0) },
        left: state == .executing ? timeLeft(record) : nil)
    case .succeeded, .failed, .cancelled: Times(time: record.elapsed(at: now).map { Format.stretch($0) })
    }
  }

  /// The time left at the current rate, or as usual.
  private func timeLeft(_ record: JobRecord) -> String? {
    record.remaining(at: now).map { Format.countdown($0) } ?? record.timeLeft(at: now)?.cell
  }

  /// Draws the times that there is room for; returns the cell, from the left edge, before which the status ends.
  private func drawTimes(_ times: Times, _ frame: inout Frame, _ area: Rect) -> Int {
    var end = columns.width
    if let column = columns.left, let left = times.left {
      frame.put(left, endingAt: area.x + column, y: area.y, style: theme.dim)
      end = column - left.count
    }
    if let column = columns.time, let time = times.time {
      let last = min(column, end - 1)
      frame.put(time, endingAt: area.x + last, y: area.y, style: theme.dim)
      end = last - time.count
    }
    return end - 1
  }

  // MARK: The status

  /// `hint` is the number of skipped jobs below the row; the text is shortened to fit.
  private func status(
    _ id: JobID, _ record: JobRecord, _ state: StateClass, room: Int, hint skipped: Int?
  ) -> [TextSpan] {
    let words = StatusText(id, model.run, now: now, room: room)
    var spans = [TextSpan(words.status, theme.wordStyle(state)), TextSpan(words.detail, theme.dim)]
    if let mark = warning(id, room: room - spans[0].width - 2) {
      // Where not all fits, the detail is shortened first.
      let fits = spans.width + 2 + TextWidth.of(mark) <= room
      spans.insert(TextSpan("  " + mark, theme.held), at: fits ? 2 : 1)
    }
    if let note = foreign(record) { spans.append(TextSpan(", " + note, theme.dim)) }
    guard let skipped, skipped > 0 else { return spans }
    let sign = model.order.unfolded.contains(id) ? theme.pick("▾", "-") : theme.pick("▸", "+")
    let forms = ["  \(sign) \(skipped) skipped because of it", "  \(sign) \(skipped) skipped", " \(sign)\(skipped)"]
    let left = room - spans.width
    spans.append(TextSpan(forms.first { TextWidth.of($0) <= left } ?? forms[2], theme.dim))
    return spans
  }

  /// The mark of a job's newest warning and, if there is room, a few words.
  private func warning(_ id: JobID, room: Int) -> String? {
    guard let warning = model.run.warnings(about: id).last else { return nil }
    let mark = theme.warningMark
    return ["\(mark) \(warning.kind.short)", mark].first { TextWidth.of($0) <= room }
  }

  /// Tells how much can be seen of an operation that isn't an `AsyncOperation`.
  private func foreign(_ record: JobRecord) -> String? {
    guard case .operation(let work) = record.job.work, work.visibility != .whole, !record.state.isTerminal else {
      return nil
    }
    return work.tracking
  }

  /// Draws the bar, then as many words about the progress as fit.
  private func drawProgress(_ id: JobID, _ record: JobRecord, _ frame: inout Frame, x: Int, y: Int, width: Int) {
    let bar = min(28, max(10, width * 3 / 10), width - 5)
    guard bar >= 6 else {
      frame.put(
        theme.elision.end(record.progress?.fraction.map { Format.percent($0) } ?? "running", to: width), x: x, y: y,
        style: theme.wordStyle(.executing))
      return
    }
    var used = bar + 5
    if let text = warning(id, room: width), record.progress?.fraction == nil, used + 2 + TextWidth.of(text) > width {
      frame.put(text, x: x, y: y, style: theme.held)
      return
    }
    if let excess = record.excess(at: now), record.progress?.fraction == nil,
      let text = UsualText.slower(excess, room: width), used + 2 + TextWidth.of(text) > width
    {
      // A mark that only moves says less.
      frame.put(text, x: x, y: y, style: theme.held)
      return
    }
    Bar(theme: theme).draw(record, now: now, &frame, x: x, y: y, width: bar)
    let parts = ProgressText.parts(record, at: now) + [foreign(record)].compactMap(\.self)
    let words = parts.map { TextSpan($0, theme.dim) }
    let warning = warning(id, room: width - used - 2).map { TextSpan($0, theme.held) }
    for part in [warning, comparison(record, room: width - used - 2)].compactMap(\.self) + words {
      let text = "  " + part.text
      guard used + TextWidth.of(text) <= width else { continue }
      used += frame.put(text, x: x + used, y: y, style: part.style)
    }
  }

  /// How much slower than usual the job is, or the time that its bar is a share of.
  private func comparison(_ record: JobRecord, room: Int) -> TextSpan? {
    if let excess = record.excess(at: now) {
      return UsualText.slower(excess, room: room).map { TextSpan($0, theme.held) }
    }
    guard record.progress?.fraction == nil, record.usualShare(at: now) != nil else { return nil }
    return record.job.usual.map { TextSpan(UsualText.short($0), theme.dim) }
  }

  // MARK: The last line

  private func drawMore(_ frame: inout Frame, _ area: Rect, below: Int) {
    let sort = "sorted by \(model.order.sort.words)\(model.order.isInverted ? ", inverted" : "")"
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
    let notStarted =
      model.run.counts.notStarted == 0
      ? 0
      : (row..<model.rowCount).count { place in
        model.job(row: place).map { model.run.jobs[$0.index].state == .skipped(because: .manual) } == true
      }
    var counts = zip(model.counts(from: row), StateClass.allCases.map(\.word)).map { (count: $0, word: $1) }
    counts[Int(StateClass.skipped.rawValue)].count -= notStarted
    counts.append((notStarted, JobState.SkipCause.manual.word))
    return counts.filter { $0.count > 0 }.sorted { $0.count > $1.count }.map { "\($0.count) \($0.word)" }
      .joined(separator: ", ")
  }
}

/// The line below the rows of a panel: a summary at the left; order, filter, tags and place at the right.
struct LastLine {
  let model: Model
  let theme: Theme

  /// The cells for the summary.
  func room(_ area: Rect, order: String) -> Int { area.width - 2 - TextWidth.of(right(order)) - 2 }

  private func right(_ order: String) -> String {
    let rows = model.rowCount
    let place = model.cursorRow.map { "\($0 + 1)/\(rows)" } ?? "\(rows)"
    var right = order.isEmpty ? place : "\(order)  \(place)"
    if !model.filter.isEmpty {
      right = "/\(theme.elision.end(model.filter.text, to: 24))  \(model.found)"
    }
    return model.tags.isEmpty ? right : "\(model.tags.count) tagged  " + right
  }

  func draw(_ left: [TextSpan], _ frame: inout Frame, _ area: Rect, order: String) {
    let (right, room) = (right(order), room(area, order: order))
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
