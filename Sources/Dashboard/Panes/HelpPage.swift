import Screen

/// Every key and what it does, out of the one table.
struct HelpPage {
  let model: Model
  let theme: Theme

  func draw(_ frame: inout Frame, _ area: Rect) {
    let lines = Self.lines(theme, width: area.width)
    for (offset, line) in lines.dropFirst(model.pageTop).prefix(area.height).enumerated() {
      frame.put(line, x: area.x + 1, y: area.y + offset, limit: area.width - 1)
    }
    if lines.count > area.height, area.width >= 40 {
      let text = "\(min(lines.count, model.pageTop + area.height))/\(lines.count)"
      frame.put(text, endingAt: area.maxX - 1, y: area.y, style: theme.dim)
    }
  }

  static func height(width: Int) -> Int {
    lines(Theme(ScreenTraits(isASCII: true, palette: .none)), width: width).count
  }

  private static func lines(_ theme: Theme, width: Int) -> [[Span]] {
    var blocks = Binding.Section.allCases.map { block($0, theme) }
    blocks.append(words(theme))
    blocks.append(letters(theme))
    // Two columns where they fit: the first half of the table stands at the left.
    let columnWidth = blocks.joined().map(\.width).max() ?? 0
    guard width >= columnWidth * 2 + 3 else { return Array(blocks.joined(separator: [[]])) }
    let total = blocks.reduce(0) { $0 + $1.count + 1 }
    var left: [[Span]] = []
    var right: [[Span]] = []
    for block in blocks {
      if right.isEmpty, left.count + block.count / 2 <= total / 2 {
        left += (left.isEmpty ? [] : [[]]) + block
      } else {
        right += (right.isEmpty ? [] : [[]]) + block
      }
    }
    return (0..<max(left.count, right.count)).map { row in
      let first = row < left.count ? left[row] : []
      let pad = Span(String(repeating: " ", count: columnWidth + 2 - first.width))
      return row < right.count ? first + [pad] + right[row] : first
    }
  }

  private static func block(_ section: Binding.Section, _ theme: Theme) -> [[Span]] {
    let rows = KeyMap.bindings.filter { $0.section == section }.map { binding in
      let keys = binding.keys.map { theme.name($0) }.joined(separator: " ")
      return [
        Span(keys + String(repeating: " ", count: max(1, 10 - TextWidth.of(keys))), theme.key), Span(binding.help),
      ]
    }
    return [[Span(section.rawValue, theme.bold)]] + rows
  }

  /// What a filter may hold.
  private static func words(_ theme: Theme) -> [[Span]] {
    let rows = [
      ("text", "name holds it"), ("state:", "failed, ready, ok ..."), ("kind:", "shell, download ..."),
      ("!word", "not that"),
    ]
    return [[Span("Words of a filter", theme.bold)]]
      + rows.map { [Span($0.0.padding(to: 10), theme.key), Span($0.1)] }
  }

  private static func letters(_ theme: Theme) -> [[Span]] {
    let rows = StateClass.allCases.map { state in
      [Span(theme.letter(state), theme.style(state)), Span(String(repeating: " ", count: 9)), Span(state.word)]
    }
    return [[Span("Letters", theme.bold)]] + rows
  }
}
