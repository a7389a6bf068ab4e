/// Collects the faults of one file, each once, even if an alias or a default leads to it again.
final class FaultLog {
  private let file: String
  /// The kind of file in messages.
  let kind: String
  private let source: SourceText
  private var faults: Set<JobFileFault> = []
  /// Whether there are more faults than are reported, so that looking for others is of no use.
  private(set) var isCut = false
  /// How many faults are reported: a person mends these first, and a file that is no job file can have millions.
  static let limit = 100

  /// Faults are not placed after it: libyaml assumes a line break at the end.
  private lazy var end = source.end

  init(file: String, source: SourceText, kind: String = "a job file") {
    self.file = file
    self.kind = kind
    self.source = source
  }

  var isEmpty: Bool { faults.isEmpty }

  func add(_ place: Place, _ message: @autoclosure () -> String) {
    guard !isCut else { return }
    let place = min(place, end)
    let fault = JobFileFault(file: file, line: place.line, column: place.column, message: message())
    if faults.count < Self.limit { faults.insert(fault) } else { isCut = !faults.contains(fault) }
  }

  /// Adds the fault of a value that can't be read.
  func fail<Value>(_ place: Place, _ message: @autoclosure () -> String) -> Value? {
    add(place, message())
    return nil
  }

  /// The faults in order, of which there must be at least one; if some are left out, the last says so.
  var all: JobFileFaults {
    var list = faults.sorted { ($0.line, $0.column, $0.message) < ($1.line, $1.column, $1.message) }
    if isCut, var more = list.last {
      more.message = "and more: only \(Self.limit) faults are reported"
      list.append(more)
    }
    return JobFileFaults(list)
  }
}
