import JobModel
import Screen

/// Writes the failures at the end of the run, and each warning when it comes; nothing without either.
package struct QuietReport: Report {
  private let paint: Paint
  private let write: TextWriter
  private var pending: TerminalText = ""

  package init(paint: Paint, write: @escaping TextWriter) {
    self.paint = paint
    self.write = write
  }

  package mutating func receive(_ event: JobEvent, before: JobState?, in run: Run) {
    if case .warningRaised(let warning) = event.fact {
      let job: TerminalText = warning.jobs.first.map { "\(StateText.name($0, in: run)): " } ?? ""
      pending += "\(job)\(StateText.warning(warning, paint: paint))\n"
    }
    guard case .runFinished = event.fact else { return }
    let lines = FailureList(run: run, paint: paint).lines
    guard !lines.isEmpty else { return }
    for line in lines + [TallyText.line(run, paint: paint)] { pending += line + "\n" }
  }

  package mutating func flush() {
    guard !pending.isEmpty else { return }
    write(pending)
    pending = ""
  }
}
