import Basics
import JobModel
import Screen

/// The run over time: a row for each job with its attempts, the waits before and the expected execution after them.
struct TimelinePane {
  let model: Model
  let theme: Theme
  let now: Duration
  private let elapsed: Duration
  private let names: Int

  init(model: Model, theme: Theme, now: Duration) {
    self.model = model
    self.theme = theme
    self.now = now
    elapsed = model.present(at: now)
    names = Self.nameWidth(model, Layout(model))
  }

  /// The width of the names; letter and mark precede them, the rest is time.
  private static func nameWidth(_ model: Model, _ layout: Layout) -> Int {
    let width = max(layout.list.width, layout.strip.width)
    return min(max(8, model.index.longestName), width * 35 / 100)
  }

  private static let nameAt = 5

  /// The cells of time, the present and the end, for moving the window.
  static func extent(_ model: Model) -> (width: Int, now: Duration, end: Duration) {
    let layout = Layout(model)
    let now = model.present(at: model.run.time)
    let width = max(layout.list.width, layout.strip.width) - nameAt - nameWidth(model, layout) - 2
    return (width, now, end(model, now))
  }

  private static func end(_ model: Model, _ now: Duration) -> Duration {
    guard !model.isOver, model.run.stopping == nil else { return now }
    return max(now, model.path.schedule?.end ?? now)
  }

  private func scale(_ area: Rect) -> TimeWindow.Scale {
    // The strip below the list shows the whole run.
    let window = model.panel == .timeline ? model.window : TimeWindow()
    return window.scale(
      width: area.width - Self.nameAt - names - 2, now: elapsed, end: Self.end(model, elapsed))
  }

  func draw(_ frame: inout Frame, _ layout: Layout) {
    let area = layout.list
    let scale = scale(area)
    if !layout.titles.isEmpty { drawAxis(&frame, layout.titles, scale, style: theme.dim) }
    let rows = model.chronology.rows
    let cursorRow = model.cursorRow
    let shown = rows.dropFirst(model.top).prefix(area.height)
    var marked: Set<Mark> = []
    for (offset, id) in shown.enumerated() {
      let row = Rect(x: area.x, y: area.y + offset, width: area.width, height: 1)
      marked.formUnion(drawRow(id, &frame, row, scale, isCursor: model.top + offset == cursorRow))
    }
    if rows.isEmpty { JobList(model: model, theme: theme, now: now).drawNothing(&frame, area) }
    let hasCluster = shown.contains { model.run[$0].job.cluster != nil }
    let line = LastLine(model: model, theme: theme)
    let order = "\(theme.pick("▏", "|"))\(Format.step(scale.step))"
    let legend = legend(hasCluster: hasCluster, marked, room: line.room(layout.more, order: order))
    line.draw(legend, &frame, layout.more, order: order)
  }

  /// Draws the rows around the cursor below the list.
  func drawStrip(_ frame: inout Frame, _ area: Rect) {
    let scale = scale(area)
    let axis = Rect(x: area.x, y: area.y, width: area.width, height: 1)
    frame.fill(axis, theme.horizontal, style: theme.rule)
    drawAxis(&frame, axis, scale, style: theme.dim)
    let rows = model.chronology.rows
    let place = model.cursor.flatMap { rows.firstIndex(of: $0) } ?? 0
    let height = area.height - 1
    let top = max(0, min(place - height / 2, rows.count - height))
    for (offset, id) in rows.dropFirst(top).prefix(height).enumerated() {
      let row = Rect(x: area.x, y: area.y + 1 + offset, width: area.width, height: 1)
      drawRow(id, &frame, row, scale, isCursor: id == model.cursor)
    }
  }

  // MARK: The axis

