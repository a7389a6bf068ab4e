/// A line that a job wrote, as it may be shown: its colours kept, all else that a terminal would obey left out.
package struct JobText: Sendable, Hashable {
  package struct Run: Sendable, Hashable {
    package var text: String
    package var style: Style

    package init(_ text: String, _ style: Style = .plain) {
      self.text = text
      self.style = style
    }
  }

  /// Neighbours differ in style; none is empty.
  package let runs: [Run]

  /// One line without its end, in bytes as the job wrote them.
  ///
  /// A carriage return within it starts the line again, as progress lines do, and tabs become blanks to the next
  /// eighth column.
  package init(line: some Sequence<UInt8>) {
    var parser = JobTextParser()
    var decoder = ScalarDecoder()
    for byte in line { decoder.feed(byte) { parser.take($0) } }
    decoder.finish { parser.take($0) }
    runs = parser.finish()
  }

  package init(_ line: String) { self.init(line: line.utf8) }

  /// The line for the clipboard: its tabs stay tabs, so it has no width.
  package init(written line: String) { runs = Self.runs(line, .written) }

  /// The line for a stream that may be a terminal: tabs stay, and SGR sequences stay as written where `keepingColor`.
  package static func clean(_ line: String, keepingColor: Bool = false) -> String {
    if TextWidth.isSimple(line) { return line }
    return runs(line, .stream(keepsColor: keepingColor)).map(\.text).joined()
  }

  private static func runs(_ line: String, _ form: JobTextParser.Form) -> [Run] {
    var parser = JobTextParser(form)
    for scalar in line.unicodeScalars { parser.take(scalar) }
    return parser.finish()
  }

  package var plain: String { runs.map(\.text).joined() }
  package var width: Int { runs.reduce(0) { $0 + TextWidth.of($1.text) } }
}
