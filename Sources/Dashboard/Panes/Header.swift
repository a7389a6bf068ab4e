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
      if counts.failed > counts.allowed { return "FAIL" }
      return run.stopping != nil ? "STOPPED" : "DONE"
    }
    if run.stopping != nil || model.quits > 0 { return "STOP" }
    if run.isDraining { return "DRAIN" }
    if counts.paused > 0, counts.executing == 0, counts.ready == 0, counts.backingOff == 0 { return "PAUSED" }
    return "RUN"
  }

  func draw(_ frame: inout Frame, _ area: Rect) {
    drawCounts(&frame, area)
    drawShares(&frame, Rect(x: area.x, y: area.y + 1, width: area.width, height: 1))
  }

  private func drawCounts(_ frame: inout Frame, _ area: Rect) {
    let run = model.run
    let counts = run.counts
    let slots = "slots \(counts.active)/\(Run.slotsText(run.slots))"
    let room = area.width - 2 - slots.count - 2
    // The item with the least worth is left out first.
    var items: [(worth: Int, spans: [TextSpan])] = []
    func item(_ worth: Int, _ spans: TextSpan...) { items.append((worth, spans)) }
    let word = Self.word(model)
    item(9, TextSpan(" \(word) ", badge(word)))
    item(8, TextSpan(Format.steadyTime(model.elapsed(at: now)), theme.bold))
    if let estimate = model.estimate {
      item(
        4, TextSpan("ETA ", theme.dim), TextSpan((estimate.isRough ? "~" : "") + Format.steadyTime(estimate.remaining)))
    } else if !model.isOver, model.isMoving {
      item(4, TextSpan("ETA ", theme.dim), TextSpan("?"))
    }
    item(7, TextSpan("done ", theme.dim), TextSpan("\(counts.done)", theme.bold), TextSpan("/\(run.jobs.count)"))
    if !model.isOver { item(5, TextSpan("run ", theme.dim), TextSpan("\(counts.executing)", theme.style(.executing))) }
    let waits = counts.waiting + counts.ready
    if waits > 0 { item(3, TextSpan("wait ", theme.dim), TextSpan("\(waits)")) }
    let held = counts.paused + counts.backingOff
    if held > 0 { item(2, TextSpan("held ", theme.dim), TextSpan("\(held)", theme.held)) }
    if counts.failed > counts.allowed { item(6, TextSpan("FAIL \(counts.failed - counts.allowed)", theme.bad)) }
    let left = counts.skipped + counts.cancelled
    if left > 0 { item(1, TextSpan("left out ", theme.dim), TextSpan("\(left)")) }

    func width() -> Int { items.reduce(0) { $0 + $1.spans.width + 2 } - 2 }
    while width() + 2 + min(TextWidth.of(model.name), 12) > room,
      let least = items.indices.min(by: { items[$0].worth < items[$1].worth }),
      items[least].worth < 7
    {
      items.remove(at: least)
    }
    let name = theme.elision.middle(model.name, to: max(8, min(30, room - width() - 2)))
    var x = 1 + frame.put(name, x: 1, y: area.y, style: theme.bold) + 2
    for item in items { x += frame.put(item.spans, x: x, y: area.y, limit: area.width - x) + 2 }
    guard x + slots.count < area.width else { return }
    frame.put(
      [
        TextSpan("slots ", theme.dim), TextSpan("\(counts.active)"),
        TextSpan("/\(Run.slotsText(run.slots))", theme.dim),
      ],
      x: area.width - 1 - slots.count, y: area.y)
  }

  private func badge(_ word: String) -> Style {
    switch word {
    case "RUN": theme.calm
    case "FAIL": theme.danger
    case "DONE": theme.good
    default: theme.warning
    }
  }

  /// Draws one bar with a share for each group of states.
  private func drawShares(_ frame: inout Frame, _ area: Rect) {
    let total = model.run.jobs.count
    let percent = total == 0 ? "" : Format.percent(model.share)
    // The bar keeps its width when the chain gets shorter.
    let room = (area.width - 2 - 6) * 2 / 5
    let chain = criticalChain(room: room)
    let width = area.width - 2 - 6 - (chain.isEmpty ? 0 : room + 2)
    guard total > 0, width > 3 else { return }
    let counts = model.run.counts
    let ok = counts.succeeded + counts.allowed
    let failed = counts.failed - counts.allowed
    let left = counts.skipped + counts.cancelled
    let parts: [(count: Int, sign: String, style: Style)] = [
      (ok, theme.pick("■", "#"), theme.style(.succeeded)),
      (counts.executing, theme.letter(.executing), theme.style(.executing)),
      (counts.paused + counts.backingOff, theme.letter(.paused), theme.held),
      (failed, theme.letter(.failed), theme.bad),
      (left, theme.letter(.skipped), theme.dim),
    ]
    let cells = Self.cells(parts.map(\.count), of: total, width: width)
    let rest = width - cells.reduce(0, +)
    let spans = zip(parts, cells).map { TextSpan(String(repeating: $0.sign, count: $1), $0.style) }
    frame.put(
      spans + [TextSpan(String(repeating: theme.letter(.waiting), count: rest), theme.dim)], x: 1, y: area.y)
    frame.put(percent, endingAt: area.x + 1 + width + 6, y: area.y, style: theme.bold)
    guard !chain.isEmpty else { return }
    frame.put(
      [TextSpan(Self.chainLabel, theme.dim), TextSpan(chain, theme.accent)], x: area.x + 1 + width + 6 + 2, y: area.y)
  }

  private static let chainLabel = "critical "

  /// The jobs of the critical path that have not ended; at most `room` cells with the label.
  private func criticalChain(room: Int) -> String {
    guard room >= 24, !model.isOver, let links = model.path.forecast?.chain, links.count > 1 else { return "" }
    let names = links.map(\.job).filter { !model.index.classes[$0.index].isTerminal }
      .map { model.run.jobs[$0.index].job.name }
    return theme.elision.end(names.joined(separator: theme.pick("›", ">")), to: room - Self.chainLabel.count)
  }

  /// Shares of a bar in whole cells: each count above zero gets a cell if there is one, and the sum fits into the bar.
  static func cells(_ counts: [Int], of total: Int, width: Int) -> [Int] {
    var cells: [Int] = []
    var counted = 0
    var used = 0
    for count in counts {
      counted += count
      let end = counted * width / max(1, total)
      var share = max(0, end - used)
      if count > 0, share == 0, used < width { share = 1 }
      cells.append(share)
      used += share
    }
    return cells
  }
}
