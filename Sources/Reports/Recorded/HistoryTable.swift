import Foundation
import JobModel
import Screen

/// The output of `opdash history`: the recorded runs and, of a job file's jobs, the usual times.
package struct HistoryTable {
  /// A recorded run.
  package struct Row {
    var id: String
    var name: String
    var startedAt: Date
    /// Nil for a run that is going on, and for one whose program was killed.
    var endedAt: Date?
    /// Nil for a run that has not ended.
    var summary: RunSummary?
    /// The time until the last end of a job; nil where it was not recorded.
    var length: Duration?
    var jobs: Int
    var isGoingOn: Bool

    package init(
      id: String, name: String, startedAt: Date, endedAt: Date?, summary: RunSummary?, length: Duration?, jobs: Int,
      isGoingOn: Bool
    ) {
      self.id = id
      self.name = name
      self.startedAt = startedAt
      self.endedAt = endedAt
      self.summary = summary
      self.length = length
      self.jobs = jobs
      self.isGoingOn = isGoingOn
    }
  }

  /// The ends of a job in recorded runs, the newest first.
  package struct JobHistory {
    var name: String
    var ends: [RecordedEnd]

    package init(name: String, ends: [RecordedEnd]) {
      self.name = name
      self.ends = ends
    }

    func count(_ outcome: RecordedEnd.Outcome) -> Int { ends.count { $0.outcome == outcome } }
  }

  /// The newest first.
  let runs: [Row]
  /// In the order of the job file; empty without one.
  let jobs: [JobHistory]
  let paint: Paint
  let now: Date
  let zone: TimeZone
  let width: Int
  let elision: Elision

  package init(
    runs: [Row], jobs: [JobHistory] = [], paint: Paint, now: Date = Date(), zone: TimeZone = .current,
    width: Int = 80, elision: Elision = Elision(isASCII: false)
  ) {
    self.runs = runs
    self.jobs = jobs
    self.paint = paint
    self.now = now
    self.zone = zone
    self.width = width
    self.elision = elision
  }

  package var lines: [TerminalText] {
    guard !runs.isEmpty else { return ["No run is recorded."] }
    let table = table(["RUN", "STARTED", "NAME", "OUTCOME", "LENGTH", "OK"], runs.map(row), flexible: 2)
    guard !jobs.isEmpty else { return table }
    let titles: [TerminalText] = ["JOB", "USUALLY", "9 OF 10", "RUNS", "OK", ""]
    return table + [""] + self.table(titles, jobs.map(row), flexible: 0)
  }

  // MARK: Runs

  private struct Cell {
    var text: TerminalText
    var role: Paint.Role?
    var isRight = false
  }

  private func row(_ run: Row) -> [Cell] {
    let (word, role) = outcome(run)
    let end = run.endedAt ?? (run.isGoingOn ? now : nil)
    let length = run.length ?? end.map { .seconds(max(0, $0.timeIntervalSince(run.startedAt))) }
    return [
      Cell(text: JobText.clean(run.id)), Cell(text: "\(started(run.startedAt))", role: .quiet),
      Cell(text: JobText.clean(run.name)),
      Cell(text: word, role: role), Cell(text: length.map { "\(Format.length($0))" } ?? "-", isRight: true),
      Cell(text: run.summary.map { "\($0.succeeded)/\(run.jobs)" } ?? "-/\(run.jobs)", isRight: true),
    ]
  }

  private func outcome(_ run: Row) -> (TerminalText, Paint.Role) {
    guard let summary = run.summary else { return run.isGoingOn ? ("running", .active) : ("unfinished", .warning) }
    if summary.failed > 0 { return ("\(summary.failed) failed", .bad) }
    return summary.cancelled - summary.cancelledByProgram + summary.left > 0 ? ("stopped", .warning) : ("ok", .good)
  }

  /// `Nov 20 14:03`; `Nov 20  2025` for a run of another year, as `ls` writes it.
  private func started(_ date: Date) -> String {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
    guard let year = parts.year, let month = parts.month, let day = parts.day, let hour = parts.hour,
      let minute = parts.minute
    else { return "" }
    let isThisYear = year == calendar.component(.year, from: now)
    func two(_ number: Int, _ pad: String) -> String { (number < 10 ? pad : "") + "\(number)" }
    let time = isThisYear ? "\(two(hour, "0")):\(two(minute, "0"))" : " \(year)"
    return "\(Self.months[month - 1]) \(two(day, " ")) \(time)"
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  // MARK: Jobs

  private func row(_ job: JobHistory) -> [Cell] {
    let (succeeded, failed) = (job.count(.succeeded), job.count(.failed))
    let usual = UsualTime(job.ends)
    func time(_ time: Duration?) -> Cell { Cell(text: time.map { "\(Format.stretch($0))" } ?? "-", isRight: true) }
    let rate: TerminalText =
      succeeded + failed == 0 ? "-" : "\(Format.percent(Double(succeeded) / Double(succeeded + failed)))"
    let flaky: TerminalText? = usual.flatMap(UsualText.flaky).map { "flaky: \($0)" }
    let isOff = usual == nil && succeeded > 0
    return [
      Cell(text: JobText.clean(job.name)), time(usual?.median), time(usual?.ninetieth),
      Cell(text: "\(succeeded + failed)", isRight: true), Cell(text: rate, isRight: true),
      Cell(text: flaky ?? (isOff ? "the newest time is off by ten times" : ""), role: flaky == nil ? .quiet : .warning),
    ]
  }

  // MARK: Columns

  /// The rows below their titles; the cells of the flexible column are elided so that lines are at most `width` wide.
  private func table(_ titles: [TerminalText], _ rows: [[Cell]], flexible: Int) -> [TerminalText] {
    let right = rows.first?.map(\.isRight) ?? []
    let all = [zip(titles, right).map { Cell(text: $0, role: .quiet, isRight: $1) }] + rows
    var widths = titles.indices.map { column in all.map { TextWidth.of($0[column].text) }.max() ?? 0 }
    let excess = widths.reduce(0, +) + 2 * (widths.count - 1) - width
    widths[flexible] = max(8, widths[flexible] - max(0, excess))
    return all.map { cells in
      let parts = zip(cells, widths).map { cell, width -> TerminalText in
        let text = elision.name(cell.text, to: width)
        let pad = TerminalText.blanks(width - TextWidth.of(text))
        let painted = cell.role.map { paint($0, text) } ?? text
        return cell.isRight ? pad + painted : painted + pad
      }
      return parts.joined(separator: "  ").trimmed
    }
  }
}
