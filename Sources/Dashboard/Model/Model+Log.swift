import JobModel

extension Model {
  /// Whether the pane shows the lines of many jobs; a zoomed job has its own log.
  var showsMerged: Bool { log.isMerged && page != .zoom }

  /// Whether the pane shows the program's own output.
  var showsProgram: Bool { log.subject == .program && page != .zoom }

  /// The lines in the pane; nil until there is a job.
  var lines: LogLines? { log.held ?? liveLines }

  /// The same log as it is in memory now, whatever the reader holds.
  var liveLines: LogLines? {
    if showsMerged, let merged { return LogLines(merged) }
    if showsProgram { return LogLines(program: run.programLog) }
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

  /// The file that contains the whole log that a line is from; nil for a run without log files, and for the program's lines.
  func logPath(of line: JobLine) -> String? {
    guard let job = line.job else { return nil }
    let ring = run.jobs[job.index].log
    // Notes of opdash are not written to the file.
    let attempt =
      line.entry.line.stream != .note
      ? line.entry.attempt : (0..<ring.count).last { ring[$0].line.stream != .note }.map { ring[$0].attempt }
    return run.logPath(job, attempt: attempt ?? line.entry.attempt)
  }

  var readsLog: Bool { focus == .log && log.mark == nil && lines?.isEmpty == false }

  /// Whether a file has more than the pane can show.
  var isLogClipped: Bool { (lines?.dropped ?? 0) > 0 || currentLine?.entry.line.isCut == true }

  /// Where the lines are that have left memory: a file, or a folder for the lines of many jobs.
  var olderPath: String? {
    guard let first = lines?.first else { return nil }
    if showsMerged { return run.start?.folder.map { "\($0)/logs" } }
    return first.job.flatMap { run.logPath($0, attempt: first.entry.attempt) }
  }
}
