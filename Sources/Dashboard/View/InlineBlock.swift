import JobModel
import Screen

/// The lines below a stream of plain output: the open jobs with their bars, and a summary of the run.
///
/// Receives every event of a run in order, each after the run has applied it.
package struct InlineBlock: Sendable {
  /// The most jobs that are shown; they take at most a third of the screen.
  static let mostJobs = 8

  private let source: String?
  private let theme: Theme
  private var index = JobIndex()

  package init(source: String?, traits: ScreenTraits, looks: [ThemeElement: Style] = [:]) {
    self.source = source
    theme = Theme(traits, looks: looks)
  }

  package mutating func receive(_ event: JobEvent, in run: Run) { index.apply(event, run) }

  /// When the block that was drawn at `last` changes without an event; nil for never.
  package func nextChange(after last: Duration, in run: Run) -> Duration? {
    guard run.summary == nil, run.counts.executing + run.counts.backingOff > 0 else { return nil }
    let isUnmeasured = index.open.contains {
      run.jobs[$0.index].state == .executing && Bar.isIndeterminate(run.jobs[$0.index], now: last)
    }
    return last.next(isUnmeasured ? Bar.animationStep : .seconds(1))
  }

  /// The block for a screen of `size`: one column narrower, and only as high as its lines.
  package func frame(_ run: Run, size: Size, now: Duration) -> Frame {
    guard run.start != nil, size.width >= 12, size.height >= 3 else { return Frame(Size(width: 0, height: 0)) }
    let working = index.open.sorted { place($0, run) < place($1, run) }
    let room = max(1, min(Self.mostJobs, size.height / 3 - 1))
    let hasMore = working.count > room && room > 1
    let shown = working.prefix(hasMore ? room - 1 : room)
    var frame = Frame(Size(width: size.width - 1, height: shown.count + (hasMore ? 1 : 0) + 1))
    let names = shown.map { TextWidth.of(run.jobs[$0.index].job.name) }.max() ?? 0
    let nameWidth = min(names, max(6, frame.size.width / 3))
    for (y, id) in shown.enumerated() { draw(id, run, &frame, y: y, nameWidth: nameWidth, now: now) }
    if hasMore { frame.put("and \(working.count - shown.count) more", x: 3, y: shown.count, style: theme.dim) }
    drawSummary(run, &frame, y: frame.size.height - 1, now: now)
    if theme.traits.isASCII { frame.replaceNonASCII() }
    return frame
  }

  /// The last line of the block alone, on a screen of this width.
  package func summary(_ run: Run, width: Int, now: Duration) -> Frame {
    guard run.start != nil, width >= 12 else { return Frame(Size(width: 0, height: 0)) }
    var frame = Frame(Size(width: width - 1, height: 1))
    drawSummary(run, &frame, y: 0, now: now)
    if theme.traits.isASCII { frame.replaceNonASCII() }
    return frame
  }

  /// The sort key of a job: executing before held jobs, then the oldest first.
  private func place(_ id: JobID, _ run: Run) -> (Int, Duration, JobID) {
    (index.classes[id.index].attention, run.jobs[id.index].attempt?.startedAt ?? .zero, id)
  }

  /// Draws `▸ fetch   ██████▎······ 54%  8.1M/s   1:02`.
  private func draw(_ id: JobID, _ run: Run, _ frame: inout Frame, y: Int, nameWidth: Int, now: Duration) {
    let record = run.jobs[id.index]
    let state = index.classes[id.index]
    frame.put(theme.letter(state), x: 1, y: y, style: theme.style(state))
    frame.put(theme.elision.name(record.job.name, to: nameWidth), x: 3, y: y)
    let x = 3 + nameWidth + 2
    var end = frame.size.width
    if let elapsed = record.elapsed(at: now), end - x >= 16 {
      frame.put(Format.time(elapsed), endingAt: end, y: y)
      end -= 8
    }
    guard state == .executing else {
      let words = StatusText(id, run, now: now, room: end - x)
      frame.put(theme.elision.end(words.whole, to: end - x), x: x, y: y, style: theme.wordStyle(state))
      return
    }
    if end - x >= 28 {
      if let rate = record.rate(at: now), let unit = record.progress?.unit {
        frame.put(Format.rate(rate, unit), endingAt: end, y: y, style: theme.dim)
      }
      end -= 9
    }
    let width = min(30, end - x - 5)
    guard width >= 4 else { return }
    // Where no bar moves, a prompt or a spinner says more.
    if record.progress?.fraction == nil, let line = record.log.unfinishedLine {
      let text = JobText(line.text).plain.drop { $0 == " " }
      frame.put(theme.elision.end(String(text), to: end - x), x: x, y: y, style: theme.dim)
      return
    }
    Bar(theme: theme).draw(record, now: now, &frame, x: x, y: y, width: width)
  }

  /// Draws the most important parts of the run's summary that fit.
  private func drawSummary(_ run: Run, _ frame: inout Frame, y: Int, now: Duration) {
    let counts = run.counts
    let isMoving = counts.executing + counts.backingOff > 0
    var items: [[TextSpan]] = [
      [TextSpan(Format.time(isMoving ? run.elapsed(at: max(now, run.time)) : run.length), theme.bold)]
    ]
    func item(_ count: Int, _ word: String, _ style: Style) {
      if count > 0 { items.append([TextSpan("\(count)", style), TextSpan(" \(word)", theme.dim)]) }
    }
    items.append([TextSpan("\(counts.done)", theme.bold), TextSpan(" of \(run.jobs.count) done", theme.dim)])
    item(counts.failed, "failed", theme.bad)
    item(run.warnings.count, run.warnings.count == 1 ? "warning" : "warnings", theme.held)
    item(index.counts[Int(StateClass.executing.rawValue)], "running", theme.style(.executing))
    item(index.counts[Int(StateClass.stopping.rawValue)], "stopping", theme.held)
    item(counts.paused, "paused", theme.held)
    item(counts.backingOff, "retrying", theme.style(.backingOff))
    item(counts.waiting + counts.ready, "waiting", .plain)
    let rate = index.rate(run, at: now)
    if rate > 0 { items.append([TextSpan(Format.rate(rate, .bytes), theme.dim)]) }
    if let estimate = Estimate(run, index, now: now, simulatingUpTo: Estimate.frequentLimit) {
      items.append([TextSpan(estimate.left.text, theme.dim)])
    }
    let word = run.stopping != nil ? " STOPPING " : run.isDraining ? " DRAINING " : " RUN "
    var x = 1 + frame.put(word, x: 1, y: y, style: run.stopping == nil ? theme.calm : theme.warning) + 2
    let name = theme.elision.name(run.start?.name ?? source ?? "", to: min(24, frame.size.width / 3))
    items.insert([TextSpan(name, theme.bold)], at: 0)
    for item in items where x + item.width <= frame.size.width { x += frame.put(item, x: x, y: y) + 2 }
  }
}
