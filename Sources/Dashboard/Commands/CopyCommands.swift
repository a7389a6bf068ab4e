import JobModel
import Screen

/// The commands that copy to the clipboard of the terminal.
extension Command {
  static let copy = copying(
    "copy", "y", "copy line or command",
    isEnabled: { $0.target != nil || $0.focus == .log && $0.currentLine != nil },
    word: { model in
      guard model.focus == .log, model.lines?.isEmpty == false else { return nil }
      return "copy " + (model.markedCount.map { Format.count($0, "line") } ?? "line")
    },
    effects: { model, now in
      guard model.focus == .log, let lines = model.lines, let current = model.currentLine else {
        let subject = model.target.map { JobDescription.subject(model.run.jobs[$0.index].job.work) } ?? ""
        return copy(subject, as: "copied: \(subject)", &model, now)
      }
      let marked = model.log.marked ?? current.seq...current.seq
      model.log.mark = nil
      let end = min(lines.count, lines.position(of: marked.upperBound) + 1)
      return copy(lines, lines.position(of: marked.lowerBound)..<end, isAll: false, &model, now)
    })

  static let copyAll = copying(
    "copy-all", "Y", "copy the whole log", isEnabled: { $0.lines?.isEmpty == false },
    word: { $0.readsLog ? "copy all" : nil },
    effects: { model, now in
      guard let lines = model.lines else { return [] }
      return copy(lines, 0..<lines.count, isAll: true, &model, now)
    })

  static let copyPath = copying(
    "copy-path", "F", "copy the path of its file", isEnabled: { path(in: $0) != nil },
    word: { $0.focus == .log && $0.isLogClipped ? "path" : nil },
    effects: { model, now in
      path(in: model).map { copy($0, as: "copied: \($0)", &model, now) } ?? []
    })

  private static func copying(
    _ name: String, _ key: Character, _ help: String, isEnabled: @escaping Predicate, word: @escaping Words,
    effects: @escaping @Sendable (inout Model, Duration) -> [Effect]
  ) -> Command {
    Command(
      name, .logging, [.character(key)], help, isEnabled: isEnabled, refusal: { _ in "nothing to copy" }, word: word,
      effects: effects)
  }

  /// In bytes: many terminals accept sequences of at most 100,000 bytes, which is the size of this many in base64.
  private static let clipboardLimit = 74_900

  /// Copies whole lines as their jobs wrote them, without escape sequences.
  private static func copy(
    _ lines: LogLines, _ positions: Range<Int>, isAll: Bool, _ model: inout Model, _ now: Duration
  ) -> [Effect] {
    let chosen = positions.map { lines[$0] }
    let text = chosen.map { JobText(written: $0.entry.line.text).plain }.joined(separator: "\n")
    var rest = ""
    if isAll, lines.dropped > 0 {
      rest = "; \(lines.dropped) older are in \(model.olderPath ?? "no file")"
    } else if chosen.contains(where: \.entry.line.isCut) {
      rest = "; cut at 4 KiB" + (model.keys.label(.copyPath).map { ", \($0) copies the path of the whole" } ?? "")
    }
    return copy(text, as: "copied \(measure(chosen.count, text))\(rest)", &model, now)
  }

  static func copySelection(_ model: inout Model, _ now: Duration) -> [Effect] {
    guard let lines = model.lines, let selection = model.log.selection, selection.isMade else { return [] }
    let range = selection.range
    let end = min(lines.count, lines.position(of: range.upperBound.line) + 1)
    let texts = (lines.position(of: range.lowerBound.line)..<end).map { position in
      let cells = LogText.cells(lines[position].entry.line.text)
      return cells[selection.cells(of: lines[position].seq, count: cells.count)].map(\.text).joined()
    }
    let text = texts.joined(separator: "\n")
    return copy(text, as: "copied \(measure(texts.count, text))", &model, now)
  }

  private static func measure(_ lines: Int, _ text: String) -> String {
    "\(Format.count(lines, "line")), \(Format.count(text.utf8.count, "byte"))"
  }

  /// The file of the cursor's line or, at the oldest one in memory, of the lines before it; in the list of the job's output.
  private static func path(in model: Model) -> String? {
    if model.focus == .log, let line = model.currentLine {
      let isOldest = !model.log.follows && line.seq == model.lines?.first?.seq && (model.lines?.dropped ?? 0) > 0
      return isOldest ? model.olderPath : model.logPath(of: line)
    }
    return model.target.flatMap { id in
      model.run.jobs[id.index].log.last.flatMap { model.logPath(of: JobLine(job: id, entry: $0)) }
    }
  }

  private static func copy(_ text: String, as notice: String, _ model: inout Model, _ now: Duration) -> [Effect] {
    guard !text.isEmpty else {
      model.say("nothing to copy", now)
      return []
    }
    guard text.utf8.count <= clipboardLimit else {
      let size = "\(Format.bytes(Int64(text.utf8.count))) of \(Format.bytes(Int64(clipboardLimit)))"
      model.say("too long for terminals, \(size): it is in \(model.olderPath ?? "no file")", now)
      return []
    }
    model.say(notice, now)
    return [.copy(text)]
  }
}
