import JobModel
import Screen

/// Keys while a question or a line to type is shown.
enum PromptKeys {
  static func answer(_ key: Key, _ model: inout Model, _ now: Duration) -> [Effect] {
    let isApproval = if case .confirm(.approve, _) = model.prompt { true } else { false }
    let isYes = key == .character("y") || key == .character("Y") && !isApproval
    let isNo = [.character("n"), .character("N"), .escape].contains(key)
    let isQuit = model.keys.command(for: key) == .quit
    switch model.prompt {
    case .quit:
      if isNo { model.prompt = nil } else if isYes || isQuit { return Command.stop(&model) }
    case .confirm(let command, let jobs):
      if isYes || isNo || isQuit { model.prompt = nil }
      if isYes { return command.jobs?.perform(jobs, &model, now) ?? [] }
    case .palette(let editor, let place):
      return choose(key, editor, place, &model, now)
    case .filter(let editor), .search(let editor):
      answerLine(key, editor, &model, now)
    case nil:
      break
    }
    return []
  }

  /// Takes a key in the palette: typing narrows the list, Enter requests the chosen action.
  private static func choose(
    _ key: Key, _ editor: LineEditor, _ place: Int, _ model: inout Model, _ now: Duration
  ) -> [Effect] {
    let found = CommandPalette.matches(editor.text, in: model)
    switch key {
    case .enter:
      model.prompt = nil
      guard found.indices.contains(place) else { return [] }
      return found[place].command.request(&model, now)
    case .escape: model.prompt = nil
    case .up: model.prompt = .palette(editor, max(0, place - 1))
    case .down: model.prompt = .palette(editor, max(0, min(found.count - 1, place + 1)))
    case .backspace where editor.text.isEmpty: model.prompt = nil
    default: type(&model) { $0.take(key) }
    }
    return []
  }

  private static func answerLine(_ key: Key, _ editor: LineEditor, _ model: inout Model, _ now: Duration) {
    switch key {
    case .enter:
      finish(&model, now)
    case .escape:
      type(&model) { $0 = LineEditor("") }
      model.prompt = nil
    case .up, .down, .pageUp, .pageDown:
      let moves: [Key: Movement] = [.up: .up, .down: .down, .pageUp: .pageUp, .pageDown: .pageDown]
      if let movement = moves[key] { Moving.move(movement, &model) }
    case .backspace where editor.text.isEmpty:
      model.prompt = nil
    default:
      type(&model) { $0.take(key) }
    }
  }

  /// Changes the line being typed and applies it at once; a move of the cursor in it has no other effect.
  static func type(_ model: inout Model, _ change: (inout LineEditor) -> Void) {
    switch model.prompt {
    case .filter(var editor):
      let isChanged = edit(&editor, change)
      model.prompt = .filter(editor)
      guard isChanged else { break }
      model.setFilter(JobFilter(editor.text))
      model.seeksMatch = true
      model.showsCursor = true
    case .search(var editor):
      let isChanged = edit(&editor, change)
      model.prompt = .search(editor)
      guard isChanged else { break }
      model.log.query = editor.text
      model.log.currentMatch = nil
    case .palette(var editor, let place):
      let isChanged = edit(&editor, change)
      model.prompt = .palette(editor, isChanged ? 0 : place)
    case .quit, .confirm, nil:
      break
    }
  }

  /// Returns whether the text is another one.
  private static func edit(_ editor: inout LineEditor, _ change: (inout LineEditor) -> Void) -> Bool {
    let before = editor.text
    change(&editor)
    return editor.text != before
  }

  private static func finish(_ model: inout Model, _ now: Duration) {
    let prompt = model.prompt
    model.prompt = nil
    guard case .search = prompt, !model.log.query.isEmpty else { return }
    let layout = Layout(model)
    model.log.search(model.lines)
    // The next match from the top of the page, as in a pager; in a log that follows, the newest.
    let found =
      model.log.follows
      ? model.log.match(after: .max, forward: false) : model.log.match(after: model.log.top.line - 1, forward: true)
    guard let found else { return model.say(Command.notFound(in: model), now) }
    LogScroll.scroll(to: found.line, &model, layout)
    model.log.currentMatch = found.line
    if found.hasWrapped { model.say(Command.wrapped(forward: true, in: model), now) }
  }
}