  private func drawAxis(_ frame: inout Frame, _ area: Rect, _ scale: TimeWindow.Scale, style: Style) {
    let start = area.x + Self.nameAt + names + 1
    if model.panel == .timeline {
      frame.put("JOB", x: area.x + Self.nameAt, y: area.y, style: style)
    } else {
      frame.put(" timeline ", x: area.x + 2, y: area.y, style: theme.dim)
    }
    // The longest label of this scale and a blank fit between two marks.
    let last = Format.axis(scale.time(scale.width))
    let every = last.count < 9 ? 10 : 15
    var cell = (every - scale.first % every) % every
    let present = scale.cell(elapsed)
    let showsPresent = !model.isOver && present >= 0 && present < scale.width
    let sign = theme.pick("▾", "v")
    let name = model.isPast || model.isReplay ? Format.axis(elapsed) : "NOW"
    let word = present + 1 + name.count <= scale.width ? sign + name : sign
    let end = Self.end(model, elapsed)
    while cell + last.count <= scale.width, scale.time(cell) <= end {
      let label = Format.axis(scale.time(cell))
      if !showsPresent || cell + label.count < present || cell > present + word.count {
        frame.put(label, x: start + cell, y: area.y, style: style)
      }
      cell += every
    }
    if showsPresent { frame.put(word, x: start + present, y: area.y, style: theme.accent.with(.bold)) }
  }

  /// The signs and their words; without room for all, as many as fit whole, `marked` ones only.
  private func legend(hasCluster: Bool, _ marked: Set<Mark>, room: Int) -> [TextSpan] {
    let cluster: [(Mark, String)] = hasCluster ? [(.cluster, "cluster")] : []
    let words =
      [(.executing, "running"), (.expected, "expected"), (.needs, "waits for needs"), (.slot, "slot"), (.pool, "pool")]
      + cluster + [(.backOff, "retry"), (.paused, "paused")]
    func spans(_ words: [(Mark, String)]) -> [[TextSpan]] {
      [[TextSpan(theme.critical, theme.accent), TextSpan(" critical", theme.dim)]]
        + words.map { [TextSpan(sign($0.0), style($0.0)), TextSpan(" \($0.1)", theme.dim)] }
    }
    func width(_ parts: [[TextSpan]]) -> Int { parts.reduce(-2) { $0 + $1.width + 2 } }
    var parts = spans(words)
    if width(parts) > room {
      parts = spans(words.filter { word in word.0 == .cluster || marked.contains { sign($0) == sign(word.0) } })
    }
    while parts.count > 1, width(parts) > room { parts.removeLast() }
    return Array(parts.joined(separator: [TextSpan("  ")]))
  }

  // MARK: A row

  /// In a cell with several marks the last of these is drawn.
  private enum Mark: Int {
    case nothing
    case expected
    case needs
    case slot
    case pool
    case person
    case cluster
    case backOff
    case paused
    case done
    case lost
    case dropped
    case executing
    case failed
    case cancelled
  }

  private func sign(_ mark: Mark) -> String {
    switch mark {
    case .nothing: " "
    case .needs: theme.pick("·", ".")
    case .slot: theme.pick("─", "-")
    case .pool: theme.pick("═", "=")
    case .person: theme.pick("?", "?")
    case .cluster: theme.pick("┄", "c")
    case .backOff: theme.pick("╌", "~")
    case .paused: theme.pick("▒", "p")
    case .done, .lost, .dropped, .executing: theme.pick("▆", "#")
    case .expected: theme.pick("░", ":")
    case .failed: theme.letter(.failed)
    case .cancelled: theme.letter(.cancelled)
    }
  }

  private func style(_ mark: Mark) -> Style {
    switch mark {
    case .nothing, .needs: theme.dim
    case .slot, .pool, .person, .cluster: theme.dim
    case .backOff: theme.style(.backingOff)
    case .paused: theme.held
    case .done: theme.style(.succeeded)
    case .executing: theme.style(.executing)
    case .expected: theme.forecast
    case .lost: theme.style(.allowedFailure)
    case .failed: theme.bad
    case .dropped, .cancelled: theme.style(.cancelled)
    }
  }

