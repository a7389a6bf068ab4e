import JobModel

/// Writes one JSON object per event and line, as the events reference describes.
package struct JSONReport: Report {
  private let write: ReportWriter
  private var writer = EventWriter()
  private var lines: [UInt8] = []

  package init(write: @escaping ReportWriter) { self.write = write }

  package mutating func receive(_ event: JobEvent, before: JobState?, in run: Run) {
    writer.append(event, to: &lines)
  }

  package mutating func flush() { lines.flush(to: write) }
}
