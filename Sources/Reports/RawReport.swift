import Basics
import Foundation
import JobModel
import Screen

/// Writes the output of each job as its command wrote it, whole and without a prefix, once the job has ended.
///
/// For a job that was tried again, this is the output of the last attempt. The job's standard error goes to `errors`,
/// as do the failures at the end of a run that has some, without the output that stands above them.
///
/// The bytes come from the attempt's log file, so that little is held in memory for a job that must wait for others.
/// Only if the job wrote to both streams, or so little that it has no log file, or if another file has replaced the log
/// file, does the report write the job's lines from the events instead. When the lines of the jobs that wait for an
/// earlier one take too much memory, the next ones are written from their log files too.
package struct RawReport: Report {
  /// The order of the jobs' output.
  package enum Order: Sendable {
    /// As the jobs end.
    case ends
    /// As the jobs were added.
    case jobs
  }

  /// The most bytes of an attempt's lines that are kept; if it writes more to both streams, all of it goes to `output`.
  static let lineLimit = 1 << 20
  /// The most bytes of lines that are kept of all jobs; executing jobs and jobs without a log file keep theirs.
  private let budget: Int
  /// The number of bytes that are collected before a write.
  private static let pieceSize = 1 << 16

  /// The state of a job's output before it is written.
  private struct Pending {
    var attempt: Int
    var lines: [LogLine] = []
    var size = 0
    /// How many bytes the lines have.
    var kept = 0
    var hasOutput = false
    var hasErrors = false
    /// Whether the log file may be incomplete, as a note of opdash may say.
    var isNoted = false
  }

  private let order: Order
  private let paint: Paint
  private let write: (output: ReportWriter, errors: ReportWriter)
  private var pending: [JobID: Pending] = [:]
  /// The bytes of all lines in `pending`.
  private var kept = 0
  /// The first job whose output was not written, for `Order.jobs`.
  private var next = 0
  private var text: (output: [UInt8], errors: [UInt8]) = ([], [])

  package init(
    order: Order, paint: Paint, budget: Int = 16 << 20, output: @escaping ReportWriter, errors: @escaping ReportWriter
  ) {
    self.order = order
    self.budget = budget
    self.paint = paint
    write = (output, errors)
  }

  package var logCapacity: Int { 0 }

  package mutating func receive(_ event: JobEvent, before: JobState?, in run: Run) {
    switch event.fact {
    case .jobLog(let id, let attempt, let line): if !line.isUnfinished { keep(line, of: id, attempt) }
    case .jobState(let id, let state, _, _):
      if case .backingOff = state { _ = take(id) }
      guard state.isTerminal else { return }
      switch order {
      case .ends: tell(id, in: run)
      case .jobs:
        while next < run.jobs.count, run[JobID(next)].state.isTerminal {
          tell(JobID(next), in: run)
          next += 1
        }
        if kept > budget, id.index > next { drop(id, in: run) }
      }
    case .runFinished:
      for id in pending.keys.sorted() { tell(id, in: run) }
      tellFailures(of: run)
    default: break
    }
  }

  package mutating func flush() {
    text.output.flush(to: write.output)
    text.errors.flush(to: write.errors)
  }

  /// Writes the lines that have been collected, and keeps the last one until its end comes.
  private mutating func flushLines() {
    func rest(_ bytes: inout [UInt8]) -> [UInt8] {
      guard let end = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
      defer { bytes.removeSubrange((end + 1)...) }
      return Array(bytes[(end + 1)...])
    }
    let left = (rest(&text.output), rest(&text.errors))
    flush()
    text = left
  }

  private mutating func keep(_ line: LogLine, of id: JobID, _ attempt: Int) {
    // Taken out, so that no line is copied.
    var output = take(id) ?? Pending(attempt: attempt)
    if output.attempt != attempt { output = Pending(attempt: attempt) }
    switch line.stream {
    case .stdout: output.hasOutput = true
    case .stderr: output.hasErrors = true
    case .note: output.isNoted = true
    }
    let size = line.text.utf8.count + 1
    output.size += size
    if output.size <= Self.lineLimit, line.stream != .note {
      output.lines.append(line)
      output.kept += size
    }
    kept += output.kept
    pending[id] = output
  }

  private mutating func take(_ id: JobID) -> Pending? {
    let output = pending.removeValue(forKey: id)
    kept -= output?.kept ?? 0
    return output
  }

  /// Drops the lines of a job that has ended and waits for an earlier one, if its log file can be written instead.
  private mutating func drop(_ id: JobID, in run: Run) {
    guard var output = take(id) else { return }
    if output.kept > 0, let path = run.logPath(id, attempt: output.attempt), LogFileReader(path) != nil {
      (output.lines, output.kept, output.size) = ([], 0, Self.lineLimit + 1)
    }
    kept += output.kept
    pending[id] = output
  }

  private mutating func tell(_ id: JobID, in run: Run) {
    guard let output = take(id), output.hasOutput || output.hasErrors else { return }
    let isSingle = output.hasOutput != output.hasErrors && !output.isNoted
    if isSingle || output.size > Self.lineLimit, let path = run.logPath(id, attempt: output.attempt),
      copy(path, toErrors: !output.hasOutput)
    {
      return
    }
    for line in output.lines { append(Array(line.text.utf8) + [UInt8(ascii: "\n")], toErrors: line.stream == .stderr) }
  }

  private mutating func tellFailures(of run: Run) {
    let failed = FailureList.failed(run)
    guard !failed.isEmpty else { return }
    let titles = failed.map(FailureList(run: run, paint: paint).title)
    for line in titles + [TallyText.line(run, paint: paint)] { append((line + "\n").bytes, toErrors: true) }
  }

  /// Writes the bytes of a log file; returns whether it could be read, and can be one.
  private mutating func copy(_ path: String, toErrors: Bool) -> Bool {
    guard let file = LogFileReader(path) else { return false }
    while let piece = file.next() { append(piece, toErrors: toErrors) }
    return true
  }

  private mutating func append(_ bytes: [UInt8], toErrors: Bool) {
    if toErrors { text.errors += bytes } else { text.output += bytes }
    if text.output.count + text.errors.count >= Self.pieceSize { flushLines() }
  }
}
