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
    var blocks = Binding.Section.allCases.map { block($0, theme, keys, indent: indent) }
    blocks.append(words(theme, indent: indent))
    blocks.append(letters(theme, indent: indent))
    blocks.append(marks(theme, indent: indent))
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
    return (0..<max(left.count, right.count)).map { row in
      let first = row < left.count ? left[row] : []
      let pad = TextSpan(String(repeating: " ", count: columnWidth + 2 - first.width))
      return row < right.count ? first + [pad] + right[row] : first
    }
  }

  private static func block(
    _ section: Binding.Section, _ theme: Theme, _ keys: KeyMap, indent: Int
  ) -> [[TextSpan]] {
    let rows = keys.bindings.filter { $0.section == section }.map { binding in
      let names = theme.elision.end(theme.names(binding.keys), to: indent - 1)
      return [TextSpan(names.padding(to: indent), theme.key), TextSpan(binding.help)]
    }
    return [[TextSpan(section.rawValue, theme.bold)]] + rows
  }

  /// The terms of a filter.
  private static func words(_ theme: Theme, indent: Int) -> [[TextSpan]] {
    let rows = [
      ("text", "name holds it"), ("state:", "failed, ready, ok ..."), ("kind:", "shell, download ..."),
      ("!word", "not that"),
    ]
    return [[TextSpan("Words of a filter", theme.bold)]]
      + rows.map { [TextSpan($0.0.padding(to: indent), theme.key), TextSpan($0.1)] }
  }

  /// The marks of lines of the log.
  private static func marks(_ theme: Theme, indent: Int) -> [[TextSpan]] {
    let rows = [
      (TextSpan(theme.stderrMark, theme.held), "a line of stderr"),
      (TextSpan(theme.noteMark, theme.accent), "said by opdash"),
    ]
    return [[TextSpan("Marks of the log", theme.bold)]]
      + rows.map { [$0.0, TextSpan(String(repeating: " ", count: indent - 1)), TextSpan($0.1)] }
  }

  private static func letters(_ theme: Theme, indent: Int) -> [[TextSpan]] {
    let rows = StateClass.allCases.map { state in
      [
        TextSpan(theme.letter(state), theme.style(state)), TextSpan(String(repeating: " ", count: indent - 1)),
        TextSpan(state.word),
      ]
    }
    return [[TextSpan("Letters", theme.bold)]] + rows
  }
}
