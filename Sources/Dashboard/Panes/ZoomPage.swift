import Screen

/// One job on the whole screen, above its log.
struct ZoomPage {
  let model: Model
  let theme: Theme
  let now: Duration

  func draw(_ frame: inout Frame, _ area: Rect) {
    guard let id = model.cursor else { return }
    let lines = JobDescription(id: id, model: model, theme: theme, now: now).lines(width: area.width - 2)
    for (offset, line) in lines.dropFirst(model.pageTop).prefix(area.height).enumerated() {
      frame.put(line, x: area.x + 1, y: area.y + offset, limit: area.width - 2)
    }
    if lines.count > area.height, area.height > 0 {
      let text = "\(min(lines.count, model.pageTop + area.height))/\(lines.count)"
      frame.put(text, endingAt: area.maxX - 1, y: area.y, style: theme.dim)
    }
  }

  /// How many lines the description has at a width.
  static func height(_ model: Model, width: Int) -> Int {
    guard let id = model.cursor else { return 0 }
    let theme = Theme(ScreenTraits(isASCII: true, palette: .none))
    return JobDescription(id: id, model: model, theme: theme, now: model.run.time).lines(width: width - 2).count
  }
}
