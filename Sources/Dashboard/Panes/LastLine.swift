import JobModel
import Screen

/// The line below the rows of a panel: something about them at the left, filter, tags and place at the right.
struct LastLine {
  let model: Model
  let theme: Theme

  func draw(_ left: [Span], _ frame: inout Frame, _ area: Rect, order: String) {
    let rows = model.rowCount
    let place = model.cursorRow.map { "\($0 + 1)/\(rows)" } ?? "\(rows)"
    var right = order.isEmpty ? place : "\(order)  \(place)"
    if !model.order.filter.isEmpty {
      right = "/\(theme.elision.end(model.order.filter.text, to: 24))  \(model.found)"
    }
    if !model.tags.isEmpty { right = "\(model.tags.count) tagged  " + right }
    let room = area.width - 2 - TextWidth.of(right) - 2
    if room > 12 { draw(left, &frame, area, room: room) }
    let start = max(area.x + 1, area.maxX - 1 - TextWidth.of(right))
    frame.put(
      right, x: start, y: area.y, limit: area.maxX - start,
      style: model.order.filter.isEmpty ? theme.dim : theme.accent)
  }

  private func draw(_ spans: [Span], _ frame: inout Frame, _ area: Rect, room: Int) {
    var used = 0
    for span in spans where used < room {
      let text = theme.elision.end(span.text, to: room - used)
      used += frame.put(text, x: area.x + 1 + used, y: area.y, style: span.style)
    }
  }
}

extension Model {
  /// How many rows the filter admits: jobs of all, or facts.
  var found: String {
    panel == .events ? Format.count(events.rows.count, "event") : "\(order.rows.count)/\(run.jobs.count)"
  }
}
