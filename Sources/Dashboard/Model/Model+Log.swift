import JobModel

extension Model {
  /// Whether the pane shows the lines of many jobs; a zoomed job has its own log.
  var showsMerged: Bool { log.isMerged && page != .zoom }

  /// The lines that the pane shows; nil while there is no job.
  var lines: LogLines? { log.held ?? liveLines }

  /// The same log as it is in memory now, whatever the reader holds.
  var liveLines: LogLines? {
    if showsMerged, let merged { return LogLines(merged) }
    return cursor.map { LogLines($0, run.jobs[$0.index].log) }
  }

  /// The line that keys act on: the cursor's, or the newest while the log follows.
  var currentLine: JobLine? {
    guard let lines else { return nil }
    return log.follows ? lines.last : lines.line(log.cursor) ?? lines.last
  }

  /// The number of lines in the marked range; nil without a range.
  var markedCount: Int? {
    guard let lines, let marked = log.marked else { return nil }
    return min(lines.count, lines.position(of: marked.upperBound) + 1) - lines.position(of: marked.lowerBound)
  }

  /// The number of new lines that cannot be shown together with the held ones.
  var newer: Int {
    guard let held = log.held, let live = liveLines else { return 0 }
    return max(0, live.total - held.total)
  }

  /// The file that contains the whole log that a line is from; nil for a run without log files.
  func logPath(of line: JobLine) -> String? {
    let ring = run.jobs[line.job.index].log
    // Notes of opdash are not written to the file.
    let attempt =
      line.entry.line.stream != .note
      ? line.entry.attempt : (0..<ring.count).last { ring[$0].line.stream != .note }.map { ring[$0].attempt }
    return run.logPath(line.job, attempt: attempt ?? line.entry.attempt)
  }

  var readsLog: Bool { focus == .log && log.mark == nil && lines?.isEmpty == false }

  /// Whether a file has more than the pane can show.
  var isLogClipped: Bool { (lines?.dropped ?? 0) > 0 || currentLine?.entry.line.isCut == true }

  /// Where the lines are that have left memory: a file, or a folder for the lines of many jobs.
  var olderPath: String? {
    guard let first = lines?.first else { return nil }
    return showsMerged ? run.start?.folder.map { "\($0)/logs" } : run.logPath(first.job, attempt: first.entry.attempt)
  }
}
