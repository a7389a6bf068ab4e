import JobModel
import Screen

/// The lines that jobs have written, from the events of a run: as they are of one job, after their names of several.
package struct LogLinesText: Sendable {
  /// The jobs whose lines are shown; nil for all.
  private let jobs: Set<JobID>?
  private let paint: Paint
  private var names: [TerminalText] = []
  private var width = 0
  private var open: Set<JobID>
  /// The jobs whose log is made of notes.
  private var transfers: Set<JobID> = []
  private var hasFinished = false

  package init(jobs: Set<JobID>?, paint: Paint) {
    self.jobs = jobs
    self.paint = paint
    open = jobs ?? []
  }

  /// Whether no line can follow: the run has ended, or all of the jobs have.
  package var isOver: Bool { hasFinished || (jobs != nil && open.isEmpty) }

  private var isSingle: Bool { jobs?.count == 1 }

  /// The text of the next events.
  package mutating func text(of events: [JobEvent]) -> TerminalText {
    var text: TerminalText = ""
    for event in events {
      switch event.fact {
      case .jobAdded(let id, let job):
        switch job.work {
        case .download, .upload: transfers.insert(id)
        case .shell, .simulate, .operation: break
        }
        names.append(JobText.clean(job.name))
        width = max(width, min(PlainReport.widestName, TextWidth.of(names[names.count - 1])))
      case .jobState(let id, let state, _, _):
        if jobs?.contains(id) == true { if state.isTerminal { open.remove(id) } else { open.insert(id) } }
      case .jobLog(let id, _, let line) where jobs?.contains(id) ?? true && !line.isUnfinished:
        if let line = self.text(of: line, id) { text += line + "\n" }
      case .runFinished: hasFinished = true
      default: break
      }
    }
    return text
  }

  private func text(of line: LogLine, _ id: JobID) -> TerminalText? {
    // The notes about a program are not in its log file either.
    if isSingle { return line.stream == .note && !transfers.contains(id) ? nil : Self.whole(line, paint) }
    return "\(paint(.name(id.index), names[id.index].padded(to: width))) \(Self.marked(line, paint))"
  }

  /// A line after the mark that tells output from a note of opdash.
  static func marked(_ line: LogLine, _ paint: Paint) -> TerminalText {
    "\(paint(.quiet, line.stream == .note ? ":" : "|")) \(whole(line, paint))"
  }

  private static func whole(_ line: LogLine, _ paint: Paint) -> TerminalText {
    JobText.clean(line.text, keepingColor: paint.isColoured) + (line.isCut ? " [cut]" : "")
  }
}
