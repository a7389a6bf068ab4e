import Screen

/// A fault of a job or settings file, or a warning: its place, and a sentence with the fault and its remedy.
package struct JobFileFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The path as given; `<stdin>` for standard input.
  package var file: String
  /// From 1; the fault of an unreadable file is at 1:1.
  package var line: Int
  /// From 1, in Unicode scalars.
  package var column: Int
  package var message: String
  /// Whether the file can be used as it is, but most likely means something else.
  package var isWarning = false
  /// The line of the file; nil where there is nothing to show.
  var excerpt: SourceExcerpt?

  package var description: String { "\(file):\(line):\(column): \(isWarning ? "warning: " : "")\(message)" }

  /// Follows the name of the file: `, line 3, column 5`; empty for an unreadable file.
  var inside: String { (line, column) == (1, 1) ? "" : ", line \(line), column \(column)" }

  /// The description, then the line of the file and a mark below the place, each of these in at most `width` cells.
  package func lines(width: Int, _ elision: Elision = Elision(isASCII: false)) -> [String] {
    [description] + (excerpt?.lines(width: width, elision) ?? [])
  }
}

/// The faults of a file in the order of their places, at least one, and its warnings; after the limit, the last says that
/// there are more.
package struct JobFileFaults: Error, Sendable, Equatable, CustomStringConvertible {
  package let faults: [JobFileFault]

  init(_ faults: [JobFileFault]) {
    precondition(!faults.isEmpty, "a job file without faults gives a graph")
    self.faults = faults
  }

  /// A single fault.
  init(_ file: String, _ place: Place, _ message: String, excerpt: SourceExcerpt? = nil) {
    self.init([
      JobFileFault(file: file, line: place.line, column: place.column, message: message, excerpt: excerpt)
    ])
  }

  /// One line per fault.
  package var description: String { faults.map(\.description).joined(separator: "\n") }
}
