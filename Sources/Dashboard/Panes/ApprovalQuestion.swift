import JobModel
import Screen

/// The question before jobs are approved: the whole of it, in as many lines above the bottom of the screen as it takes.
struct ApprovalQuestion {
  private let lines: [String]
  /// The number of lines that the screen has for it.
  private let most: Int

  /// Whether the screen has room for the whole question.
  var isWhole: Bool { lines.count <= most }

  init(_ jobs: [JobID], _ model: Model) {
    let layout = Layout(model)
    let room = layout.footer.width - 2
    most = layout.body.height + layout.footer.height
    let text = Self.text(jobs, model)
    let answers = [Self.answers, Self.shortAnswers]
    if let line = answers.map({ "\(text)  \($0)" }).first(where: { TextWidth.of($0) <= room }) {
      lines = [line]
      return
    }
    let rows = JobDescription.wordWrapped(text, width: max(1, room))
    let last = "\(rows.last ?? "")  \(Self.answers)"
    lines = TextWidth.of(last) <= room ? rows.dropLast() + [last] : rows + [Self.answers]
  }

  private static let answers = "y approves  Esc goes back"
  private static let shortAnswers = "y  Esc"

  /// `Approve release: Publish v1.2?`, or each job with its question in brackets.
  private static func text(_ jobs: [JobID], _ model: Model) -> String {
    let place = model.absence(of: jobs)
    let asked = jobs.map { (model.live.jobs[$0.index].job.name, model.live.question(of: $0) ?? "") }
    return asked.count == 1
      ? "Approve \(asked[0].0)\(place): \(asked[0].1)"
      : "Approve \(asked.map { "\($0) (\($1))" }.joined(separator: ", "))\(place)?"
  }

  /// Draws it up from the last line of `area`.
  func draw(_ frame: inout Frame, _ area: Rect, _ theme: Theme) {
    // A job on the whole screen has the rest of its question there.
    let cut = isWhole ? lines : lines.prefix(most - 2) + [theme.elision.mark] + lines.suffix(1)
    let shown = cut.suffix(most)
    let top = area.maxY - shown.count
    frame.fill(Rect(x: area.x, y: top, width: area.width, height: shown.count), style: theme.warning)
    for (row, line) in shown.enumerated() {
      frame.put(line, x: area.x + 1, y: top + row, limit: area.width - 2, style: theme.warning)
    }
  }
}

extension Model {
  /// Asks whether to perform a command on jobs.
  ///
  /// A question that the screen can't show is not asked; if it is of one job, the job is shown with all of it. An approval shows
  /// the present.
  mutating func ask(_ command: Command, _ jobs: [JobID], _ now: Duration) {
    if isFrozen, command.jobs?.question == .approval { setFrozen(false) }
    prompt = .confirm(command, jobs)
    guard !showsQuestion else { return }
    prompt = nil
    guard jobs.count == 1 else {
      return say("the questions of \(naming(jobs)) have no room on the screen: approve fewer at once", now)
    }
    moveCursor(to: jobs.first)
    takeCursor()
    (page, pageTop, focus) = (.zoom, 0, .list)
    say("its question is long" + (keys.label(command).map { ": \($0) approves" } ?? ""), now)
  }

  /// Whether the screen shows the question.
  ///
  /// On a screen that is too small for any pane that is only the question to quit.
  var showsQuestion: Bool {
    guard !Layout(self).body.isEmpty else { return prompt == nil || prompt == .quit }
    guard case .confirm(let command, let jobs) = prompt, command.jobs?.question == .approval else { return true }
    // The description of the job on the whole screen has its question.
    return page == .zoom && jobs == [cursor] || ApprovalQuestion(jobs, self).isWhole
  }
}
