import JobModel
import Screen

/// Draws a settled model; nothing is remembered from one frame to the next.
enum View {
  static func frame(_ model: Model, _ traits: ScreenTraits, now: Duration) -> Frame {
    var frame = Frame(model.size)
    let now = model.shownTime(now)
    let theme = Theme(traits, looks: model.options.looks)
    let layout = Layout(model)
    guard !layout.isTooSmall else {
      frame.put("too small", x: 0, y: 0)
      return frame
    }
    if !layout.header.isEmpty { Header(model: model, theme: theme, now: now).draw(&frame, layout.header) }
    if let banner = Banner(model) { banner.draw(&frame, layout.banner, theme) }
    switch model.page {
    case .help:
      HelpPage(model: model, theme: theme).draw(&frame, layout.page)
    case .zoom:
      ZoomPage(model: model, theme: theme, now: now).draw(&frame, layout.page)
    case .list:
      if !layout.list.isEmpty { drawPanel(model, theme, &frame, layout, now) }
      if !layout.strip.isEmpty {
        TimelinePane(model: model, theme: theme, now: now).drawStrip(&frame, layout.strip)
      }
      if !layout.detail.isEmpty {
        for y in layout.detail.y..<layout.detail.maxY {
          frame.put(theme.vertical, x: layout.detail.x - 1, y: y, style: theme.rule)
        }
        Detail(model: model, theme: theme, now: now).draw(&frame, layout.detail)
      }
    }
    if !layout.logBar.isEmpty { LogPane(model: model, theme: theme).draw(&frame, layout) }
    if !layout.footer.isEmpty { Footer(model: model, theme: theme).draw(&frame, layout.footer) }
    if case .palette(let editor, let place) = model.prompt {
      Palette(model: model, theme: theme, query: editor.text, place: place).draw(&frame, layout.body)
    }
    if traits.isASCII { frame.replaceForeign() }
    return frame
  }

  private static func drawPanel(
    _ model: Model, _ theme: Theme, _ frame: inout Frame, _ layout: Layout, _ now: Duration
  ) {
    switch model.panel {
    case .list, .tree: JobList(model: model, theme: theme, now: now).draw(&frame, layout)
    case .timeline: TimelinePane(model: model, theme: theme, now: now).draw(&frame, layout)
    case .critical: CriticalPane(model: model, theme: theme, now: now).draw(&frame, layout)
    case .events: EventPane(model: model, theme: theme).draw(&frame, layout)
    }
  }

  /// What the window is called.
  static func title(_ model: Model) -> String {
    let run = model.run
    let name = model.name
    guard run.start != nil else { return name }
    let failed = run.counts.failed > 0 ? ", \(run.counts.failed) failed" : ""
    return "\(name): \(Header.word(model).lowercased()) \(run.counts.done)/\(run.jobs.count)\(failed)"
  }

  /// What the mark on the window says: per cent of the run, and whether anything failed; no mark once it is over.
  static func mark(_ model: Model) -> (percent: Int?, failed: Bool) {
    let run = model.run
    let failed = run.counts.failed > run.counts.allowed
    guard !run.jobs.isEmpty, !model.isOver else { return (nil, failed) }
    return (Int(model.share * 100), failed)
  }
}

extension Model {
  /// What the header calls the run.
  var name: String { options.source ?? run.start?.name ?? "opdash" }

  /// How much of the run is done, from 0 to 1: ended jobs whole, open ones by their own share.
  var share: Double {
    guard !run.jobs.isEmpty else { return 0 }
    return min(1, (Double(run.counts.done) + index.openShare) / Double(run.jobs.count))
  }
}

extension Frame {
  /// Puts marks for what ASCII doesn't have: names and output may hold anything.
  mutating func replaceForeign() {
    for y in 0..<size.height {
      for x in 0..<size.width {
        let cell = self[x, y]
        if !cell.text.utf8.allSatisfy({ $0 < 0x80 }) { put("?", x: x, y: y, style: cell.style) }
      }
    }
  }
}
