import Basics
import Foundation
import JobModel
import Screen

/// A recorded run on one page of text, 80 columns wide: what decided its length, what waited, what failed.
///
/// Has at most about sixty lines, however many jobs the run has. Paths are not shortened.
package struct RunReportText {
  /// The most rows of each part.
  private enum Most {
    static let chain = 7
    static let slow = 5
    static let flaky = 4
    static let detailed = 3
    static let tail = 4
    static let failed = 6
  }

  static let width = 80
  private static let nameWidth = 36

  private let figures: RunFigures
  private let paint: Paint
  private let zone: TimeZone
  private var run: Run { figures.run }

  package init(_ run: Run, paint: Paint, zone: TimeZone = .current) {
    figures = RunFigures(run)
    self.paint = paint
    self.zone = zone
  }

  /// Without line feeds.
  package var lines: [TerminalText] {
    [head, path, slots, slow, flaky, failures].filter { !$0.isEmpty }.enumerated().flatMap { $0 == 0 ? $1 : [""] + $1 }
  }

  // MARK: Parts

  private var head: [TerminalText] {
    var lines = [TallyText.line(run, paint: paint)]
    if let start = run.start {
      let (jobs, slots) = (Format.count(run.jobs.count, "job"), Format.slots(start.slots))
      lines.append("run \(start.id), begun \(DateText.of(start.at, in: zone)), \(jobs), \(slots)")
      if let earlier = start.resumes { lines.append("resumes run \(earlier)") }
    }
    if run.summary == nil {
      lines.append(paint(.warning, "not finished: the recording ends after \(Format.length(run.time))"))
    } else if let exit = run.summary?.exit, exit != 0 {
      lines.append("exit status \(exit)")
    }
    if !figures.restored.isEmpty {
      lines.append("of the jobs that are ok: \(figures.restored.count) done in an earlier run")
    }
    return lines
  }

  private var path: [TerminalText] {
    let count = figures.chain.count
    guard count > 0 else { return [] }
    let whole = figures.pathTime
    let links = figures.largestLinks(Most.chain)
    let title: TerminalText = "Critical path: \(Format.count(count, "job")), \(Format.length(whole))"
    let executing: TerminalText = "of which \(Format.length(figures.pathExecuting)) running"
    var lines = [heading("\(title), \(executing)"), columns("SHARE", "RUNNING", "WAITED", "JOB")]
    lines += links.map { link in
      let wait: TerminalText = isShown(link.waited) ? figures.longestWait(in: link).map { "  \($0.phrase)" } ?? "" : ""
      return columns(
        Format.percent(part(link.share, of: whole)), Format.length(link.executing),
        isShown(link.waited) ? Format.length(link.waited) : "",
        name(link.job, beside: Self.columnsWidth + wait.text.count),
        wait)
    }
    if count > links.count {
      let rest = whole - links.reduce(.zero) { $0 + $1.share }
      let jobs = Format.count(count - links.count, "shorter job")
      lines.append(columns(Format.percent(part(rest, of: whole)), "", "", "and \(jobs)"))
    }
    return lines
  }

  private var slots: [TerminalText] {
    guard !figures.slots.steps.isEmpty || !figures.waits.isEmpty else { return [] }
    let mean = Format.tenths(figures.meanBusy)
    var lines: [TerminalText]
    if let count = figures.slotCount, count > 0 {
      let whole = run.length * count
      let idle = max(.zero, whole - figures.slots.busyTime)
      lines = [
        heading("Slots: \(mean) of \(count) in use on average"),
        "  \(Format.percent(part(figures.slots.busyTime, of: whole))) of their time; idle \(Format.length(idle)), "
          as TerminalText
          + "at most \(figures.slots.peak) in use; all in use for \(Format.length(figures.slots.time(with: count)))",
      ]
    } else {
      lines = [heading("Slots: \(mean) in use on average, at most \(figures.slots.peak)")]
      if let first = run.start?.slots, first != run.slots {
        lines.append("  \(Format.slots(first)) at the start, \(Format.slots(run.slots)) at the end")
      }
    }
    let waits = figures.waits.filter { isShown($0.total) }
    let phrases = max(18, waits.map(\.kind.phrase.count).max() ?? 0)
    for wait in waits {
      let who: TerminalText = "\(Format.count(wait.jobs, "job")), at most \(Format.length(wait.longest.time)): "
      let left: TerminalText =
        "  \(wait.kind.phrase.padded(to: phrases))\(Format.length(wait.total).padded(leftTo: 8))  "
      lines.append(left + who + name(wait.longest.job, beside: left.text.count + who.text.count))
    }
    return lines
  }

  private var slow: [TerminalText] {
    let jobs = figures.slowest.prefix(Most.slow)
    guard !jobs.isEmpty else { return [] }
    let hasUsual = jobs.contains { run[$0].job.usual != nil }
    return [heading("Slowest jobs"), columns("RUNNING", hasUsual ? "USUALLY" : "", "", "JOB")]
      + jobs.map { id in
        let took = run[id].spent(.executing, until: figures.end)
        let usual = run[id].job.usual.map { Format.length($0.median) } ?? ""
        let note: TerminalText = run[id].tries.isEmpty ? "" : "  \(String(run[id].tries.dropFirst(2)))"
        return columns(
          Format.length(took), usual, run[id].deviation ?? "", name(id, beside: Self.columnsWidth + note.text.count),
          note)
      }
  }

  private var flaky: [TerminalText] {
    let jobs = figures.flakiest
    guard !jobs.isEmpty else { return [] }
    return [heading("Flaky jobs")]
      + jobs.prefix(Most.flaky).map { id -> TerminalText in
        let why = run[id].flakiness
        return "  \(name(id, beside: why.count + 4).padded(to: 20))  \(why)"
      } + more(jobs.count - Most.flaky)
  }

  private var failures: [TerminalText] {
    let jobs = figures.failed
    guard !jobs.isEmpty else { return [] }
    var lines = [heading("Failures")]
    for (place, id) in jobs.prefix(Most.failed).enumerated() {
      let record = run[id]
      let letter = paint(record.state.role, record.state.letter)
      let phrase = StateText.phrase(id, before: nil, at: figures.end, in: run)
      let title = paint(.strong, name(id, beside: 0))
      let room = Self.width - 4 - TextWidth.of(name(id, beside: 0)) - 2
      lines.append("  \(letter) \(title)  \(paint(record.state.role, Self.elision.end(phrase, to: room)))")
      guard place < Most.detailed else { continue }
      let tail = FailureList.tail(of: record).suffix(Most.tail)
      for line in tail {
        lines.append("    | " + Self.elision.end(JobText.clean(line), to: Self.width - 6))
      }
      if let path = FailureList.logPath(of: id, in: run) { lines.append("    log: \(path)") }
    }
    return lines + more(jobs.count - Most.failed)
  }

  // MARK: Cells

  private static let elision = Elision(isASCII: true)
  /// The cells of a line before the name.
  private static let columnsWidth = 29

  private func heading(_ text: TerminalText) -> TerminalText { paint(.strong, text) }

  private func columns(
    _ first: String, _ second: String, _ third: String, _ name: TerminalText, _ note: TerminalText = ""
  ) -> TerminalText {
    "  \(first.padded(leftTo: 7))  \(second.padded(leftTo: 7))  \(third.padded(leftTo: 7))  \(name)\(paint(.quiet, note))"
  }

  /// A name on a line on which other text takes `cells`.
  private func name(_ id: JobID, beside cells: Int) -> TerminalText {
    let room = max(12, min(Self.nameWidth, Self.width - cells))
    return Self.elision.name(StateText.name(id, in: run), to: room)
  }

  private func more(_ count: Int) -> [TerminalText] { count > 0 ? ["  and \(count) more"] : [] }

  private func isShown(_ time: Duration) -> Bool { time >= .milliseconds(50) }

  private func part(_ time: Duration, of whole: Duration) -> Double { whole > .zero ? time / whole : 0 }
}

/// The day and time of an event of a recorded run.
enum DateText {
  /// `2026-01-01 14:03:12` on the wall clock of `zone`.
  static func of(_ date: Date, in zone: TimeZone) -> String {
    let style = Date.ISO8601FormatStyle(timeZone: zone).year().month().day()
    return "\(date.formatted(style)) \(Format.clock(date, in: zone))"
  }
}
