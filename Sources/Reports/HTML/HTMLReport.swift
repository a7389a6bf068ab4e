import Foundation
import JobModel
import Screen

/// A recorded run as one HTML page that loads nothing: figures, timeline, graph, failures with the end of their logs.
///
/// The page is the same for the same events. Its security policy allows the page's own style and script and nothing else.
package struct HTMLReport {
  private let figures: RunFigures
  private let zone: TimeZone
  private let rows: Int
  private var run: Run { figures.run }

  /// `rows` is the most rows of the timeline, which leaves out the shortest jobs of a larger run.
  package init(_ run: Run, zone: TimeZone = .current, rows: Int = 20_000) {
    figures = RunFigures(run)
    self.zone = zone
    self.rows = rows
  }

  /// The document, in UTF-8 once it is written.
  package var text: String {
    var page = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
      script-src 'sha256-\(HTMLStyle.scriptHash)'; base-uri 'none'; form-action 'none'">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>\(name) · \(verdict.text)</title>
      <style>
      \(HTMLStyle.sheet)
      </style>
      </head>
      <body>
      <main>

      """
    appendHead(to: &page)
    appendCards(to: &page)
    let tables = HTMLTables(figures: figures)
    tables.appendFailures(to: &page)
    appendTimeline(to: &page)
    tables.appendPath(to: &page)
    appendGraph(to: &page)
    page += "<div class=\"two\">\n"
    tables.appendSlow(to: &page)
    page += "<div>\n"
    tables.appendWaits(to: &page)
    tables.appendFlaky(to: &page)
    page += "</div>\n</div>\n</main>\n<script>\(HTMLStyle.script)</script>\n</body>\n</html>\n"
    return page
  }

  // MARK: Head

  private var name: String { HTMLText.shown(run.start?.name ?? "run") }

  private var verdict: (text: String, css: String) {
    if run.summary == nil { return ("not finished", "cancelled") }
    if run.counts.failed > 0 { return ("\(run.counts.failed) of \(run.jobs.count) failed", "failed") }
    let left = run.counts.open + run.counts.cancelled - run.counts.cancelledByProgram
    return left > 0 ? ("stopped", "cancelled") : ("ok", "ok")
  }

  private func appendHead(to page: inout String) {
    let letter = verdict.css == "failed" ? "✗" : verdict.css == "ok" ? "✓" : "⊘"
    page += "<header>\n<h1>\(name)</h1>\n"
    page += "<span class=\"badge \(verdict.css)\"><b>\(letter)</b> \(verdict.text)</span>\n<p>"
    var facts: [String] = []
    if let start = run.start {
      facts.append(DateText.of(start.at, in: zone))
      facts.append("run <code>\(HTMLText.shown(start.id))</code>")
      if let earlier = start.resumes { facts.append("resumes <code>\(HTMLText.shown(earlier))</code>") }
    }
    if let exit = run.summary?.exit, exit != 0 { facts.append("exit status \(exit)") }
    if run.summary == nil { facts.append("the recording ends after \(Format.length(run.time))") }
    page += facts.joined(separator: " · ") + "</p>\n</header>\n"
  }

  private func appendCards(to page: inout String) {
    page += "<section class=\"cards\">\n"
    let clock = run.start.map { start in
      let (from, to) = (Format.clock(start.at, in: zone), start.at.addingTimeInterval(figures.end / .seconds(1)))
      return "<p>\(from) to \(Format.clock(to, in: zone))</p>"
    }
    card("Length", Format.length(run.length), clock ?? "", to: &page)
    jobsCard(to: &page)
    let mean = HTMLText.number((figures.meanBusy * 10).rounded() / 10)
    if let count = figures.slotCount, count > 0 {
      let part = min(1, figures.meanBusy / Double(count))
      let idle = max(.zero, run.length * count - figures.slots.busyTime)
      card(
        "Slots in use", "\(mean) <small>of \(count)</small>",
        meter([("ok", part, "in use")])
          + "<p>\(figures.slots.busyTime < .milliseconds(50) ? "" : "\(Format.percent(part)) of their time; ")idle \(Format.length(idle)), "
          + "at most \(figures.slots.peak) in use</p>",
        to: &page)
    } else {
      card("Slots in use", mean, "<p>at most \(figures.slots.peak)</p>", to: &page)
    }
    let (whole, executing) = (figures.pathTime, figures.pathExecuting)
    let part = whole > .zero ? executing / whole : 0
    card(
      "Critical path", "\(figures.chain.count) <small>\(figures.chain.count == 1 ? "job" : "jobs")</small>",
      meter([("crit", part, "running")])
        + "<p>running \(Format.length(executing)), waiting \(Format.length(whole - executing))</p>", to: &page)
    page += "</section>\n"
  }

  private func card(_ title: String, _ figure: String, _ more: String, to page: inout String) {
    page += "<div class=\"card\"><h3>\(title)</h3><strong>\(figure)</strong>\(more)</div>\n"
  }

  private func jobsCard(to page: inout String) {
    // The good ones first.
    let states = run.tally(of: run.ids).sorted {
      ($1.state.attention, $0.state.rawValue, $0.word) < ($0.state.attention, $1.state.rawValue, $1.word)
    }
    let all = Double(max(1, run.jobs.count))
    var text = meter(states.map { ($0.state.css, Double($0.count) / all, $0.word) })
    text += "<p>"
    text += states.map { state, word, count in
      let letter = state.letter(isASCII: false)
      return "<span class=\"chip \(state.css)\"><b>\(letter)</b> \(count) \(word)</span>"
    }.joined(separator: " ")
    text += "</p>"
    if !figures.restored.isEmpty {
      text += "<p>\(figures.restored.count) of them done in an earlier run</p>"
    }
    card("Jobs", "\(run.jobs.count)", text, to: &page)
  }

  private func meter(_ parts: [(css: String, share: Double, title: String)]) -> String {
    let bars = parts.map {
      "<i class=\"\($0.css)\" style=\"width:\(HTMLText.number($0.share * 100))%\" title=\"\($0.title)\"></i>"
    }
    return "<div class=\"meter\">\(bars.joined())</div>"
  }

  // MARK: Pictures

  private func appendTimeline(to page: inout String) {
    guard !run.jobs.isEmpty else { return }
    let critical = figures.chain.isEmpty ? "" : "<label><input type=\"checkbox\" id=\"cp\"> critical path only</label>"
    page += """
      <section class="card wide"><div class="bar"><h2>Timeline</h2>
      <div class="tools" id="tools" hidden>\
      <input id="q" type="search" placeholder="filter jobs" aria-label="filter jobs">\(critical)\
      <label>zoom <input id="z" type="range" min="0" max="100" value="0"></label></div></div>

      """
    HTMLTimeline(figures: figures, limit: rows).append(to: &page)
    let missing = run.jobs.count - rows
    if missing > 0 { page += "<p class=\"note\">\(Format.count(missing, "shorter job")) not shown</p>\n" }
    let shown = Set(figures.waits.map(\.kind))
    page += "<p class=\"key\">"
    let ends: [(css: String, text: String)] = [
      ("ok", "ok"), ("failed", "attempt failed"), ("allowed-to-fail", "allowed to fail"), ("cancelled", "cancelled"),
      ("running", "not ended"),
    ]
    let marks = Set(
      run.jobs.flatMap { record in (0..<record.phases.count).map { HTMLTimeline.mark(record, $0) } })
    for end in ends where marks.contains("x \(end.css)") {
      page += "<span><i class=\"x \(end.css)\"></i>\(end.text)</span>"
    }
    for kind in RunFigures.waitKinds where shown.contains(kind) {
      page += "<span><i class=\"\(kind.css ?? "")\"></i>\(kind.phrase)</span>"
    }
    if !figures.chain.isEmpty { page += "<span><s></s>critical path</span>" }
    page += "</p></section>\n"
  }

  private func appendGraph(to page: inout String) {
    let graph = HTMLGraph(figures)
    guard !graph.isEmpty else { return }
    page += "<section class=\"card wide\"><h2>Graph</h2>\n<p class=\"note\">\(graph.caption)</p>\n"
    graph.append(to: &page)
    page += "</section>\n"
  }
}
