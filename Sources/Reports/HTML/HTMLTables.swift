import JobModel
import Screen

/// The tables of the page and its list of failures.
struct HTMLTables {
  /// The most rows of each.
  private enum Most {
    static let chain = 20
    static let slow = 15
    static let flaky = 20
    static let detailed = 20
    static let failed = 500
  }

  let figures: RunFigures
  private var run: Run { figures.run }

  func appendPath(to page: inout String) {
    let links = figures.largestLinks(Most.chain)
    guard let longest = links.map(\.share).max() else { return }
    page += """
      <section class="card wide"><h2>Critical path</h2>
      <p class="note">The chain of needs that decided when the run ended; only shorter shares make the run shorter.</p>
      <table><thead><tr><th>Job</th><th class="w l">Share of the run</th><th>Running</th><th>Waited</th>\
      <th class="l">Of which most</th></tr></thead><tbody>

      """
    for link in links {
      let share = figures.pathTime > .zero ? link.share / figures.pathTime : 0
      // A share of a time that is shown as 0.0s has no meaning.
      let percent = figures.pathTime >= .milliseconds(50) ? Format.percent(share) : ""
      let isShown = link.waited >= .milliseconds(50)
      page += """
        <tr><td>\(job(link.job))</td><td><div class="meter">\
        <i class="crit" style="width:\(HTMLText.percent(link.executing, of: longest))%"></i>\
        <i class="ws" style="width:\(HTMLText.percent(link.waited, of: longest))%"></i></div>\
        <span class="pc">\(percent)</span></td><td>\(Format.length(link.executing))</td>\
        <td>\(isShown ? Format.length(link.waited) : "")</td>\
        <td class="l">\(isShown ? figures.longestWait(in: link)?.phrase ?? "" : "")</td></tr>

        """
    }
    page += "</tbody></table>\n\(more(figures.chain.count - links.count, "job"))</section>\n"
  }

  func appendSlow(to page: inout String) {
    let jobs = figures.slowest.prefix(Most.slow)
    guard let first = jobs.first else { return }
    let longest = run[first].spent(.executing, until: figures.end)
    let hasUsual = jobs.contains { run[$0].job.usual != nil }
    page += "<section class=\"card\"><h2>Slowest jobs</h2>\n<table><thead><tr><th>Job</th><th class=\"w\"></th>"
    page += "<th>Running</th>" + (hasUsual ? "<th>Usually</th><th></th>" : "") + "<th>Tries</th></tr></thead><tbody>\n"
    for id in jobs {
      let record = run[id]
      let took = record.spent(.executing, until: figures.end)
      page += "<tr><td>\(job(id))</td><td><div class=\"meter\"><i class=\"\(StateClass(record).css)\" "
      page += "style=\"width:\(HTMLText.percent(took, of: longest))%\"></i></div></td><td>\(Format.length(took))</td>"
      if hasUsual {
        page += "<td>\(record.job.usual.map { Format.length($0.median) } ?? "")</td>"
        page += "<td>\(record.deviation ?? "")</td>"
      }
      page += "<td>\(record.attempt?.number ?? 1)</td></tr>\n"
    }
    page += "</tbody></table></section>\n"
  }

  func appendWaits(to page: inout String) {
    guard !figures.waits.isEmpty else { return }
    page += "<section class=\"card wide\"><h2>Waits</h2>\n<table><thead><tr><th>For</th><th>All jobs</th><th>Jobs</th>"
    page += "<th>Longest</th><th class=\"l\"></th></tr></thead><tbody>\n"
    for wait in figures.waits {
      page += "<tr><td>\(wait.kind.phrase)</td><td>\(Format.length(wait.total))</td><td>\(wait.jobs)</td>"
      page += "<td>\(Format.length(wait.longest.time))</td><td class=\"l\">\(job(wait.longest.job))</td></tr>\n"
    }
    page += "</tbody></table></section>\n"
  }

  func appendFlaky(to page: inout String) {
    let jobs = figures.flakiest
    guard !jobs.isEmpty else { return }
    page += "<section class=\"card wide\"><h2>Flaky jobs</h2>\n<table><tbody>\n"
    for id in jobs.prefix(Most.flaky) {
      page += "<tr><td>\(job(id))</td><td class=\"l\">\(run[id].flakiness)</td></tr>\n"
    }
    page += "</tbody></table>\n\(more(jobs.count - Most.flaky, "job"))</section>\n"
  }

  func appendFailures(to page: inout String) {
    let jobs = figures.failed
    guard !jobs.isEmpty else { return }
    page += "<section class=\"card wide\"><h2>Failures</h2>\n"
    for (place, id) in jobs.prefix(Most.failed).enumerated() {
      let record = run[id]
      let phrase = HTMLText.shown(StateText.phrase(id, before: nil, at: figures.end, in: run).text)
      let title = "\(job(id)) <span class=\"why\">\(phrase)</span>"
      guard place < Most.detailed else {
        page += "<p class=\"fail\">\(title)</p>\n"
        continue
      }
      let tail = FailureList.tail(of: record)
      page += "<details class=\"fail\"\(place < 5 ? " open" : "")><summary>\(title)</summary>\n"
      let output = tail.map(HTMLText.line).joined(separator: "\n")
      page += tail.isEmpty ? "<p class=\"note\">no output</p>" : "<pre>\(output)</pre>"
      if let path = FailureList.logPath(of: id, in: run) {
        page += "\n<p class=\"note\">log: <code>\(HTMLText.shown(path))</code></p>"
      }
      page += "</details>\n"
    }
    page += "\(more(jobs.count - Most.failed, "failure"))</section>\n"
  }

  /// The letter and name of a job, as a link to its row.
  private func job(_ id: JobID) -> String {
    let state = StateClass(run[id])
    return "<a class=\"job \(state.css)\" href=\"#j\(id.index)\"><b>\(state.letter(isASCII: false))</b>"
      + "<bdi>\(HTMLText.shown(StateText.name(id, in: run).text))</bdi></a>"
  }

  private func more(_ count: Int, _ noun: String) -> String {
    count > 0 ? "<p class=\"note\">and \(Format.count(count, "more \(noun)"))</p>" : ""
  }
}
