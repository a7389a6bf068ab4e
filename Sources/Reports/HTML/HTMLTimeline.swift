import Basics
import JobModel
import Screen

/// The timeline of the page: a row for each job with its waits and attempts, below the slots in use.
struct HTMLTimeline {
  /// Rows in one block, which the browser lays out when it comes into view.
  private static let block = 100
  /// The number of intervals over which the mean use of slots is drawn.
  private static let parts = 400

  let figures: RunFigures
  /// The most rows; of a larger run the jobs that are left out are the shortest.
  let limit: Int
  private var run: Run { figures.run }
  private var end: Duration { figures.end }

  /// The jobs by their first start, then the ones that never executed.
  private var order: [JobID] {
    let starts = run.jobs.map { $0.attempts.first?.startedAt ?? $0.since }
    return shown.sorted { left, right in
      let (first, second) = (run[left].attempts.isEmpty, run[right].attempts.isEmpty)
      if first != second { return second }
      return (starts[left.index], left) < (starts[right.index], right)
    }
  }

  private var shown: [JobID] {
    guard run.jobs.count > limit else { return Array(run.ids) }
    let first = figures.chain.map(\.job) + figures.failed + figures.slowest + Array(run.ids)
    var seen = Set<JobID>()
    for id in first where seen.count < limit { seen.insert(id) }
    return Array(seen)
  }

  func append(to page: inout String) {
    let step = Self.step(end)
    let width = HTMLText.number(step / max(end, .microseconds(1)) * 100)
    page += "<div class=\"tl\" id=\"tl\" style=\"--step:\(width)%\" data-length=\"\(end.microseconds)\">\n"
    page += "<div class=\"in\">\n"
    page += "<div class=\"row axis\"><span class=\"nm\">job</span><span class=\"ln\">"
    var at = Duration.zero
    while at <= end {
      // A label at the very end would leave the lane.
      if at <= end - step * 0.4 || at == .zero {
        page += "<u style=\"left:\(HTMLText.percent(at, of: end))%\">\(Self.label(at))</u>"
      }
      at += step
    }
    page += "</span></div>\n"
    appendSlots(to: &page)
    let chain = Dictionary(figures.chain.map { ($0.job, $0) }, uniquingKeysWith: { $1 })
    let order = order
    for start in stride(from: 0, to: order.count, by: Self.block) {
      let rows = order[start..<min(order.count, start + Self.block)]
      page += "<div class=\"bl\" style=\"--rows:\(rows.count)\">\n"
      for id in rows { appendRow(id, chain[id], to: &page) }
      page += "</div>\n"
    }
    page += "</div>\n</div>\n"
  }

  /// The mean number of slots in use as an area; the full height is all slots.
  private func appendSlots(to page: inout String) {
    guard figures.slots.peak > 0 else { return }
    let top = Double(max(figures.slots.peak, figures.slotCount ?? 0))
    var path = "M0 40"
    for (place, busy) in figures.slots.curve(Self.parts, until: end).enumerated() {
      let y = HTMLText.number((40 - busy / top * 38))
      path += "V\(y)H\(HTMLText.number(Double(place + 1)))"
    }
    let label = figures.slotCount.map { "slots in use, of \($0)" } ?? "slots in use, at most \(figures.slots.peak)"
    page += """
      <div class="row use"><span class="nm">\(label)</span><span class="ln"><svg viewBox="0 0 \(Self.parts) 40" \
      preserveAspectRatio="none" role="img" aria-label="\(label)"><path class="full" d="M0 2H\(Self.parts)"/>\
      <path class="area" d="\(path)V40Z"/></svg></span></div>

      """
  }

  private func appendRow(_ id: JobID, _ link: Forecast.Link?, to page: inout String) {
    let record = run[id]
    let state = StateClass(record)
    let name = HTMLText.shown(StateText.name(id, in: run).text)
    let time = record.attempts.isEmpty ? "" : Format.length(record.spent(.executing, until: end))
    page += "<div class=\"row \(state.css)\(link == nil ? "" : " cp")\" id=\"j\(id.index)\">"
    page += "<span class=\"nm\" title=\"\(name)\"><b>\(state.letter(isASCII: false))</b><bdi>\(name)</bdi>"
    page += "<em>\(time)</em></span><span class=\"ln\">"
    if let link {
      page += "<s style=\"left:\(HTMLText.percent(link.from, of: end))%;"
      page += "width:\(HTMLText.percent(link.share, of: end))%\"></s>"
    }
    for place in 0..<record.phases.count {
      let phase = record.phases[place]
      let to = record.phases.end(of: place) ?? end
      guard !phase.kind.isTerminal, to > phase.start || phase.kind == .executing else { continue }
      page += "<i class=\"\(Self.mark(record, place))\" style=\"left:\(HTMLText.percent(phase.start, of: end))%;"
      page += "width:\(HTMLText.percent(to - phase.start, of: end))%\"></i>"
    }
    if record.phases.count == 0 { page += "<i class=\"wn\" style=\"left:0%;width:100%\"></i>" }
    page += "</span></div>\n"
  }

  /// The class of a bar: `w…` for a wait, else the end of the attempt.
  static func mark(_ record: JobRecord, _ place: Int) -> String {
    let kind = record.phases[place].kind
    guard kind == .executing else { return kind.css ?? "" }
    switch record.outcome(of: place) {
    case nil: return "x running"
    case .backingOff: return "x failed"
    case .failed: return record.state.isOK ? "x allowed-to-fail" : "x failed"
    case .succeeded: return "x ok"
    // Ended by a person, or for another attempt.
    default: return "x cancelled"
    }
  }

  /// The label of a whole number of milliseconds: `0:05`, `0:00.025`.
  private static func label(_ time: Duration) -> String {
    var fraction = String(time.microseconds / 1000 % 1000, digits: 3)
    while fraction.last == "0" { fraction.removeLast() }
    return Format.time(time) + (fraction.isEmpty ? "" : ".\(fraction)")
  }

  /// The time between two labels, so that there are six to twelve.
  static func step(_ length: Duration) -> Duration {
    let steps: [Duration] =
      [1, 2, 5, 10, 20, 50, 100, 200, 500].map { .milliseconds($0) } + [1, 2, 5, 10, 15, 30].map { .seconds($0) }
      + [1, 2, 5, 10, 15, 30].map { .seconds($0 * 60) } + [1, 2, 4, 6, 12, 24].map { .seconds($0 * 3600) }
    return steps.first { length <= $0 * 12 } ?? .seconds(86_400) * Double((length / .seconds(86_400 * 10)).rounded(.up))
  }
}

extension Phase.Kind {
  /// The class of a bar and the mark in the key, for a wait.
  var css: String? {
    switch self {
    case .waiting: "wn"
    case .forSlot: "ws"
    case .forPool: "wp"
    case .forPerson: "wa"
    case .forCluster: "wc"
    case .backingOff: "wb"
    case .paused: "wz"
    case .executing, .succeeded, .failed, .cancelled, .skipped: nil
    }
  }
}
