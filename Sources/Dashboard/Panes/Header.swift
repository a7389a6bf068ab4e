import JobModel
import Screen

/// The two lines at the top: the run's state and counts, and its progress.
struct Header {
  let model: Model
  let theme: Theme
  let now: Duration

  /// The run's state in one word.
  static func word(_ model: Model) -> String {
    let run = model.run
    let counts = run.counts
    if run.isComplete || run.summary != nil {
      if counts.failed > 0 { return "FAILED" }
      return run.stopping != nil || counts.cancelled > 0 || counts.open > 0 ? "STOPPED" : "DONE"
    }
    if model.isHeld { return "HELD" }
    if run.stopping != nil || model.quits > 0 { return "STOPPING" }
    if run.isDraining { return "DRAINING" }
    if run.isWatching, run.hasEnded { return counts.failed > 0 ? "FAILED" : "WATCHING" }
    if counts.paused > 0, counts.executing == 0, counts.ready == 0, counts.backingOff == 0 { return "PAUSED" }
    return "RUN"
  }

  func draw(_ frame: inout Frame, _ area: Rect) {
    drawCounts(&frame, area)
    guard area.height > 1 else { return }
    drawShares(&frame, Rect(x: area.x, y: area.y + 1, width: area.width, height: 1))
  }

  /// A part of the first line, in shorter and shorter forms; the last may be empty.
  private struct Item {
    /// The item with the least worth is shortened first.
    var worth: Int
    var forms: [[TextSpan]]
    var isRight = true
    var spans: [TextSpan] { forms.first ?? [] }
  }

  private func drawCounts(_ frame: inout Frame, _ area: Rect) {
    var items = left + right
    func width() -> Int { items.reduce(0) { $0 + ($1.spans.isEmpty ? 0 : $1.spans.width + 2) } }
    let isSmall = area.width < Layout.fullWidth
    while width() > area.width + (isSmall ? 1 : 0),
      let least = items.indices.filter({ !items[$0].spans.isEmpty }).min(by: { items[$0].worth < items[$1].worth })
    {
      items[least].forms.removeFirst()
      // A shorter form counts as much as the next item to be dropped.
      items[least].worth += 3
    }
    var x = area.x + 1
    for item in items where !item.isRight && !item.spans.isEmpty { x += frame.put(item.spans, x: x, y: area.y) + 2 }
    let rest = items.filter { $0.isRight && !$0.spans.isEmpty }
    var at = max(x, area.maxX + 1 - rest.reduce(0) { $0 + $1.spans.width + 2 })
    // On a small screen the counts follow the state.
    if isSmall { at = x }
    for item in rest { at += frame.put(item.spans, x: at, y: area.y) + 2 }
  }

  private var left: [Item] {
    let word = Self.word(model)
    let name = [40, 24, 12].map { [TextSpan(theme.elision.name(model.name, to: $0), theme.bold)] }
    var items = [
      Item(worth: 5, forms: name + [[]], isRight: false),
      Item(worth: 99, forms: [[TextSpan(" \(word) ", badge(word))]], isRight: false),
      Item(worth: 9, forms: [[TextSpan(Format.time(model.elapsed(at: now)), theme.bold)], []], isRight: false),
    ]
    if model.isUnrecorded {
      items.append(
        Item(
          worth: 8, forms: [[TextSpan("not recorded", theme.held)], [TextSpan("unrec.", theme.held)]], isRight: false))
    }
    if model.run.isWatching, word != "WATCHING" {
      items.append(
        Item(
          worth: 3, forms: [[TextSpan("watching inputs", theme.dim)], [TextSpan("watching", theme.dim)], []],
          isRight: false))
    }
    if let estimate = model.estimate {
      items.append(Item(worth: 4, forms: estimate.left.forms.map { [TextSpan($0, theme.dim)] } + [[]], isRight: false))
    }
    items.append(Item(worth: 0, forms: transfers.map { [TextSpan($0, theme.dim)] } + [[]], isRight: false))
    return items
  }

  /// The bytes of all transfers, and their rate while one has any.
  private var transfers: [String] {
    guard model.index.bytes > 0 else { return [] }
    let bytes = Format.bytes(model.index.bytes)
    let sum = model.index.rate(model.run, at: now)
    guard sum > 0 else { return [bytes] }
    let rate = Format.rate(sum, .bytes)
    return ["\(bytes) at \(rate)", rate]
  }

