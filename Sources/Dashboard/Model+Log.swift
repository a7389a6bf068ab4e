import JobModel

/// Which log the pane shows.
extension Model {
  /// Whether the pane shows the lines of many jobs; a job on the whole screen has its own.
  var showsMerged: Bool { log.isMerged && page != .zoom }

  /// What the pane shows; nil while there is no job.
  var lines: LogLines? { log.held ?? liveLines }

  /// The same as it is in memory, whatever is being read.
  var liveLines: LogLines? {
    if showsMerged, let merged { return .merged(merged) }
    return cursor.map { .job($0, run.jobs[$0.index].log) }
  }

  /// The line that keys act on: the cursor's, or the newest while the log follows.
  var currentLine: JobLine? {
    guard let lines else { return nil }
    return log.follows ? lines.last : lines.line(log.cursor) ?? lines.last
  }

  /// How many lines `y` would copy; nil without a range.
  var markedCount: Int? {
    guard let lines, let marked = log.marked else { return nil }
    return min(lines.count, lines.position(of: marked.upperBound) + 1) - lines.position(of: marked.lowerBound)
  }

  /// How many lines have come that can't be shown beside what is being read.
  var newer: Int {
    guard let held = log.held, let live = liveLines else { return 0 }
    return max(0, live.total - held.total)
  }

  /// Lines as the rows that they take beside their times, names and marks.
  func rows(_ lines: LogLines, _ layout: Layout) -> LogRows {
    LogRows(
      lines: lines, width: LogPane.textWidth(self, layout), wraps: log.wraps, shift: log.wraps ? 0 : log.shift)
  }

  /// The first row on the screen.
  func logTop(_ rows: LogRows, _ layout: Layout) -> LogView.Place {
    log.follows ? rows.lastTop(height: layout.log.height) : rows.clamp(log.top)
  }

  /// The file that has the whole of the log that a line is from; nil for a run that keeps none.
  func logPath(of line: JobLine) -> String? {
    let ring = run.jobs[line.job.index].log
    // What opdash notes about a job stands on the screen only.
    let attempt =
      line.entry.line.stream != .note
      ? line.entry.attempt : (0..<ring.count).last { ring[$0].line.stream != .note }.map { ring[$0].attempt }
    return run.logPath(line.job, attempt: attempt ?? line.entry.attempt)
  }

  /// Whether keys act on lines of the log, and no range of them is being marked.
  var readsLog: Bool { focus == .log && log.mark == nil && lines?.isEmpty == false }

  /// Whether a file has more than the pane can show.
  var isLogClipped: Bool { (lines?.dropped ?? 0) > 0 || currentLine?.entry.line.isCut == true }

  /// Where the lines are that have left memory: a file, or a folder when they are of many jobs.
  var olderPath: String? {
    guard let first = lines?.first else { return nil }
    return showsMerged ? run.start?.folder.map { "\($0)/logs" } : run.logPath(first.job, attempt: first.entry.attempt)
  }
}
