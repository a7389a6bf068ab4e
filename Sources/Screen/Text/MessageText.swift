import Basics

/// Text from outside (a file name, a URL, a word of the command line) as a message of the program may show it.
package enum MessageText {
  /// The text on one line, with everything that a terminal obeys or hides written as an escape: `\u{1B}`, `\n`.
  ///
  /// Nothing is left out, so that no text can pass for another one.
  package static func of(_ text: String) -> TerminalText {
    if TextWidth.isSimple(text) { return TerminalText(filtered: text) }
    var shown = ""
    for scalar in text.unicodeScalars {
      if TextWidth.isPrintable(scalar), !scalar.isInvisible {
        shown.unicodeScalars.append(scalar)
      } else {
        shown += scalar.escaped(asASCII: true)
      }
    }
    return TerminalText(filtered: shown)
  }

  /// Text of several lines: line feeds and tabs stay.
  package static func page(_ text: String) -> TerminalText {
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.map { line in
      line.split(separator: "\t", omittingEmptySubsequences: false).map { of(String($0)) }.joined(separator: "\t")
    }.joined(separator: "\n")
  }
}
