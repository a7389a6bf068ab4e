import JobModel
import Screen

/// Every action with its keys, and the signs of the screen.
struct HelpPage {
  let model: Model
  let theme: Theme

  func draw(_ frame: inout Frame, _ area: Rect) {
    let lines = Self.lines(theme, model.keys, width: area.width)
    for (offset, line) in lines.dropFirst(model.pageTop).prefix(area.height).enumerated() {
      frame.put(line, x: area.x + 1, y: area.y + offset, limit: area.width - 1)
    }
    if lines.count > area.height, area.width >= 40 {
      let text = "\(min(lines.count, model.pageTop + area.height))/\(lines.count)"
      frame.put(text, endingAt: area.maxX - 1, y: area.y, style: theme.dim)
    }
  }

  /// The number of lines at the width of the model's screen.
  static func height(_ model: Model) -> Int {
    lines(Theme(ScreenTraits(isASCII: true, palette: .none)), model.keys, width: model.size.width).count
  }

  private static func lines(_ theme: Theme, _ keys: KeyMap, width: Int) -> [[TextSpan]] {
    // Key names differ in width between ASCII and Unicode; the ASCII ones are measured, so that both have one height.
    let namesWidth = keys.bindings.map { binding in binding.keys.map { $0.name() }.joined(separator: " ").count }
    let indent = min(20, max(10, (namesWidth.max() ?? 0) + 1))
    func block(_ title: String, _ rows: [(sign: TextSpan, text: String)]) -> [[TextSpan]] {
      [[TextSpan(title, theme.bold)]] + rows.map { [$0.sign, .blanks(indent - $0.sign.width), TextSpan($0.text)] }
    }
    func key(_ text: String) -> TextSpan { TextSpan(text.padding(to: indent), theme.key) }
    let blocks =
      Binding.Section.allCases.map { section in
        let bindings = keys.bindings.filter { $0.section == section }
        return block(
          section.rawValue,
          bindings.map { (key(theme.elision.end(theme.names($0.keys), to: indent - 1)), $0.help) })
      } + [
        block(
          "Words of a filter",
          [
            (key("text"), "name holds it"), (key("state:"), "failed, ready, ok ..."),
            (key("kind:"), "shell, download ..."), (key("!word"), "not that"),
          ]),
        block("Letters", StateClass.allCases.map { (TextSpan(theme.letter($0), theme.style($0)), $0.word) }),
        block(
          "Marks of the log",
          [
            (TextSpan(theme.stderrMark, theme.held), "a line of stderr"),
            (TextSpan(theme.noteMark, theme.accent), "said by opdash"),
          ]),
      ]
    // Two columns where they fit, with half of the blocks each.
    let columnWidth = blocks.joined().map(\.width).max() ?? 0
    guard width >= columnWidth * 2 + 3 else { return Array(blocks.joined(separator: [[]])) }
    let total = blocks.reduce(0) { $0 + $1.count + 1 }
    var left: [[TextSpan]] = []
    var right: [[TextSpan]] = []
    for block in blocks {
      if right.isEmpty, left.count + block.count / 2 <= total / 2 {
        left += (left.isEmpty ? [] : [[]]) + block
      } else {
        right += (right.isEmpty ? [] : [[]]) + block
      }
    }
    return left.beside(right, at: columnWidth + 2)
  }
}
