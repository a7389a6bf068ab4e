import Foundation

/// The text of a job file whose jobs are added to a run that is going on.
package struct AddedText: Sendable, Equatable {
  /// The largest text that is taken.
  package static let limit = 16 << 20

  /// Its name in messages: the path as it was given, `<stdin>`, or `$OPDASH_ADD`.
  package var file: String
  /// The absolute folder of its relative paths.
  package var directory: String
  /// Other values for its vars.
  package var vars: [String: String]
  /// The job that has written it; nil for a text that a person adds.
  package var writer: String?
  package var bytes: [UInt8]

  package init(
    _ bytes: [UInt8], file: String, directory: String, vars: [String: String] = [:], writer: String? = nil
  ) {
    (self.bytes, self.file, self.directory) = (bytes, file, directory)
    (self.vars, self.writer) = (vars, writer)
  }

  /// The width and the characters of the lines that quote the text in messages.
  package struct Style: Sendable, Equatable {
    package var width = 100
    package var isASCII = false

    package init(width: Int = 100, isASCII: Bool = false) { (self.width, self.isASCII) = (width, isASCII) }
  }
}

/// The jobs that were added, and remarks about their text.
package struct AddedJobs: Sendable, Equatable {
  package var names: [String]
  package var notes: [String]

  package init(_ names: [String], notes: [String] = []) { (self.names, self.notes) = (names, notes) }
}

/// Why no job was added.
package struct AdditionRefusal: Error, Sendable, Equatable {
  /// The first fault, on one line.
  package var reason: String
  /// All faults, for a person.
  package var lines: [String]

  package init(_ reason: String, lines: [String]? = nil) { (self.reason, self.lines) = (reason, lines ?? [reason]) }
}

/// A live run that takes more jobs.
package protocol ExtensibleFeed: JobFeed {
  /// Adds all jobs of a text, or none; `answer` is called once, on any thread.
  func add(
    _ text: AddedText, _ style: AddedText.Style,
    _ answer: @escaping @Sendable (Result<AddedJobs, AdditionRefusal>) -> Void)
}

// MARK: JSON

extension AddedText {
  /// Adds the fields of all but the bytes.
  package func append(to line: inout [UInt8]) {
    line.append(field: "file", file)
    line.append(field: "directory", directory)
    if !vars.isEmpty { line.append(field: "vars", vars) }
    line.append(field: "writer", writer)
  }

  /// Reads the fields of all but the bytes.
  package init(_ fields: JSONFields) throws(JSONFault) {
    self.init([], file: try fields.text("file"), directory: try fields.text("directory"))
    vars = try fields.textMap(ifAny: "vars") ?? [:]
    writer = try fields.text(ifAny: "writer")
  }

  /// A piece of the bytes, as text.
  package static func encoded(_ bytes: some DataProtocol) -> String { Data(bytes).base64EncodedString() }

  package static func decoded(_ text: String) throws(JSONFault) -> [UInt8] {
    guard let data = Data(base64Encoded: text) else { throw JSONFault("'bytes' is not base64") }
    return Array(data)
  }
}
