import Screen

/// A list of all actions with their keys above the other panes, narrowed by typing.
struct CommandPalette {
  let model: Model
  let theme: Theme
  let query: String
  let place: Int

  /// The actions that are wanted most often, before all others.
  private static let first: [Command] = [.cancel, .retry, .approve, .pause, .kill, .retryDependents, .retryFailed]

  /// The actions whose section, name, description or key matches every typed word.
  ///
  /// One that has the only word as its key comes first, then those whose description starts with the first word, then
  /// those whose name does.
  static func matches(_ query: String, in model: Model) -> [Binding] {
    let words = query.split(separator: " ")
    let found = model.keys.bindings.filter { binding in
      let command = binding.command
      let text = "\(command.section.rawValue) \(command.name) \(command.help)".lowercased()
      return command != .palette && command.isOffered(model)
        && words.allSatisfy { text.contains($0.lowercased()) || isKey($0, of: binding) }
    }
    guard let first = words.first?.lowercased() else {
      let wanted = Self.first.compactMap { command in found.first { $0.command == command } }
      return wanted + found.filter { !Self.first.contains($0.command) }
    }
    func rank(_ binding: Binding) -> Int {
      if words.count == 1, isKey(words[0], of: binding) { return 0 }
      return binding.command.help.lowercased().hasPrefix(first) ? 1 : binding.command.name.hasPrefix(first) ? 2 : 3
    }
    return (0...3).flatMap { place in found.filter { rank($0) == place } }
  }

  /// Whether a word is the name of one of its keys; the case of a letter counts.
  private static func isKey(_ word: Substring, of binding: Binding) -> Bool {
    binding.keys.contains { key in
      let name = key.name()
      return name == word || word.count > 1 && name.lowercased() == word.lowercased()
    }
  }

  func draw(_ frame: inout Frame, _ body: Rect) {
    let found = Self.matches(query, in: model)
    let width = min(body.width - 2, 64)
    let height = min(body.height, max(3, min(found.count, 14)) + 2)
    guard width >= 20, height >= 1 else { return }
    let box = Rect(
      x: body.x + (body.width - width) / 2, y: body.maxY - height, width: width, height: height)
    frame.fill(box)
    let rows = drawBorder(&frame, box)
    let top = max(0, min(place - rows.height + 1, found.count - rows.height))
    for (offset, binding) in found.dropFirst(top).prefix(rows.height).enumerated() {
      let row = Rect(x: rows.x, y: rows.y + offset, width: rows.width, height: 1)
      drawRow(binding, &frame, row)
      if top + offset == place { theme.highlight(row, focused: true, &frame) }
    }
    if found.isEmpty { frame.put("no such action", x: rows.x + 1, y: rows.y, style: theme.dim) }
  }

  /// Draws a border if there is room; returns the area inside.
  private func drawBorder(_ frame: inout Frame, _ box: Rect) -> Rect {
    guard box.height >= 5 else { return box }
    let line = String(repeating: theme.horizontal, count: box.width - 2)
    frame.put(theme.pick("┌", "+") + line + theme.pick("┐", "+"), x: box.x, y: box.y, style: theme.accent)
    frame.put(
      theme.pick("└", "+") + line + theme.pick("┘", "+"), x: box.x, y: box.maxY - 1, style: theme.accent)
    for y in (box.y + 1)..<(box.maxY - 1) {
      frame.put(theme.vertical, x: box.x, y: y, style: theme.accent)
      frame.put(theme.vertical, x: box.maxX - 1, y: y, style: theme.accent)
    }
    frame.put(" actions ", x: box.x + 2, y: box.y, style: theme.bold)
    return Rect(x: box.x + 1, y: box.y + 1, width: box.width - 2, height: box.height - 2)
  }

  private func drawRow(_ binding: Binding, _ frame: inout Frame, _ row: Rect) {
    let isOn = binding.command.isEnabled(in: model)
    let keys = theme.names(binding.keys)
    let room = row.width - TextWidth.of(keys) - 4
    frame.put(
      theme.elision.end(binding.command.help, to: max(4, room)), x: row.x + 1, y: row.y,
      style: isOn ? .plain : theme.dim)
    frame.put(keys, endingAt: row.maxX - 1, y: row.y, style: isOn ? Style(theme.accent.foreground, .bold) : theme.dim)
  }
}
