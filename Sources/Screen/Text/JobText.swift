// Targets that draw text also measure it.
@_exported import enum Basics.TextWidth

/// A line of a job's output that is safe to show: its colors are kept, everything else that a terminal obeys is removed.
package struct JobText: Sendable, Hashable {
  package struct Run: Sendable, Hashable {
    package var text: String
    package var style: Style

    package init(_ text: String, _ style: Style = .plain) {
      self.text = text
      self.style = style
    }
  }

  /// Adjacent runs differ in style; none is empty.
  package let runs: [Run]

  /// Parses one line without its line feed, in the job's bytes.
  ///
  /// A carriage return starts the line again, as progress lines do; tabs become blanks up to the next multiple of eight.
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

  /// Lines for the clipboard.
  package static func written(_ text: String) -> TerminalText {
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    return TerminalText(filtered: lines.map { JobText(written: String($0)).plain }.joined(separator: "\n"))
  }

  /// The line for a stream that may be a terminal: tabs stay, and SGR sequences stay as written where `keepingColor`.
  package static func clean(_ line: String, keepingColor: Bool = false) -> TerminalText {
    if TextWidth.isSimple(line) { return TerminalText(filtered: line) }
    return TerminalText(filtered: runs(line, .stream(keepsColor: keepingColor)).map(\.text).joined())
  }

  /// Lines of output for a terminal: of the sequences that it obeys, only colors are kept.
  package static func cleanLines(_ bytes: some Collection<UInt8>) -> TerminalText {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return lines.map { clean(String(decoding: $0, as: UTF8.self), keepingColor: true) }.joined(separator: "\n")
  }

  private static func runs(_ line: String, _ form: JobTextParser.Form) -> [Run] {
    var parser = JobTextParser(form)
    for scalar in line.unicodeScalars { parser.take(scalar) }
    return parser.finish()
  }

  package var plain: String { runs.map(\.text).joined() }
  package var width: Int { runs.reduce(0) { $0 + TextWidth.of($1.text) } }
}
