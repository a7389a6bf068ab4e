import JobModel
import Screen

/// The bottom line: a question, a line being typed, or the keys of enabled actions and the newest notice.
struct Footer {
  let model: Model
  let theme: Theme

  func draw(_ frame: inout Frame, _ area: Rect) {
    switch model.prompt {
    case .quit: drawQuestion(&frame, area)
    case .filter(let editor): drawLine(editor, &frame, area, hint: model.found)
    case .palette(let editor, _): drawLine(editor, &frame, area, hint: "", sign: ":")
    case .confirm(let action): drawConfirmation(action, &frame, area)
    case .search(let editor):
      let found = model.log.query.isEmpty ? "" : Format.count(model.log.matches.count, "line")
      drawLine(editor, &frame, area, hint: found)
    case nil: drawKeys(&frame, area)
    }
  }

  private func drawQuestion(_ frame: inout Frame, _ area: Rect) {
    let count = model.live.counts.active
    let what = count > 0 ? "\(count == 1 ? "1 job is" : "\(count) jobs are") running." : "Jobs are waiting."
    // The key that asked also confirms, unless it means no.
    let key = model.keys.keys(of: .quit).first { ![.character("n"), .character("N"), .escape].contains($0) }
    let yes = key.map { theme.names([$0]) } ?? "y"
    let text = area.width < 60 ? "\(what) \(yes) quits, Esc stays" : "\(what)  \(yes) cancels and quits   Esc goes on"
    drawWarning(text, &frame, area)
  }

  private func drawConfirmation(_ action: Action, _ frame: inout Frame, _ area: Rect) {
    let active = model.targets.count { model.run.jobs[$0.index].state.isActive }
    let word = action == .kill ? "Kill" : "Cancel"
    let open = model.targets.count { !model.index.classes[$0.index].isTerminal }
    let count = Format.count(action == .kill ? active : open, "job")
    let running = action == .kill ? "" : ", \(active) running"
    let text = "\(word) \(count)\(running)?" + (area.width < 60 ? " y, Esc" : "  y does it   Esc goes back")
    drawWarning(text, &frame, area)
  }

  private func drawWarning(_ text: String, _ frame: inout Frame, _ area: Rect) {
    frame.fill(area, style: theme.warning)
    frame.put(theme.elision.end(text, to: area.width - 2), x: area.x + 1, y: area.y, style: theme.warning)
  }

  private func drawLine(
    _ editor: LineEditor, _ frame: inout Frame, _ area: Rect, hint: String, sign: String = "/"
  ) {
    let keys = sign == ":" ? "Enter does it  Esc goes back" : "Enter keeps  Esc clears"
    let right = area.width >= 60 ? "\(hint)   \(keys)" : hint
    let room = max(4, area.width - 4 - right.count)
    var text = editor.text
    while TextWidth.of(text) > room, !text.isEmpty { text.removeFirst() }
    frame.put(sign, x: area.x + 1, y: area.y, style: theme.key)
    let used = frame.put(text, x: area.x + 2, y: area.y, limit: room, style: theme.bold)
    frame.put(right, endingAt: area.maxX - 1, y: area.y, style: theme.dim)
    frame.cursor = (area.x + 2 + used, area.y)
  }

  private func drawKeys(_ frame: inout Frame, _ area: Rect) {
    var end = area.maxX - 1
    if let notice = model.notice {
      // A long notice gets the whole line: it may end in a path.
      let isLong = TextWidth.of(notice.text) > area.width * 2 / 3
      let text = isLong ? theme.elision.middle(notice.text, to: area.width - 2) : notice.text
      frame.put(text, endingAt: end, y: area.y, style: theme.bold)
      end -= TextWidth.of(text) + 3
    }
    var x = area.x + 1
    for hint in hints(room: end - x) {
      x += frame.put(hint.key, x: x, y: area.y, style: theme.key) + 1
      x += frame.put(hint.word, x: x, y: area.y, style: theme.dim) + 2
    }
  }

  private struct Hint {
    let action: Action
    let key: String
    let word: String

    var width: Int { TextWidth.of(key) + 1 + TextWidth.of(word) + 2 }
    var isAlwaysShown: Bool { action == .help || action == .quit }
  }

  /// The keys that fit, in the order of the key map; help and quit always do.
  private func hints(room: Int) -> [Hint] {
    let all = model.keys.bindings.compactMap { binding -> Hint? in
      let action = binding.action
      guard let key = binding.keys.first, let word = action.word(in: model), action.isEnabled(in: model) else {
        return nil
      }
      return Hint(action: action, key: theme.names([key]), word: word)
    }
    var left = room + 2 - all.filter(\.isAlwaysShown).reduce(0) { $0 + $1.width }
    return all.filter { hint in
      if hint.isAlwaysShown { return hint.width <= room + 2 }
      guard hint.width <= left else { return false }
      left -= hint.width
      return true
    }
  }
}
