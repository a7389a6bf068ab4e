import Screen

/// The description of the cursor's job: beside the list of a wide screen, or on the whole screen above its log.
struct DetailPane {
  let model: Model
  let theme: Theme
  let now: Duration

  func draw(_ frame: inout Frame, _ area: Rect) {
    let lines = lines(width: area.width)
    for (offset, line) in lines.prefix(area.height).enumerated() {
      frame.put(line, x: area.x + 1, y: area.y + offset, limit: area.width - 2)
    }
    guard lines.count > area.height, area.height > 1 else { return }
    let hidden = "\(lines.count - area.height + 1) more lines"
    let text = model.keys.label(.zoom).map { "\($0) shows \(hidden)" } ?? hidden
    let y = area.maxY - 1
    frame.fill(Rect(x: area.x, y: y, width: area.width, height: 1))
    frame.put(text, x: area.x + 1, y: y, limit: area.width - 2, style: theme.dim)
  }

  /// Draws the lines of the description from the page's top.
  func drawPage(_ frame: inout Frame, _ area: Rect) {
    let lines = lines(width: area.width)
    let text = lines.isEmpty ? [[TextSpan("this job was not added yet", theme.dim)]] : lines
    frame.putPage(text, from: model.pageTop, area, theme)
  }

  /// The number of lines of the description on the whole screen.
  static func height(_ model: Model) -> Int {
    let theme = Theme(ScreenTraits(isASCII: true, palette: .none))
    return DetailPane(model: model, theme: theme, now: model.run.time).lines(width: model.size.width).count
  }

  private func lines(width: Int) -> [[TextSpan]] {
    guard let id = model.cursor else { return [] }
    return JobDescription(id: id, model: model, theme: theme, now: now).lines(width: width - 2)
  }
}
