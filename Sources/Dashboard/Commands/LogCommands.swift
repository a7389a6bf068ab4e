import JobModel
import Screen

/// The commands for the log pane.
extension Command {
  static let follow = logging(
    "follow", "f", "follow the newest line", word: { $0.focus == .log && !$0.log.follows ? "follow" : nil },
    change: { model, _ in
      if model.log.follows { LogScroll.beginReading(&model, Layout(model)) } else { model.log.follow() }
    })

  static let range = logging(
    "range", "v", "mark a range of lines", word: { $0.readsLog ? "range" : nil },
    change: { model, _ in
      model.focus = .log
      LogScroll.beginReading(&model, Layout(model))
      if !model.log.follows { model.log.mark = model.log.mark == nil ? model.log.cursor : nil }
    })

  static let firstError = logging(
    "first-error", "E", "to the first error", word: { $0.readsLog ? "error" : nil },
    change: {
      goToError(&$0, $1)
    })

  static let wrap = logging(
    "wrap", "w", "wrap long lines", word: { $0.focus == .log ? "wrap" : nil },
    change: { model, now in
      model.log.wraps.toggle()
      model.log.shift = 0
      model.log.top.row = 0
      model.say(model.log.wraps ? "long lines are wrapped" : "long lines are cut", now)
    })

  static let merged = logging(
    "merged", "L", "log of many jobs, or one", isEnabled: { $0.page == .list },
    refusal: { leavesPage("this page has the log of one job", $0) },
    word: { model in
      guard model.readsLog else { return nil }
      return switch model.log.subject {
      case .job: "merged"
      case .merged where !model.run.programLog.isEmpty: "program"
      case .merged, .program: "one job"
      }
    },
    change: {
      merge(&$0, $1)
    })

  static let times = logging(
    "times", "T", "relative or clock times",
    change: { model, _ in
      model.log.times = model.log.times.moved(by: 1)
    })

  static let next = matching("next", "n", "next match", forward: true, word: { _ in "next" })
  static let previous = matching("previous", "N", "match before", forward: false, word: { _ in nil })

  /// A command that changes the shown log, and needs one.
  private static func logging(
    _ name: String, _ key: Character, _ help: String, isEnabled: @escaping Predicate = { _ in true },
    refusal: @escaping @Sendable (Model) -> String = { _ in "" }, word: @escaping Words = { _ in nil },
    change: @escaping @Sendable (inout Model, Duration) -> Void
  ) -> Command {
    Command(
      name, .logging, [.character(key)], help, isEnabled: { $0.showsLog && isEnabled($0) },
      refusal: { isEnabled($0) ? "no log is shown" : refusal($0) }, word: word, change: change)
  }

  private static func matching(
    _ name: String, _ key: Character, _ help: String, forward: Bool, word: @escaping Words
  ) -> Command {
    logging(
      name, key, help, isEnabled: { !$0.log.matches.isEmpty }, refusal: { notFound(in: $0) }, word: word,
      change: {
        goToMatch(forward: forward, &$0, $1)
      })
  }

  /// The message of a search without a match.
  static func notFound(in model: Model) -> String {
    let query = model.log.query
    guard !query.isEmpty else {
      return "nothing is searched" + (model.keys.label(.filter).map { ": press \($0)" } ?? "")
    }
    if let unread = unread(in: model) { return "not found \(unread)" }
    guard let lines = model.lines, lines.dropped > 0 else { return "not found: \(query)" }
    return "not found in the newest \(Format.count(lines.count, "line")): \(query)"
  }

  /// The lines that a search has seen, while the log has newer ones that the reader has not come to.
  private static func unread(in model: Model) -> String? {
    guard model.newer > 0 else { return nil }
    let way = model.keys.label(.follow).map { ": \($0) follows" } ?? ""
    return "in the lines being read; \(model.newer) newer\(way)"
  }

  /// The message of a search that begins anew at the other end.
  static func wrapped(forward: Bool, in model: Model) -> String {
    let end = model.newer > 0 ? "lines being read" : forward ? "end" : "top"
    return "past the \(end): the \(forward ? "first" : "last") match"
  }

  /// Switches from one job's log to the merged log, then to the program's output, if any; keeps the line being read.
  private static func merge(_ model: inout Model, _ now: Duration) {
    model.isCursorTaken = true
    let line = model.currentLine
    model.log.mark = nil
    model.log.held = nil
    let hasProgram = !model.run.programLog.isEmpty
    switch model.log.subject {
    case .job: model.showLog(of: .merged)
    case .merged where hasProgram: model.showLog(of: .program)
    case .merged, .program: model.showLog(of: .job)
    }
    if model.log.subject == .program || line?.job == nil {
      // The new log has none of the lines that were being read.
      model.log.leave()
    } else if model.log.subject == .job, !model.log.follows, let job = line?.job {
      model.moveCursor(to: job, keepsPlace: true)
    }
    if model.log.subject == .program { return model.say("the output of the program", now) }
    guard let merged = model.merged else { return model.say("the log of one job", now) }
    let more = merged.scope.hasProgram && hasProgram ? " and the program" : ""
    model.say("the log of \(Format.count(merged.jobs, "job"))\(more)", now)
  }

  private static func goToMatch(forward: Bool, _ model: inout Model, _ now: Duration) {
    let from = model.log.follows ? Int.max : model.log.cursor
    guard let found = model.log.match(after: from, forward: forward) else { return }
    LogScroll.scroll(to: found.line, &model, Layout(model))
    model.log.currentMatch = found.line
    if found.hasWrapped { model.say(wrapped(forward: forward, in: model), now) }
  }

  private static func goToError(_ model: inout Model, _ now: Duration) {
    guard let lines = model.lines, let current = model.currentLine else { return model.say("no error here", now) }
    func isShown(_ line: JobLine, attempt: Int?) -> Bool {
      guard lines.isMerged else { return line.entry.attempt == attempt }
      return line.job.map { line.entry.attempt == model.run.jobs[$0.index].attempt?.number } ?? true
    }
    let all = (0..<lines.count).lazy.map { lines[$0] }
    let named = all.first {
      isShown($0, attempt: current.entry.attempt) && ErrorWords.areIn(JobText($0.entry.line.text).plain)
    }
    let found =
      named
      ?? all.first {
        isShown($0, attempt: lines.last?.entry.attempt) && $0.entry.line.stream == .stderr
      }
    guard let found else { return model.say("no error \(unread(in: model) ?? "here")", now) }
    model.focus = .log
    LogScroll.scroll(to: found.seq, &model, Layout(model))
    model.log.shift = 0
    let line = model.newer > 0 ? "no line being read" : "no line"
    let older = lines.dropped > 0 ? "; older lines are in the file only" : ""
    model.say((named == nil ? "\(line) names an error: the first of stderr" : "the first error") + older, now)
  }
}
