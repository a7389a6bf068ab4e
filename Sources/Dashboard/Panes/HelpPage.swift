import JobModel
import Screen

/// Every action with its keys, and the signs of the screen.
struct HelpPage {
  let model: Model
  let theme: Theme

  func draw(_ frame: inout Frame, _ area: Rect) {
    frame.putPage(Self.lines(theme, model, width: area.width), from: model.pageTop, area, theme)
  }

  /// The number of lines at the width of the model's screen.
  static func height(_ model: Model) -> Int {
    lines(Theme(ScreenTraits(isASCII: true, palette: .none)), model, width: model.size.width).count
  }

  private static func lines(_ theme: Theme, _ model: Model, width: Int) -> [[TextSpan]] {
    let marks = marks(theme, width: width - 2)
    if let whole = whole(theme, model, width: width, height: model.size.height - marks.count - 4) {
      return whole + [[]] + marks
    }
    let isWide = width >= 78
    let column = isWide ? (width - 4) / 2 : width - 2
    let blocks = Command.groups.map { group in
      [[TextSpan(group.section.rawValue, theme.accent.with(.bold))]]
        + group.lines.compactMap { commands, text -> [TextSpan]? in
          let shown = commands.filter { $0.isOffered(model) && !model.keys.keys(of: $0).isEmpty }
          guard !shown.isEmpty else { return nil }
          return line(keysText(shown, model.keys), words(commands, text, shown), theme, width: column)
        }
    }
    let table = isWide ? columns(blocks, at: column + 2) : Array(blocks.joined(separator: [[]]))
    return table + [[]] + marks
  }

  /// One action on each line, in as many columns as the height needs; nil where that has no room.
  private static func whole(_ theme: Theme, _ model: Model, width: Int, height: Int) -> [[TextSpan]]? {
    let blocks = Command.Section.allCases.map { section in
      let bindings = model.keys.bindings(in: section).filter { $0.command.isOffered(model) && !$0.keys.isEmpty }
      return (title: section.rawValue, bindings: bindings)
    }
    for count in 2...3 {
      let column = (width - 2) / count - 2
      guard column >= keysWidth + 24 else { return nil }
      let lines = blocks.map { block in
        [[TextSpan(block.title, theme.accent.with(.bold))]]
          + block.bindings.map { line(keysText([$0.command], model.keys), $0.command.help, theme, width: column) }
      }
      let table = Array(lines.joined(separator: [[]]))
      let rows = (table.count + count - 1) / count
      guard rows <= height else { continue }
      return (0..<rows).map { row in
        (0..<count).reduce(into: [TextSpan]()) { spans, place in
          guard place * rows + row < table.count else { return }
          if place > 0 { spans.append(.blanks(max(1, place * (column + 2) - spans.width))) }
          spans += table[place * rows + row]
        }
      }
    }
    return nil
  }

  /// All keys of the commands; of many, the first of each.
  private static func keysText(_ commands: [Command], _ keys: KeyMap) -> String {
    let all = commands.map { keys.keys(of: $0).map { $0.name() } }
    let text = all.joined().joined(separator: " ")
    return TextWidth.of(text) <= keysWidth - 2 ? text : all.compactMap(\.first).joined(separator: " ")
  }

  /// The text of commands that share a line, without the words of the others.
  private static func words(_ commands: [Command], _ text: String, _ shown: [Command]) -> String {
    let words = text.split(separator: "; ")
    guard words.count == commands.count, shown.count < commands.count else { return text }
    // One that is left alone has the room for all of its own.
    if shown.count == 1 { return shown[0].help }
    return zip(commands, words).filter { shown.contains($0.0) }.map(\.1).joined(separator: "; ")
  }

  private static let keysWidth = 12

  private static func line(_ keys: String, _ text: String, _ theme: Theme, width: Int) -> [TextSpan] {
    let names = keys.padded(to: keysWidth - 1)
    return [TextSpan(names + " ", Style(theme.accent.foreground, .bold)), TextSpan(text)].fitted(
      to: width, theme.elision)
  }

  /// The blocks in two columns of about the same height.
  private static func columns(_ blocks: [[[TextSpan]]], at x: Int) -> [[TextSpan]] {
    let total = blocks.reduce(0) { $0 + $1.count }
    var (left, right): ([[TextSpan]], [[TextSpan]]) = ([], [])
    for block in blocks {
      if right.isEmpty, left.count + block.count / 2 < (total + 1) / 2 { left += block } else { right += block }
    }
    return left.beside(right, at: x)
  }

  /// Every mark of the screen and the words of a filter, as many on a line as fit.
  private static func marks(_ theme: Theme, width: Int) -> [[TextSpan]] {
    let states = StateClass.allCases.map { [TextSpan(theme.letter($0), theme.style($0)), TextSpan(" " + $0.word)] }
    let signs: [(String, Style, String)] = [
      (theme.critical, theme.accent, "critical"), (theme.pick("•", "*"), theme.accent, "tagged"),
      (theme.pick("▸", "+"), theme.dim, "rows below"), (theme.pick("↑", "^"), theme.accent, "see above"),
      (theme.pick("×2", "x2"), theme.accent, "needed by 2"), (theme.stderrMark, theme.held, "stderr"),
      (theme.noteMark, theme.accent, "from opdash"), ("~", theme.dim, "estimated"),
    ]
    let marks = signs.map { [TextSpan($0.0, $0.1), TextSpan(" " + $0.2)] }
    let filters = ["text", "state:failed", "kind:shell", "!word"].map { [TextSpan($0, theme.accent)] }
    return flow("Jobs", states, theme, width) + flow("Marks", marks, theme, width)
      + flow("Filter", filters, theme, width)
  }

  private static func flow(
    _ title: String, _ items: [[TextSpan]], _ theme: Theme, _ width: Int
  ) -> [[TextSpan]] {
    var lines: [[TextSpan]] = []
    var line = [TextSpan(title.padded(to: 8), theme.accent.with(.bold))]
    for item in items {
      if line.count > 1, line.width + 2 + item.width > width {
        lines.append(line)
        line = [.blanks(8)]
      }
      line += line.count > 1 ? [.blanks(2)] + item : item
    }
    return lines + [line]
  }
}
