import JobModel
import Screen

/// The failed jobs of a run, each with its reason, its last lines of output and its log file.
struct FailureList {
  /// Lines of output for each failed job.
  static let tail = 10
  /// Failures with output; the others take one line each.
  static let detailed = 20

  let run: Run
  let paint: Paint

  /// Empty without failures.
  var lines: [TerminalText] { Self.failed(run).enumerated().flatMap { lines(for: $1, inDetail: $0 < Self.detailed) } }

  /// The failed jobs; allowed failures come last.
  static func failed(_ run: Run) -> [JobID] {
    let failed = run.ids.filter { run[$0].state.isFailure }
    return failed.filter { !run[$0].state.isOK } + failed.filter { run[$0].state.isOK }
  }

  private func lines(for id: JobID, inDetail: Bool) -> [TerminalText] {
    let record = run[id]
    var lines = [title(id)]
    if inDetail {
      lines += Self.tail(of: record).map { "    | \(JobText.clean($0, keepingColor: paint.isColoured))" }
    }
    if let place = record.place {
      let nodes: TerminalText = place.nodes.map { " on \(JobText.clean($0))" } ?? ""
      lines.append("    cluster: job \(JobText.clean(place.id))\(nodes)")
    }
    if let path = Self.logPath(of: id, in: run) { lines.append("    log: \(path)") }
    return lines
  }

  /// The letter and the name of a job, and its reason.
  func title(_ id: JobID) -> TerminalText {
    let (state, name) = (run[id].state, StateText.name(id, in: run))
    let phrase = StateText.phrase(id, before: nil, at: run.time, in: run)
    return "\(paint(state.role, state.letter)) \(paint(.strong, name))  \(paint(state.role, phrase))"
  }

  /// The log file of the newest attempt; nil if it has none, as a command that has written nothing.
  static func logPath(of id: JobID, in run: Run) -> String? {
    let record = run[id]
    guard let attempt = record.attempt?.number else { return nil }
    // A transfer writes its notes into the file; of a command only the output is in it.
    let hasNotes = if case .shell = record.job.work { false } else { true }
    let isKept = (0..<record.log.count).contains { place in
      let entry = record.log[place]
      return entry.attempt == attempt && (hasNotes || entry.line.stream != .note)
    }
    return isKept ? run.logPath(id, attempt: attempt) : nil
  }

  /// The last lines of the newest attempt, oldest first, as they came.
  static func tail(of record: JobRecord) -> [String] {
    guard let attempt = record.attempt?.number else { return [] }
    var lines: [String] = []
    var position = record.log.count - 1
    while position >= 0, lines.count < tail, record.log[position].attempt == attempt {
      lines.append(record.log[position].line.text)
      position -= 1
    }
    return lines.reversed()
  }
}

/// The outcome of a run in one line.
enum TallyText {
  /// As in `release: 36 ok, 2 up to date, 1 failed, 1 skipped in 1m10s`; jobs done in an earlier run count as ok.
  static func line(_ run: Run, paint: Paint) -> TerminalText {
    let counts = run.counts
    var parts: [TerminalText] = []
    func add(_ count: Int, _ word: String, _ role: Paint.Role) {
      if count > 0 { parts.append(paint(role, "\(count) \(word)")) }
    }
    let upToDate = run.jobs.count { $0.state == .succeeded(upToDate: true) && $0.restored == nil }
    add(counts.succeeded - upToDate, StateClass.succeeded.word, .good)
    add(upToDate, StateClass.upToDate.word, .good)
    add(counts.failed, "failed", .bad)
    add(counts.allowed, "failed but allowed to", .warning)
    add(counts.cancelled, "cancelled", .warning)
    add(counts.skipped, "skipped", .quiet)
    add(counts.notStarted, "not started", .quiet)
    add(counts.open, "not run", .warning)
    if parts.isEmpty { parts = ["no jobs"] }
    let name = JobText.clean(run.start?.name ?? "run")
    return "\(paint(.strong, name)): \(parts.joined(separator: ", ")) in \(Format.length(run.length))"
  }
}

/// The lines printed when the dashboard has closed, so that its result stays visible.
package enum SummaryReport {
  /// The failures, how the run differs from earlier ones, and the outcome, without line feeds.
  package static func lines(of run: Run, paint: Paint) -> [TerminalText] {
    FailureList(run: run, paint: paint).lines + HistoryNotes(run: run, paint: paint).lines
      + [TallyText.line(run, paint: paint)]
  }
}
