import JobModel
import Screen

/// The graph as SVG: each job to the right of its needs, the critical path marked.
struct HTMLGraph {
  private static let rowHeight = 38.0
  private static let nodeHeight = 28.0
  private static let columnGap = 48.0
  private static let margin = 10.0
  /// The width of a cell of the font, which is the browser's monospaced one at 12 px.
  private static let cell = 7.3
  private static let nameCells = 26

  let figures: RunFigures
  let layout: GraphLayout
  private var run: Run { figures.run }

  init(_ figures: RunFigures) {
    self.figures = figures
    layout = GraphLayout(figures.run, keeping: figures.chain.map(\.job))
  }

  var isEmpty: Bool { layout.nodes.isEmpty }

  /// Names the boxes that jobs share, and the needs and jobs that the picture leaves out.
  var caption: String {
    var parts: [String] = []
    if layout.isCollapsed { parts.append("jobs with similar names share a box") }
    parts.append("needs that follow from others are left out")
    if layout.lone > 0 { parts.append("\(Format.count(layout.lone, "job")) without needs and dependents not shown") }
    return parts.joined(separator: "; ")
  }

  func append(to page: inout String) {
    let titles = layout.nodes.map(title)
    var widths = [Double](repeating: 0, count: (layout.nodes.map(\.layer).max() ?? -1) + 1)
    for (node, title) in zip(layout.nodes, titles) {
      widths[node.layer] = max(widths[node.layer], Double(TextWidth.of(title)) * Self.cell + 38)
    }
    var columns: [Double] = []
    var x = Self.margin
    for width in widths {
      columns.append(x)
      x += width + Self.columnGap
    }
    let (width, height) = (
      x - Self.columnGap + Self.margin, layout.rows * Self.rowHeight - 10 + Self.margin * 2
    )
    let (chain, critical) = (Set(figures.chain.map(\.job)), layout.chain)
    page += "<div class=\"graph\"><svg width=\"\(HTMLText.number(width))\" height=\"\(HTMLText.number(height))\" "
    page +=
      "viewBox=\"0 0 \(HTMLText.number(width)) \(HTMLText.number(height))\" style=\"min-width:\(HTMLText.number(width * 0.72))px\" "
    page += "role=\"img\" aria-label=\"the jobs and their needs\">\n"
    // The edges of the critical path are drawn over the others.
    for edge in layout.edges.filter({ !critical.contains($0) }) + layout.edges.filter(critical.contains) {
      let (from, to) = (layout.nodes[edge.from], layout.nodes[edge.to])
      let start = (x: columns[from.layer] + widths[from.layer], y: middle(from))
      let end = (x: columns[to.layer], y: middle(to))
      let bend = max(24, (end.x - start.x) / 2)
      let points = [start.x, start.y, start.x + bend, start.y, end.x - bend, end.y, end.x, end.y].map(HTMLText.number)
      page += "<path class=\"e\(critical.contains(edge) ? " cp" : "")\" d=\"M\(points[0]) \(points[1])"
      page += "C\(points[2]) \(points[3]) \(points[4]) \(points[5]) \(points[6]) \(points[7])\"/>\n"
    }
    for (index, node) in layout.nodes.enumerated() {
      appendNode(
        node, titles[index], x: columns[node.layer], width: widths[node.layer],
        isCritical: !chain.isDisjoint(with: node.jobs), to: &page)
    }
    page += "</svg></div>\n"
  }

  private func middle(_ node: GraphLayout.Node) -> Double {
    Self.margin + node.y * Self.rowHeight + Self.nodeHeight / 2
  }

  private func appendNode(
    _ node: GraphLayout.Node, _ title: String, x: Double, width: Double, isCritical: Bool, to page: inout String
  ) {
    let y = Self.margin + node.y * Self.rowHeight
    let states = run.tally(of: node.jobs)
    // The state of the node is the one that asks for the most attention.
    let state = states.first?.state ?? .waiting
    let hint =
      node.jobs.count == 1
      ? "\(StateText.name(node.jobs[0], in: run)): \(StatusText(node.jobs[0], run, now: figures.end).whole)"
      : states.map { "\($0.count) \($0.word)" }.joined(separator: ", ")
    page += "<a class=\"n \(state.css)\(isCritical ? " cp" : "")\" href=\"#j\(node.jobs[0].index)\" "
    page += "transform=\"translate(\(HTMLText.number(x)) \(HTMLText.number(y)))\">"
    page += "<title>\(HTMLText.shown(hint))</title>"
    page += "<rect width=\"\(HTMLText.number(width))\" height=\"28\" rx=\"6\"/>"
    if node.jobs.count > 1 {
      var left = 5.0
      for part in states {
        let share = (width - 10) * Double(part.count) / Double(node.jobs.count)
        page += "<rect class=\"p \(part.state.css)\" x=\"\(HTMLText.number(left))\" y=\"22\" "
        page += "width=\"\(HTMLText.number(share))\" height=\"3\"/>"
        left += share
      }
    }
    page += "<text class=\"l\" x=\"10\" y=\"18\">\(state.letter(isASCII: false))</text>"
    page += "<text x=\"27\" y=\"18\">\(HTMLText.shown(title))</text></a>\n"
  }

  private func title(_ node: GraphLayout.Node) -> String {
    if node.jobs.count == 1 {
      return Elision(isASCII: false).name(StateText.name(node.jobs[0], in: run).text, to: Self.nameCells)
    }
    let count = "\u{A0}×\(node.jobs.count)"
    guard let stem = node.stem else { return Format.count(node.jobs.count, "job") }
    return Elision(isASCII: false).end(JobText.clean(stem).text, to: Self.nameCells - 8) + "…" + count
  }
}
