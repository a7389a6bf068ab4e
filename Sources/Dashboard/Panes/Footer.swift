import JobModel
import Screen

/// The bottom line: a question, a line being typed, or the keys of enabled actions and the newest notice.
struct Footer {
  let model: Model
  let theme: Theme

  func draw(_ frame: inout Frame, _ area: Rect) {
    switch model.prompt {
    case .quit: drawQuitQuestion(&frame, area)
    case .filter(let editor): drawLine(editor, &frame, area, hint: model.found)
    case .palette(let editor, _): drawLine(editor, &frame, area, hint: "", sign: ":")
    case .confirm(let command, let jobs):
      if let action = command.jobs {
        if action.question == .approval {
          ApprovalQuestion(jobs, model).draw(&frame, area, theme)
        } else {
          drawConfirmation(action, jobs, &frame, area)
        }
      }
    case .search(let editor):
      let reach = model.newer > 0 ? " here" : ""
      let found = model.log.query.isEmpty ? "" : Format.count(model.log.matches.count, "line") + reach
      drawLine(editor, &frame, area, hint: found)
    case nil: drawKeys(&frame, area)
    }
  }

  // MARK: Questions

  /// The number of running jobs in words, and the key that quits.
  private var quitQuestion: (what: String, key: String) {
    let count = model.live.counts.active
    let what = count > 0 ? "\(count == 1 ? "1 job is" : "\(count) jobs are") running." : "Jobs are waiting."
    // The key that asked also confirms, unless it means no.
    let key = model.keys.keys(of: .quit).first { ![.character("n"), .character("N"), .escape].contains($0) }
    return (what, key.map { $0.name() } ?? "y")
  }

  private func drawQuitQuestion(_ frame: inout Frame, _ area: Rect) {
    let (what, key) = quitQuestion
    drawQuestion(what, answers: "\(key) cancels and quits  Esc stays", short: "\(key) quits  Esc stays", &frame, area)
  }

  /// Draws the question to quit on a screen that is too small for anything else: as much as there is room for.
  func drawSmallQuestion(_ frame: inout Frame) {
    let (what, key) = quitQuestion
    let text = "\(key) quits, Esc stays. \(what)"
    for (y, line) in JobDescription.wordWrapped(text, width: max(1, frame.size.width)).enumerated() {
      frame.put(line, x: 0, y: y, style: theme.warning)
    }
  }

  private func drawConfirmation(_ action: JobAction, _ jobs: [JobID], _ frame: inout Frame, _ area: Rect) {
    let active = jobs.count { model.live.jobs[$0.index].state.isActive }
    let verb = action.verb(jobs, model.asLive)
    let note = action.question == .ending && active > 0 && jobs.count > 1 ? ", \(active) running" : ""
    let place = model.absence(of: jobs)
    let answers = "y \(verb.lowercased())s  Esc goes back"
    let room = area.width - TextWidth.of(verb + note + place + answers) - 6
    let names = jobs.prefix(8).map { model.live.jobs[$0.index].job.name }
    let who =
      (1...max(1, names.count)).reversed().lazy.map { names.joined(most: $0, of: jobs.count) }
      .first { TextWidth.of($0) <= room }
      ?? (jobs.count == 1 ? theme.elision.name(names.first ?? "", to: max(8, room)) : Format.count(jobs.count, "job"))
    drawQuestion("\(verb) \(who)\(note)\(place)?", answers: answers, short: "y  Esc", &frame, area)
  }

  private func drawQuestion(
    _ text: String, answers: String, short: String, _ frame: inout Frame, _ area: Rect
  ) {
    frame.fill(area, style: theme.warning)
    let right = TextWidth.of(text + answers) + 4 <= area.width ? answers : short
    let room = max(4, area.width - 4 - TextWidth.of(right))
    let used = frame.put(theme.elision.end(text, to: room), x: area.x + 1, y: area.y, style: theme.warning)
    frame.put(right, x: area.x + 1 + used + 2, y: area.y, limit: area.width - used - 3, style: theme.warning)
  }

  private func drawLine(
    _ editor: LineEditor, _ frame: inout Frame, _ area: Rect, hint: String, sign: String = "/"
  ) {
    let keys = sign == ":" ? "Enter runs it  Esc back" : "Enter keeps  Esc clears"
    let right = area.width >= 60 ? "\(hint)   \(keys)" : hint
    let room = max(4, area.width - 4 - right.count)
    // The text ends before the cursor's cell, or begins after the start of the line, where it has no room.
    var head = editor.head
    let next = editor.tail.first.map { TextWidth.of($0) } ?? 0
    while TextWidth.of(head) + next > room, !head.isEmpty { head.removeFirst() }
    frame.put(sign, x: area.x + 1, y: area.y, style: theme.key)
    frame.put(head + editor.tail, x: area.x + 2, y: area.y, limit: room, style: theme.bold)
    frame.put(right, endingAt: area.maxX - 1, y: area.y, style: theme.dim)
    frame.cursor = (area.x + 2 + TextWidth.of(head), area.y)
  }

  // MARK: Keys

  private func drawKeys(_ frame: inout Frame, _ area: Rect) {
    if let notice = model.notice {
      frame.put(notice.text(in: area.width, theme.elision), endingAt: area.maxX - 1, y: area.y, style: theme.bold)
    }
    for hint in Self.hints(model, width: area.width) {
      frame.put([theme.chip(hint.key), TextSpan(hint.word, theme.dim)], x: area.x + hint.x, y: area.y)
    }
  }

  /// A key of the bottom line, its word and the cells that they take.
  struct Hint {
    let command: Command
    let key: String
    let word: String
    var x = 0

    /// With a blank before and after the key, and two after the word.
    var width: Int { TextWidth.of(key) + 2 + TextWidth.of(word) + 2 }
    var isAlwaysShown: Bool { command == .help || command == .quit }
  }

  /// The keys that fit beside the notice, in the order of the key map; help and quit come before the others.
  ///
  /// Clicks are looked up here.
  static func hints(_ model: Model, width: Int) -> [Hint] {
    let room = width + 1 - (model.notice.map { min(TextWidth.of($0.text), width - 2) + 3 } ?? 0)
    let all = model.keys.bindings.compactMap { binding -> Hint? in
      let command = binding.command
      guard let key = binding.keys.first?.name(), let word = command.word(in: model) else { return nil }
      return Hint(command: command, key: key, word: word)
    }
    var kept = room
    var left = room - all.filter(\.isAlwaysShown).reduce(0) { $0 + $1.width }
    var x = 0
    return all.compactMap { hint in
      if hint.isAlwaysShown {
        guard hint.width <= kept else { return nil }
        kept -= hint.width
      } else {
        guard hint.width <= left else { return nil }
        left -= hint.width
      }
      var hint = hint
      hint.x = x
      x += hint.width
      return hint
    }
  }
}

extension Model.Notice {
  /// The text on a line of `width` cells: a long one loses its end, or its middle if it ends in a path.
  func text(in width: Int, _ elision: Elision) -> String {
    let hasPath = text.split(separator: " ").last?.contains("/") == true
    return hasPath ? elision.middle(text, to: width - 2) : elision.end(text, to: width - 2)
  }
}
