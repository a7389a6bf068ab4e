import Screen

/// What is known of the cursor's job, beside the list of a wide screen.
struct Detail {
  let model: Model
  let theme: Theme
  let now: Duration

  func draw(_ frame: inout Frame, _ area: Rect) {
    guard let id = model.cursor else { return }
    let lines = JobDescription(id: id, model: model, theme: theme, now: now).lines(width: area.width - 2)
    for (offset, line) in lines.prefix(area.height).enumerated() {
      frame.put(line, x: area.x + 1, y: area.y + offset, limit: area.width - 2)
    }
    if lines.count > area.height, area.height > 1 {
      let count = "\(lines.count - area.height + 1) more lines"
      let text = model.keys.label(.zoom).map { "\($0) shows \(count)" } ?? count
      let y = area.maxY - 1
      frame.fill(Rect(x: area.x, y: y, width: area.width, height: 1))
      frame.put(text, x: area.x + 1, y: y, limit: area.width - 2, style: theme.dim)
    }
  }
}
