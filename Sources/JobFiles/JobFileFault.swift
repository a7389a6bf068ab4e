/// One thing that is wrong with a job or settings file: where it is, and a sentence that says what it is and what to do.
package struct JobFileFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// As the person named it; `<stdin>` for standard input.
  package var file: String
  /// From 1; a file that can't be read has its faults at 1:1.
  package var line: Int
  /// From 1, in characters (Unicode scalars).
  package var column: Int
  package var message: String

  package init(file: String, line: Int, column: Int, message: String) {
    self.file = file
    self.line = line
    self.column = column
    self.message = message
  }

  package var description: String { "\(file):\(line):\(column): \(message)" }
}

/// Everything that is wrong with a file, in the order of the places; never empty.
package struct JobFileFaults: Error, Sendable, Equatable, CustomStringConvertible {
  package let faults: [JobFileFault]

  init(_ faults: [JobFileFault]) {
    precondition(!faults.isEmpty, "a job file without faults gives a graph")
    self.faults = faults
  }

  /// A line for each.
  package var description: String { faults.map(\.description).joined(separator: "\n") }
}
