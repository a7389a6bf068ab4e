/// A fault of a job or settings file: its place, and a sentence that says what is wrong and what to do.
package struct JobFileFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The path as given; `<stdin>` for standard input.
  package var file: String
  /// From 1; the fault of an unreadable file is at 1:1.
  package var line: Int
  /// From 1, in Unicode scalars.
  package var column: Int
  package var message: String

  package var description: String { "\(file):\(line):\(column): \(message)" }
}

/// The faults of a file in the order of their places, never empty; after the limit, the last says that there are more.
package struct JobFileFaults: Error, Sendable, Equatable, CustomStringConvertible {
  package let faults: [JobFileFault]

  init(_ faults: [JobFileFault]) {
    precondition(!faults.isEmpty, "a job file without faults gives a graph")
    self.faults = faults
  }

  /// A single fault.
  init(_ file: String, _ place: Place, _ message: String) {
    self.init([JobFileFault(file: file, line: place.line, column: place.column, message: message)])
  }

  /// One line per fault.
  package var description: String { faults.map(\.description).joined(separator: "\n") }
}
