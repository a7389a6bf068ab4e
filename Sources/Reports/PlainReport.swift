import Basics
import JobModel
import Screen

/// Writes one line for each start, pause, retry, end and line of output of a job, for logs and pipes.
package struct PlainReport: Report {
  /// The silences after which a heartbeat is written; the last one repeats until an event makes a line.
  static let silences: [Duration] = [.seconds(10), .seconds(20), .seconds(40), .seconds(60)]
  /// Executing jobs named in a heartbeat.
  static let named = 4
  /// The cells of an unfinished line in a heartbeat.
  static let promptWidth = 40
  /// The column of names grows up to this width.
  static let widestName = 28
  /// The columns of the rule above a group.
  static let ruleWidth = 80

  /// When and how the output of a job is written.
  package enum Grouping: String, CaseIterable, Sendable {
    /// Each line as it comes, after the job's name.
    case lines
    /// All lines of an attempt when it ends, below a rule with the job's name.
    case grouped
    /// As `grouped`, between the workflow commands of GitHub Actions that make a foldable group; failures are annotations
    /// too.
    case github
  }

  private let paint: Paint
  /// Whether a job that succeeds at once makes one line: its start and the notes about it make none.
  private let isBrief: Bool
  private let grouping: Grouping
  private let write: TextWriter
  private var text: TerminalText = ""
  private var nameWidth = 0
  /// When the newest line was written, and the number of heartbeats since the last line about an event.
  private var lastLine: Duration = .zero
  private var heartbeats = 0
  /// The number of the first line of each executing attempt, if its lines are grouped.
  private var firstLines: [JobID: Int] = [:]

  package init(
    paint: Paint, grouping: Grouping = .lines, isBrief: Bool = false, write: @escaping TextWriter
  ) {
    self.paint = paint
    self.grouping = grouping
    self.isBrief = isBrief
    self.write = write
  }

  package var logCapacity: Int { grouping == .lines ? FailureList.tail : LogRing.capacity }

  package mutating func receive(_ event: JobEvent, before: JobState?, in run: Run) {
    switch event.fact {
    case .runStarted(let start): begin(start)
    case .jobAdded(let id, _):
      nameWidth = max(nameWidth, min(Self.widestName, TextWidth.of(StateText.name(id, in: run))))
    case .jobState(let id, let state, _, _):
      if grouping != .lines {
        if state.isActive {
          firstLines[id] = firstLines[id] ?? run[id].log.total
        } else {
          writeGroup(id, at: event.time, in: run)
        }
      }
      let phrase = StateText.phrase(id, before: before, at: event.time, in: run)
      if phrase.isEmpty || isBrief && state == .executing { return }
      let (done, all) = ("\(run.counts.done)", "\(run.jobs.count)")
      let count = paint(.quiet, "[\(TerminalText.blanks(all.count - done.count))\(done)/\(all)]")
      let text = paint(state.role, phrase) + size(of: id, in: run)
      news(event.time, "\(paint(state.role, state.letter)) \(name(id, in: run))  \(count) \(text)")
      if grouping == .github, case .failed(_, let isAllowed) = state {
        let kind: TerminalText = isAllowed ? "warning" : "error"
        self.text += "::\(kind) title=\(property(StateText.name(id, in: run)))::\(data(phrase))\n"
      }
    case .jobLog(let id, _, let line):
      // A printed line cannot be taken back; the last one of an attempt is stated whole at its end.
      if line.isUnfinished || grouping != .lines || isBrief && line.stream == .note { return }
      news(event.time, "  \(name(id, in: run)) \(LogLinesText.marked(line, paint))")
    case .jobLaunched, .jobProgress, .programLog, .jobRestored, .inputsHashed, .jobOutputs, .jobPlaced, .arrivalsEnded,
      .warningCleared:
      break
    case .jobCaused(let id, let attempt, let cause):
      // The cause of a first attempt is a note in its log.
      guard attempt > 1 else { return }
      news(event.time, "  \(name(id, in: run))  \(paint(.strong, JobText.clean(cause)))")
    case .watchChanged(let isOn, let fault):
      let words = fault.map { paint(.warning, JobText.clean($0)) }
      news(event.time, "  \(words ?? (isOn ? "inputs are watched" : "inputs are watched no longer"))")
    case .cancelRequested(let id, let canceller, let isKill):
      // A stop has its own line; cancellation by policy follows a failure with its own line.
      guard canceller == .person else { return }
      news(event.time, "  \(name(id, in: run))  \(paint(.warning, isKill ? "being killed" : "being cancelled"))")
    case .slotsChanged(let slots): news(event.time, "  \(Format.slots(slots))")
    case .poolChanged(let name, let size): news(event.time, "  pool \(JobText.clean(name)): \(size)")
    case .clusterChanged(let fault):
      let down = "the cluster's controller is down, and is waited for"
      let words = fault.map { paint(.warning, "\(down): \(JobText.clean($0))") }
      news(event.time, "  \(words ?? "the cluster's controller answers again")")
    case .priorityChanged(let id, let priority):
      news(event.time, "  \(name(id, in: run))  priority \(priority.rawValue)")
    case .drainChanged(let isDraining):
      news(event.time, isDraining ? "  draining: nothing new starts" : "  no longer draining")
    case .stopRequested(let level, _):
      let means: TerminalText =
        level == .terminate ? "stopping: nothing new starts, what runs is ended" : "killing what still runs"
      news(event.time, "  " + paint(.warning, means))
    case .warningRaised(let warning):
      let job: TerminalText = warning.jobs.first.map { "\(name($0, in: run))  " } ?? ""
      news(event.time, "! \(job)\(StateText.warning(warning, paint: paint))")
    case .runFinished:
      for id in firstLines.keys.sorted() { writeGroup(id, at: event.time, in: run) }
      end(run)
    }
  }

  package mutating func flush() {
    guard !text.isEmpty else { return }
    write(text)
    text.removeAll(keepingCapacity: true)
  }

  package func wakeTime(in run: Run) -> Duration? {
    guard run.start != nil, run.summary == nil else { return nil }
    return lastLine + Self.silences[min(heartbeats, Self.silences.count - 1)]
  }

  package mutating func wake(at now: Duration, in run: Run) {
    line(now, "  " + paint(.quiet, heartbeat(at: now, run)))
    heartbeats += 1
  }

  private mutating func begin(_ start: RunStart) {
    // The number of jobs is unknown while they are still arriving.
    let jobs = start.isOpen ? "jobs as they come" : Format.count(start.jobs, "job")
    let slots = Format.slots(start.slots)
    let logs: TerminalText = start.folder.map { ", logs in \($0)/logs" } ?? ""
    news(.zero, "  \(paint(.strong, JobText.clean(start.name))): \(jobs), \(slots)\(logs)")
  }

  /// Writes the lines of an attempt that has ended.
  private mutating func writeGroup(_ id: JobID, at time: Duration, in run: Run) {
    let (log, name) = (run[id].log, StateText.name(id, in: run))
    guard let first = firstLines.removeValue(forKey: id), log.total > first, log.count > 0 else { return }
    let oldest = log[0]
    let color = paint(.name(id.index), name)
    let rule = String(repeating: "-", count: max(3, Self.ruleWidth - TextWidth.of(name) - 4))
    text += grouping == .github ? "::group::\(name)\n" : "\(paint(.quiet, "--")) \(color) \(paint(.quiet, "\(rule)"))\n"
    if oldest.number > first {
      let path: TerminalText = run.logPath(id, attempt: oldest.attempt).map { ", all of them in \($0)" } ?? ""
      text += "\(Format.count(oldest.number - first, "earlier line"))\(path)\n"
    }
    for place in 0..<log.count where log[place].number >= first {
      text += "\(stamp(log[place].time)) \(LogLinesText.marked(log[place].line, paint))\n"
    }
    if grouping == .github { text += "::endgroup::\n" }
    (lastLine, heartbeats) = (time, 0)
  }

  /// The value of a property of a workflow command of GitHub Actions.
  private func property(_ text: TerminalText) -> TerminalText {
    JobText.clean(data(text).text.escaping([":": "%3A", ",": "%2C"]))
  }

  /// The text after a workflow command.
  private func data(_ text: TerminalText) -> TerminalText { JobText.clean(text.text.escaping(["%": "%25"])) }

  /// The bytes that a job has transferred, in the one line that says so.
  private func size(of id: JobID, in run: Run) -> TerminalText {
    guard isBrief, run[id].state == .succeeded(upToDate: false), let progress = run[id].progress,
      progress.unit == .bytes
    else { return "" }
    return ", \(Format.bytes(progress.done))"
  }

  private mutating func end(_ run: Run) {
    let failures = FailureList(run: run, paint: paint).lines
    let notes = HistoryNotes(run: run, paint: paint).lines
    for line in (failures.isEmpty ? [] : [""]) + failures + [""] + notes + [TallyText.line(run, paint: paint)] {
      text += line + "\n"
    }
  }

  /// The executing jobs with their times, oldest first, or the next retry; and how many wait for the cluster.
  private func heartbeat(at now: Duration, _ run: Run) -> TerminalText {
    let active = run.ids.filter { run[$0].state.isActive }
      .sorted { (run[$0].attempt?.startedAt ?? .zero, $0) < (run[$1].attempt?.startedAt ?? .zero, $1) }
    let done: TerminalText = "\(clusterWaits(run))\(run.counts.done) of \(run.jobs.count) done"
    guard !active.isEmpty else {
      let next = run.jobs.compactMap { record -> Duration? in
        guard case .backingOff(let until, _, _, _) = record.state else { return nil }
        return until
      }.min()
      return next.map { "nothing runs, next retry in \(Format.length($0 - now)); \(done)" } ?? "nothing runs; \(done)"
    }
    var names = active.prefix(Self.named).map { id -> TerminalText in
      let isPaused = run[id].state == .paused(started: true)
      let elapsed: TerminalText = run[id].elapsed(at: now).map { " \(Format.length($0))" } ?? ""
      let prompt: TerminalText = run[id].log.unfinishedLine.map { " at '\(words($0))'" } ?? ""
      return "\(StateText.name(id, in: run))\(elapsed)\(isPaused ? " (paused)" : "")\(prompt)"
    }
    if active.count > names.count { names.append("\(active.count - names.count) more") }
    return "\(active.count) running: \(names.joined(separator: ", ")); \(done)"
  }

  /// `12 wait for the cluster: Resources (…); `, with the reason of most of them; empty without any.
  private func clusterWaits(_ run: Run) -> TerminalText {
    var counts: [String: Int] = [:]
    for record in run.jobs {
      if case .ready(.cluster(let reason)) = record.state { counts[reason ?? "", default: 0] += 1 }
    }
    let reasons = counts.filter { !$0.key.isEmpty }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    guard !counts.isEmpty else { return "" }
    let count = counts.values.reduce(0, +)
    let reason: TerminalText = reasons.first.map { ": \(JobText.clean($0.key))" } ?? ""
    return "\(count) \(count == 1 ? "waits" : "wait") for the cluster\(reason); "
  }

  private func words(_ line: LogLine) -> TerminalText {
    let text = JobText(line.text).plain.drop { $0 == " " }
    return Elision(isASCII: true).end(JobText.clean(String(text.prefix(Self.promptWidth * 2))), to: Self.promptWidth)
  }

  private mutating func news(_ time: Duration, _ body: TerminalText) {
    heartbeats = 0
    line(time, body)
  }

  private mutating func line(_ time: Duration, _ body: TerminalText) {
    lastLine = time
    text += "\(stamp(time)) \(body)\n"
  }

  private func stamp(_ time: Duration) -> TerminalText { paint(.quiet, "\(Format.stamp(time))") }

  /// The name of a job in its color, as wide as the column of names.
  private func name(_ id: JobID, in run: Run) -> TerminalText {
    let name = StateText.name(id, in: run)
    return paint(.name(id.index), name) + .blanks(nameWidth - TextWidth.of(name))
  }
}
