import Basics
import JobModel
import Screen

/// Draws a prepared model; stores nothing between frames.
enum View {
  static func frame(_ model: Model, _ traits: ScreenTraits, now: Duration) -> Frame {
    var frame = Frame(model.size)
    let (present, now) = (now, model.shownTime(now))
    let theme = Theme(traits, looks: model.options.looks)
    let layout = Layout(model)
    guard !layout.body.isEmpty else {
      if model.prompt == .quit {
        Footer(model: model, theme: theme).drawSmallQuestion(&frame)
      } else {
        frame.put("needs \(Layout.smallest.width) x \(Layout.smallest.height)", x: 0, y: 0)
      }
      return frame
    }
    if !layout.header.isEmpty { Header(model: model, theme: theme, now: now).draw(&frame, layout.header) }
    if !layout.banner.isEmpty { Banner(model, now: present).draw(&frame, layout.banner, theme) }
    switch model.page {
    case .help:
      HelpPage(model: model, theme: theme).draw(&frame, layout.page)
    case .zoom:
      DetailPane(model: model, theme: theme, now: now).drawPage(&frame, layout.page)
    case .list:
      if !layout.list.isEmpty { drawPanel(model, theme, &frame, layout, now) }
      if !layout.strip.isEmpty {
        TimelinePane(model: model, theme: theme, now: now).drawStrip(&frame, layout.strip)
      }
      if !layout.detail.isEmpty {
        let end = layout.log.x == layout.detail.x ? layout.log.maxY : layout.detail.maxY
        for y in layout.detail.y..<end {
          frame.put(theme.vertical, x: layout.detail.x - 1, y: y, style: theme.rule)
        }
        DetailPane(model: model, theme: theme, now: now).draw(&frame, layout.detail)
      }
    }
    if !layout.logBar.isEmpty { LogPane(model: model, theme: theme).draw(&frame, layout) }
    if !layout.footer.isEmpty { Footer(model: model, theme: theme).draw(&frame, layout.footer) }
    if case .palette(let editor, let place) = model.prompt {
      CommandPalette(model: model, theme: theme, query: editor.text, place: place).draw(&frame, layout.body)
    }
    if traits.isASCII { frame.replaceNonASCII() }
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

  /// The title of the window: of the run as it is now, whatever the display shows.
  static func title(_ shown: Model) -> String {
    let model = shown.asLive
    let run = model.run
    guard run.start != nil else { return model.name }
    let failed = run.counts.failed > 0 ? ", \(run.counts.failed) failed" : ""
    let word = Header.word(model) == "RUN" ? "running" : Header.word(model).lowercased()
    return "\(model.name): \(word) \(run.counts.done)/\(run.jobs.count)\(failed)"
  }

  /// The progress that the terminal shows beside its window, in per cent; nil once the run is over.
  struct Mark: Equatable {
    var percent: Int?
    var failed: Bool
  }

  static func mark(_ shown: Model) -> Mark {
    let model = shown.asLive
    let counts = model.run.counts
    let hasProgress = !model.run.jobs.isEmpty && !model.isOver
    return Mark(percent: hasProgress ? Int(clamping: model.share * 100) : nil, failed: counts.failed > 0)
  }
}

extension Frame {
  /// Replaces characters that an ASCII terminal cannot draw: names and output may contain any.
  mutating func replaceNonASCII() {
    for y in 0..<size.height {
      for x in 0..<size.width {
        let cell = self[x, y]
        if !cell.text.utf8.allSatisfy({ $0 < 0x80 }) { put("?", x: x, y: y, style: cell.style) }
      }
    }
  }
}
