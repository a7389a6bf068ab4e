import Basics
import Foundation
import JobModel
import Screen

/// Writes the outcome of each job as JUnit XML at the end of the run: one test suite with a test case for each job.
///
/// CI systems read the format that Jenkins and Maven Surefire have in common; failed attempts of a job that was tried again
/// are `flakyFailure` and `rerunFailure`, as Surefire's. If the program leaves the run before its end, the report has the
/// jobs as they are then.
package struct JUnitReport: Report {
  private let write: ReportWriter
  private var text: [UInt8] = []
  private var isWritten = false

  package init(write: @escaping ReportWriter) { self.write = write }

  package mutating func receive(_ event: JobEvent, before: JobState?, in run: Run) {
    if case .runFinished = event.fact { leave(run) }
  }

  package mutating func leave(_ run: Run) {
    guard !isWritten else { return }
    isWritten = true
    text = Array(Self.document(run).utf8)
  }

  package mutating func flush() { text.flush(to: write) }

  /// The document of a run, finished or not.
  package static func document(_ run: Run) -> String {
    let cases = run.ids.map { id in testCase(id, in: run) }
    let counts = run.counts
    let suite = [
      ("name", run.start?.name ?? "run"), ("tests", "\(counts.all)"), ("failures", "\(counts.failed)"),
      ("errors", "0"), ("skipped", "\(counts.all - counts.succeeded - counts.failed)"),
      ("time", seconds(run.length)), ("timestamp", run.start.map { Self.instant($0.at) } ?? ""),
    ]
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuite\(attributes(suite))>
      \(cases.joined(separator: "\n"))\(cases.isEmpty ? "" : "\n")</testsuite>

      """
  }

  private static func testCase(_ id: JobID, in run: Run) -> String {
    let record = run[id]
    let failed = record.attempts.dropLast().compactMap { earlier($0, of: record) }
    let elements = failed + [outcome(id, in: run)].compactMap(\.self)
    let head = attributes([
      ("name", record.job.name), ("classname", run.start?.name ?? "run"),
      ("time", seconds(record.elapsed(at: run.time) ?? .zero)),
    ])
    return elements.isEmpty
      ? "  <testcase\(head)/>" : "  <testcase\(head)>\n\(elements.joined(separator: "\n"))\n  </testcase>"
  }

  /// The element for the state of a job; nil if it succeeded.
  private static func outcome(_ id: JobID, in run: Run) -> String? {
    let record = run[id]
    let phrase = StateText.phrase(id, before: nil, at: run.time, in: run)
    switch record.state {
    case .succeeded: return nil
    case .failed(let failure, allowed: false):
      return element("failure", failure, text: FailureList.tail(of: record).joined(separator: "\n"))
    case .failed, .cancelled, .skipped: return "    <skipped\(attributes([("message", phrase.text)]))/>"
    case .waiting, .ready, .executing, .serving, .paused, .backingOff: return "    <skipped message=\"not run\"/>"
    }
  }

  /// The element for an attempt that another one followed; nil if it neither failed nor was cancelled.
  private static func earlier(_ attempt: JobRecord.Attempt, of record: JobRecord) -> String? {
    guard let failure = attempt.failure ?? (attempt.stop == .cancelled ? JobFailure(.error, "cancelled") : nil) else {
      return nil
    }
    return element(record.state.isOK ? "flakyFailure" : "rerunFailure", failure, text: "")
  }

  private static func element(_ name: String, _ failure: JobFailure, text: String) -> String {
    let head = "    <\(name)\(attributes([("message", failure.reason), ("type", failure.cause.word)]))"
    return text.isEmpty ? "\(head)/>" : "\(head)>\(escaped(text))</\(name)>"
  }

  private static func attributes(_ pairs: [(String, String)]) -> String {
    pairs.map { " \($0)=\"\(escaped($1))\"" }.joined()
  }

  /// The text without escape sequences and the scalars that XML 1.0 can't hold.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for (number, line) in text.lines.enumerated() {
      if number > 0 { result += "\n" }
      for scalar in JobText.clean(String(line)).text.unicodeScalars {
        switch scalar {
        case "&": result += "&amp;"
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "\"": result += "&quot;"
        case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
        default: result.unicodeScalars.append(scalar)
        }
      }
    }
    return result
  }

  private static func seconds(_ duration: Duration) -> String {
    let milliseconds = Int(clamping: max(.zero, duration) / .milliseconds(1))
    return "\(milliseconds / 1000)." + String(milliseconds % 1000, digits: 3)
  }

  private static func instant(_ date: Date) -> String {
    date.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: false))
  }
}