  private var right: [Item] {
    let run = model.run
    let counts = run.counts
    func number(_ count: Int, _ word: String, _ style: Style, short: String? = nil) -> [[TextSpan]] {
      [word, short].compactMap(\.self).map { [TextSpan("\(count)", style), TextSpan(" \($0)", theme.dim)] }
    }
    let all = "\(run.jobs.count)"
    let done = TextSpan("\(counts.done)", theme.bold)
    var items = [
      Item(
        worth: 6,
        forms: [
          [done, TextSpan(" of \(all) done", theme.dim)], [done, TextSpan("/\(all) done", theme.dim)],
          [done, TextSpan("/\(all)", theme.dim)],
        ])
    ]
    func inClass(_ state: StateClass) -> Int { model.index.counts[Int(state.rawValue)] }
    if inClass(.executing) > 0 {
      let forms = number(inClass(.executing), "running", theme.style(.executing), short: "run")
      items.append(Item(worth: 7, forms: forms + [[]]))
    }
    let stopping = inClass(.stopping)
    if stopping > 0 { items.append(Item(worth: 3, forms: number(stopping, "stopping", theme.held) + [[]])) }
    if counts.failed > 0 { items.append(Item(worth: 12, forms: number(counts.failed, "failed", theme.bad))) }
    let warnings = run.warnings.count
    if warnings > 0 {
      let forms = number(warnings, warnings == 1 ? "warning" : "warnings", theme.held, short: "warn")
      items.append(Item(worth: 11, forms: forms + [[TextSpan("\(theme.warningMark)\(warnings)", theme.held)]]))
    }
    if counts.paused > 0 { items.append(Item(worth: 2, forms: number(counts.paused, "paused", theme.held) + [[]])) }
    if counts.backingOff > 0 {
      items.append(Item(worth: 2, forms: number(counts.backingOff, "retrying", theme.style(.backingOff)) + [[]]))
    }
    let waiting = counts.waiting + counts.ready
    if waiting > 0 { items.append(Item(worth: 1, forms: number(waiting, "waiting", .plain) + [[]])) }
    if counts.skipped > 0 { items.append(Item(worth: 1, forms: number(counts.skipped, "skipped", .plain) + [[]])) }
    if counts.notStarted > 0 {
      items.append(Item(worth: 1, forms: number(counts.notStarted, "not started", .plain) + [[]]))
    }
    if counts.cancelled > 0 {
      items.append(Item(worth: 1, forms: number(counts.cancelled, "cancelled", .plain) + [[]]))
    }
    let slots = "\(counts.usedSlots)/\(Run.slotsText(run.slots))"
    items.append(
      Item(worth: 3, forms: [[TextSpan("slots ", theme.dim), TextSpan(slots)], [TextSpan(slots)], []]))
    return items
  }

  private func badge(_ word: String) -> Style {
    switch word {
    case "RUN", "WATCHING": theme.calm
    case "FAILED": theme.danger
    case "DONE": theme.good
    default: theme.warning
    }
  }

  /// Draws one bar: finished work, failures, and the progress of open jobs.
  private func drawShares(_ frame: inout Frame, _ area: Rect) {
    let total = model.run.jobs.count
    let percent = total == 0 ? "" : Format.percent(model.share)
    // The bar keeps its width when the chain gets shorter.
    let room = (area.width - 2 - 6) * 2 / 5
    let chain = criticalChain(room: room)
    let width = area.width - 2 - 5 - (chain.isEmpty ? 0 : room + 2)
    guard total > 0, width > 3 else { return }
    let counts = model.run.counts
    func share(_ count: Int) -> Double { Double(count) / Double(total) }
    let parts = [
      Bar.Part(share: share(counts.succeeded + counts.allowed), sign: "#", style: theme.style(.succeeded)),
      Bar.Part(share: share(counts.failed), sign: "!", line: "╳", style: theme.bad),
      Bar.Part(share: model.index.openShare / Double(total), sign: "=", line: "╍", style: theme.style(.executing)),
      // Once all has ended, nothing of the bar is left open.
      Bar.Part(
        share: model.run.hasEnded ? share(counts.skipped + counts.notStarted + counts.cancelled) : 0, sign: "x",
        line: "╌", style: theme.dim),
    ]
    frame.put(Bar(theme: theme).stacked(parts, width: width), x: area.x + 1, y: area.y)
    frame.put(percent, endingAt: area.x + 1 + width + 5, y: area.y)
    guard !chain.isEmpty else { return }
    frame.put(
      [TextSpan(Self.chainLabel, theme.dim), TextSpan(chain, theme.accent)], x: area.x + 1 + width + 5 + 2, y: area.y)
  }

  private static let chainLabel = "critical "

  /// The jobs of the critical path that have not ended; at most `room` cells with the label.
  private func criticalChain(room: Int) -> String {
    guard room >= 24, !model.isOver, let links = model.path.forecast?.chain, links.count > 1 else { return "" }
    let names = links.map(\.job).filter { !model.index.classes[$0.index].isTerminal }
      .map { model.run.jobs[$0.index].job.name }
    return theme.elision.end(names.joined(separator: theme.pick(" › ", " > ")), to: room - Self.chainLabel.count)
  }
}