  /// Draws a row and returns its marks.
  @discardableResult
  private func drawRow(
    _ id: JobID, _ frame: inout Frame, _ area: Rect, _ scale: TimeWindow.Scale, isCursor: Bool
  ) -> Set<Mark> {
    let state = model.index.classes[id.index]
    let isCritical = model.path.onChain.contains(id)
    let (x, y) = (area.x, area.y)
    if model.tags.contains(id) { frame.put(theme.pick("•", "*"), x: x, y: y, style: theme.accent) }
    frame.put(theme.letter(state), x: x + 1, y: y, style: theme.style(state))
    if isCritical { frame.put(theme.critical, x: x + 3, y: y, style: theme.accent) }
    let name = theme.elision.name(model.run.jobs[id.index].job.name, to: names)
    let isQuiet = (state == .waiting || state.isTerminal && !state.isBad) && !isCritical
    frame.put(name, x: x + Self.nameAt, y: y, style: isQuiet ? theme.dim : isCritical ? theme.bold : .plain)
    if isCursor {
      let head = Rect(x: x, y: y, width: Self.nameAt + names, height: 1)
      let isHere = model.focus == .list && model.panel == .timeline
      theme.highlight(head, focused: isHere, &frame)
    }
    let start = x + Self.nameAt + names + 1
    let marks = marks(id, scale)
    for (mark, cells) in runs(marks) where mark != .nothing {
      frame.put(
        String(repeating: sign(mark), count: cells.count), x: start + cells.lowerBound, y: y, style: style(mark))
    }
    let present = scale.cell(elapsed)
    if !model.isOver, present >= 0, present < scale.width {
      frame.put(theme.vertical, x: start + present, y: y, style: theme.accent)
    }
    return Set(marks)
  }

  private func runs(_ marks: [Mark]) -> [(Mark, Range<Int>)] {
    var runs: [(Mark, Range<Int>)] = []
    for (cell, mark) in marks.enumerated() {
      if let last = runs.last, last.0 == mark {
        runs[runs.count - 1].1 = last.1.lowerBound..<(cell + 1)
      } else {
        runs.append((mark, cell..<(cell + 1)))
      }
    }
    return runs
  }

  /// The mark of each cell: the greatest of its marks.
  private func marks(_ id: JobID, _ scale: TimeWindow.Scale) -> [Mark] {
    var marks = [Mark](repeating: .nothing, count: scale.width)
    func put(_ mark: Mark, _ from: Duration, _ to: Duration) {
      let first = scale.cell(from)
      // A phase that ends at the start of a cell is not in it; an execution always has a cell.
      let last = max(scale.cell(to - .nanoseconds(1)), mark.rawValue >= Mark.paused.rawValue ? first : first - 1)
      guard last >= 0, first < scale.width, first <= last else { return }
      for cell in max(0, first)...min(last, scale.width - 1) where marks[cell].rawValue < mark.rawValue {
        marks[cell] = mark
      }
    }
    let record = model.run.jobs[id.index]
    if record.phases.count == 0 { put(.needs, record.since, elapsed) }
    for place in 0..<record.phases.count {
      let phase = record.phases[place]
      let end = record.phases.end(of: place) ?? elapsed
      switch phase.kind {
      case .waiting: put(.needs, phase.start, end)
      case .forSlot: put(.slot, phase.start, end)
      case .forPool: put(.pool, phase.start, end)
      case .forPerson: put(.person, phase.start, end)
      case .forCluster: put(.cluster, phase.start, end)
      case .backingOff: put(.backOff, phase.start, end)
      case .paused: put(.paused, phase.start, end)
      case .executing:
        let isPaused = place + 1 < record.phases.count && record.phases[place + 1].kind == .paused
        let (mark, ending): (Mark, Mark?) =
          switch record.outcome(of: place) {
          case nil: (.executing, nil)
          case .failed, .backingOff: (.lost, .failed)
          case .cancelled: (.dropped, .cancelled)
          default: (.done, nil)
          }
        put(mark, phase.start, end)
        // The last cell of an attempt shows its end.
        if let ending, !isPaused { put(ending, end - .nanoseconds(1), end) }
      case .succeeded, .failed, .cancelled, .skipped: break
      }
    }
    if !record.state.isTerminal, !model.isOver, let expected = model.path.schedule?.expected(id) {
      put(.expected, max(elapsed, expected.lowerBound), expected.upperBound)
    }
    return marks
  }
}

extension Format {
  /// The time of a cell: `50ms`, `5s`, `10m`, `2h`.
  static func step(_ step: Duration) -> String {
    let milliseconds = Int(clamping: step / .milliseconds(1))
    if milliseconds < 1000 { return "\(milliseconds)ms" }
    let seconds = milliseconds / 1000
    if seconds < 60 { return "\(seconds)s" }
    return seconds < 3600 ? "\(seconds / 60)m" : "\(seconds / 3600)h"
  }
}
