/// Collects the faults of one file, each once, even if an alias or a default leads to it again.
final class FaultLog {
  private let file: String
  /// The kind of file in messages.
  let kind: String
  private let source: SourceText
  private var faults: Set<JobFileFault> = []

  /// Faults are not placed after it: libyaml assumes a line break at the end.
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

  /// Adds the fault of a value that can't be read.
  func fail<Value>(_ place: Place, _ message: String) -> Value? {
    add(place, message)
    return nil
  }

  /// The faults in order; there must be at least one.
  var all: JobFileFaults {
    JobFileFaults(faults.sorted { ($0.line, $0.column, $0.message) < ($1.line, $1.column, $1.message) })
  }
}
