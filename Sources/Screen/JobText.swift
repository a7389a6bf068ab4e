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

  package init(runs: [Run]) { self.runs = runs }

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
  package init(written line: String) {
    var parser = JobTextParser(keepsTabs: true)
    for scalar in line.unicodeScalars { parser.take(scalar) }
    runs = parser.finish()
  }

  package var plain: String { runs.map(\.text).joined() }
  package var width: Int { runs.reduce(0) { $0 + TextWidth.of($1.text) } }

  /// The same text in lines of at most `width` cells; one empty line for an empty text.
  package func wrapped(to width: Int) -> [JobText] {
    guard width > 0, self.width > width else { return [self] }
    var lines: [JobText] = []
    var line: [Run] = []
    var used = 0
    for run in runs {
      var piece = ""
      for grapheme in run.text {
        let cells = TextWidth.of(grapheme)
        if used + cells > width, used > 0 {
          if !piece.isEmpty { line.append(Run(piece, run.style)) }
          lines.append(JobText(runs: line))
          line = []
          piece = ""
          used = 0
        }
        piece.append(grapheme)
        used += cells
      }
      if !piece.isEmpty { line.append(Run(piece, run.style)) }
    }
    lines.append(JobText(runs: line))
    return lines
  }
}
