import JobModel
import Screen

extension Update {
  /// A key while something is being asked.
  static func answer(_ key: Key, _ model: inout Model, _ now: Duration) -> [Effect] {
    switch model.prompt {
    case .quit:
      switch key {
      case .character("q"), .character("y"), .character("Y"), .function(10): return stop(&model)
      case .character("n"), .character("N"), .escape: model.prompt = nil
      default: break
      }
    case .filter(let editor), .search(let editor):
      answerLine(key, editor, &model, now)
    case nil:
      break
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
      let moves: [Key: Action] = [.up: .up, .down: .down, .pageUp: .pageUp, .pageDown: .pageDown]
      if let action = moves[key] { move(action, &model) }
    case .backspace where editor.text.isEmpty:
      model.prompt = nil
    default:
      type(&model) { _ = $0.take(key) }
    }
  }

  /// Changes the line being typed; list and matches follow at once.
  static func type(_ model: inout Model, _ change: (inout LineEditor) -> Void) {
    switch model.prompt {
    case .filter(var editor):
      change(&editor)
      model.prompt = .filter(editor)
      model.order.setFilter(JobFilter(editor.text))
      model.showsCursor = true
    case .search(var editor):
      change(&editor)
      model.prompt = .search(editor)
      model.log.query = editor.text
      model.log.currentMatch = nil
    case .quit, nil:
      break
    }
  }

  private static func finish(_ model: inout Model, _ now: Duration) {
    let prompt = model.prompt
    model.prompt = nil
    guard case .search = prompt, !model.log.query.isEmpty else { return }
    model.log.search(model.cursor, model.run)
    // Like a pager: from what is on the screen on; in a log that follows, the newest.
    let line =
      model.log.follows ? model.log.matches.last : model.log.match(after: model.log.top.line - 1, forward: true)
    guard line != nil else { return say("not found: \(model.log.query)", &model, now) }
    goTo(match: line, &model, Layout(model))
  }
}
