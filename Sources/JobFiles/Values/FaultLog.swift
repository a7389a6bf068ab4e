/// Collects the faults of one file.
///
/// What is reached twice, through an alias or a default, is reported once.
final class FaultLog {
  private let file: String
  /// How a message names a file of its kind.
  let kind: String
  private let source: SourceText
  private var faults: Set<JobFileFault> = []

  /// libyaml sees a line break after the last line even where there is none.
  private lazy var end = source.end

  init(file: String, source: SourceText, kind: String = "a job file") {
    self.file = file
    self.kind = kind
    self.source = source
  }

  var isEmpty: Bool { faults.isEmpty }

  func add(_ place: Place, _ message: String) {
    let place = min(place, end)
    faults.insert(JobFileFault(file: file, line: place.line, column: place.column, message: message))
  }

  /// What was collected; call it only if something was.
  var all: JobFileFaults {
    JobFileFaults(faults.sorted { ($0.line, $0.column, $0.message) < ($1.line, $1.column, $1.message) })
  }
}
