import CYAML

/// The reason why the rest of a file can't be read.
struct YAMLError: Error {
  var place: Place
  var message: String
  /// Whether an escape in double quotes is invalid.
  var isBadEscape = false
}

/// An error of libyaml, and the message for it.
struct YAMLProblem {
  private let problem: String
  private let context: String
  private let at: Place
  private let from: Place
  /// The byte at which the scanner is.
  private let next: UInt8?
  private let isOutOfMemory: Bool
  /// The last quoted text on several lines before it, most likely a text whose closing quote is missing.
  private let longQuote: (start: Place, end: Place)?
  /// The innermost list or map that is open, if it has brackets.
  private let bracket: Place?

  init(_ parser: yaml_parser_t, longQuote: (start: Place, end: Place)?, bracket: Place?) {
    problem = parser.problem.map { String(cString: $0) } ?? ""
    context = parser.context.map { String(cString: $0) } ?? ""
    at = Place(parser.problem_mark)
    from = Place(parser.context_mark)
    next = parser.buffer.pointer?.pointee
    isOutOfMemory = parser.error == YAML_MEMORY_ERROR
    self.longQuote = longQuote
    self.bracket = bracket
  }

  func described(by advice: SyntaxAdvice) -> YAMLError {
    if isOutOfMemory {
      return YAMLError(place: at, message: "there is not enough memory to read the file")
    }
    if let (place, message) = finding(advice) {
      let isBadEscape = problem == "found invalid Unicode character escape code"
      return YAMLError(place: place, message: message, isBadEscape: isBadEscape)
    }
    let words = [problem, context].filter { !$0.isEmpty }.joined(separator: " ")
    return YAMLError(place: at, message: "this is not YAML: \(words)")
  }

  private static let unknownTag = "'!' begins a tag in YAML: put text that begins with '!' in quotes"
  private static let afterBlockMark =
    "only a line break or a comment may follow '|' or '>': begin the text on the next line, indented"

  /// The place of something left open is its beginning.
  private func finding(_ advice: SyntaxAdvice) -> SyntaxAdvice.Finding? {
    switch (problem, context) {
    case ("found character that cannot start any token", _):
      next == UInt8(ascii: "\t")
        ? (at, "a tab can't indent YAML: use blanks")
        : (at, "no value can begin with \(character(advice)): put the text in quotes")
    case ("found a tab character that violates indentation", _),
      ("found a tab character where an indentation space is expected", _):
      (at, "a tab can't indent YAML: use blanks")
    case ("mapping values are not allowed in this context", _): advice.unexpectedColon(at: at)
    case ("found unexpected ':'", _):
      (at, "':' is not expected here: put a blank after it, or the text that holds it in quotes")
    case ("could not find expected ':'", "while scanning a simple key"): advice.missingColon(at: from)
    case ("did not find expected key", "while parsing a block mapping"):
      advice.unexpectedText(at: at, isList: false, longQuote: longQuote)
    case ("did not find expected '-' indicator", _):
      advice.unexpectedText(at: at, isList: true, longQuote: longQuote)
    case ("did not find expected ',' or ']'", _), ("did not find expected ',' or '}'", _):
      advice.brackets(from: from, at: at)
    case ("found unexpected end of stream", "while scanning a quoted scalar"):
      (from, "this quote is never closed: add the closing quote")
    case ("found unexpected document indicator", "while scanning a quoted scalar"):
      (from, "this quote is not closed before the document ends: add the closing quote")
    case ("block sequence entries are not allowed in this context", _):
      (at, "a list item ('- ') is not expected here: begin the list on a line of its own, or put the text in quotes")
    case ("mapping keys are not allowed in this context", _):
      (at, "'? ' begins a key in YAML: put text that begins with '?' in quotes")
    case ("found unknown escape character", _):
      (at, "unknown escape in double quotes: write \\\\ for a backslash, or use single quotes")
    case ("did not find expected hexdecimal number", _), ("found invalid Unicode character escape code", _):
      (at, "this escape is not a character: write \\xNN, \\uNNNN or \\UNNNNNNNN with its hexadecimal number")
    case ("did not find expected alphabetic or numeric character", "while scanning an anchor"):
      advice.mark("&", at: from)
    case ("did not find expected alphabetic or numeric character", _): advice.mark("*", at: from)
    case ("did not find expected node content", _):
      missingValue(advice)
    case ("did not find expected comment or line break", _):
      (at, Self.afterBlockMark)
    case ("did not find expected <document start>", _):
      (at, "the document has ended before this line: correct its indentation")
    case ("found incompatible YAML document", _):
      (at, "this version of YAML is not known: write %YAML 1.2, or delete the line")
    case ("found undefined tag handle", _): (at, Self.unknownTag)
    case (_, "while scanning a tag"), (_, "while parsing a tag"): (from, Self.unknownTag)
    case (_, "while scanning a block scalar"): (at, Self.afterBlockMark)
    case ("found unknown directive name", _), (_, "while scanning a directive"),
      (_, "while scanning a %YAML directive"),
      (_, "while scanning a %TAG directive"), (_, "while parsing a %TAG directive"):
      (from, "a line that begins with % is a directive, and only '%YAML 1.2' is useful: put other text in quotes")
    default: nil
    }
  }

  /// At the end of the file a bracket is open.
  private func missingValue(_ advice: SyntaxAdvice) -> SyntaxAdvice.Finding {
    if let bracket, at >= advice.source.end { return advice.brackets(from: bracket, at: at) }
    return advice.comment(from: 1, to: at.line)
      ?? (at, "a value is missing here: write one, or put the text in quotes")
  }

  /// The character at which the scanner is, for a message.
  private func character(_ advice: SyntaxAdvice) -> String {
    advice.source.rest(from: at).first.map { Quoted.text(String($0)) } ?? "this character"
  }
}
