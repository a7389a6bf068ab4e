import Dashboard
import JobModel
import Reports
import Screen

/// Plain lines above a block that shows the executing jobs.
struct InlineReport: Report {
  /// The minimum time between two draws.
  static let interval: Duration = .milliseconds(100)

  private let stream: InlineStream
  private var plain: PlainReport
  private var block: InlineBlock
  private var hasNews = false
  private var lastDraw: Duration?
  private var isOver = false
  /// Whether the end was announced; a retry leads to another end.
  private var hasTold = false

  var logCapacity: Int { plain.logCapacity }

  init(_ stream: InlineStream, paint: Paint, grouping: PlainReport.Grouping = .lines) {
    self.stream = stream
    plain = PlainReport(paint: paint, grouping: grouping, isBrief: stream.options.settings.isBrief) {
      stream.append($0)
    }
    let options = stream.options
    block = InlineBlock(source: options.source, traits: options.traits, looks: .named(options.settings.looks))
  }

  mutating func receive(_ event: JobEvent, before: JobState?, in run: Run) {
    plain.receive(event, before: before, in: run)
    block.receive(event, in: run)
    hasNews = true
    if run.isComplete != hasTold, case .jobState = event.fact {
      hasTold = run.isComplete
      if hasTold { stream.notify(JobText.clean(EndText.of(run, name: run.start?.name ?? stream.options.source))) }
    }
    if case .runFinished = event.fact { isOver = true }
  }

  mutating func flush() {
    plain.flush()
    if isOver { stream.close() }
  }

  func wakeTime(in run: Run) -> Duration? {
    guard !isOver, run.start != nil else { return nil }
    guard let lastDraw else { return .zero }
    if hasNews || stream.isStale { return lastDraw + Self.interval }
    return block.nextChange(after: lastDraw, in: run).map { max($0, lastDraw + Self.interval) }
  }

  mutating func wake(at now: Duration, in run: Run) {
    let frame = block.frame(run, size: stream.size, now: now)
    stream.draw(frame.rows.indices.map { frame.line(row: $0, palette: stream.options.traits.palette) })
    lastDraw = now
    hasNews = false
  }
}

extension [ThemeElement: Style] {
  /// Resolves the element names of a settings file.
  static func named(_ looks: [String: Style]) -> Self {
    var styles: Self = [:]
    for (name, style) in looks { if let element = ThemeElement(rawValue: name) { styles[element] = style } }
    return styles
  }
}
