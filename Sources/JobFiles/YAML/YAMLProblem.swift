import CYAML

/// Messages for the errors of libyaml.
enum YAMLProblem {
  static func describe(_ parser: yaml_parser_t) -> YAMLParser.Problem {
    let problem = parser.problem.map { String(cString: $0) } ?? ""
    let context = parser.context.map { String(cString: $0) } ?? ""
    let at = Place(parser.problem_mark)
    let from = Place(parser.context_mark)
    guard parser.error != YAML_MEMORY_ERROR else {
      return YAMLParser.Problem(place: at, message: "there is not enough memory to read the file")
    }
    if let (place, message) = plain(problem, context, at: at, from: from, next: parser.buffer.pointer?.pointee) {
      let isBadEscape = problem == "found invalid Unicode character escape code"
      return YAMLParser.Problem(place: place, message: message, isBadEscape: isBadEscape, isSyntax: true)
    }
    let words = [problem, context].filter { !$0.isEmpty }.joined(separator: " ")
    return YAMLParser.Problem(place: at, message: "this is not YAML: \(words)")
  }

  private static let unknownTag = "unknown tag: put text that begins with ! in quotes"
  private static let afterBlockMark =
    "after | or > only a line break or a comment may follow: begin the text on the next line"

  /// The place of something left open is its beginning.
  private static func plain(
    _ problem: String, _ context: String, at: Place, from: Place, next: UInt8?
  ) -> (Place, String)? {
    switch (problem, context) {
    case ("found character that cannot start any token", _):
      // The scanner is at this character.
      next == UInt8(ascii: "\t")
        ? (at, "a tab can't indent YAML: use spaces")
        : (at, "no value can begin with this character: put the text in quotes")
    case ("found a tab character that violates indentation", _),
      ("found a tab character where an indentation space is expected", _):
      (at, "a tab can't indent YAML: use spaces")
    case ("mapping values are not allowed in this context", _):
      (at, "':' is not expected here: put text that holds ': ' in quotes, or correct the indentation of this line")
    case ("found unexpected ':'", _):
      (at, "':' is not expected here: put a blank after it, or the text that holds it in quotes")
    case ("could not find expected ':'", "while scanning a simple key"):
      (from, "a ':' is missing after this key: write 'key: value', or correct the indentation")
    case ("did not find expected key", "while parsing a block mapping"):
      (at, "a key is expected here: indent it as the other keys of the map that begins at \(from.words)")
    case ("did not find expected '-' indicator", _):
      (at, "'- ' is expected here: indent it as the other items of the list that begins at \(from.words)")
    case ("did not find expected ',' or ']'", _):
      (at, "',' or ']' is expected here, in the list that begins with '[' at \(from.words)")
    case ("did not find expected ',' or '}'", _):
      (at, "',' or '}' is expected here, in the map that begins with '{' at \(from.words)")
    case ("found unexpected end of stream", "while scanning a quoted scalar"):
      (from, "this quote is never closed: add the closing quote")
    case ("found unexpected document indicator", "while scanning a quoted scalar"):
      (from, "this quote is not closed before the document ends: add the closing quote")
    case ("block sequence entries are not allowed in this context", _):
      (at, "a list item ('- ') is not expected here: begin the list on a line of its own")
    case ("mapping keys are not allowed in this context", _):
      (at, "a key is not expected here: begin the map on a line of its own")
    case ("found unknown escape character", _):
      (at, "unknown escape in double quotes: write \\\\ for a backslash, or use single quotes")
    case ("did not find expected hexdecimal number", _), ("found invalid Unicode character escape code", _):
      (at, "this escape is no character: write \\xNN, \\uNNNN or \\UNNNNNNNN with the character's hexadecimal number")
    case ("did not find expected alphabetic or numeric character", _):
      (from, "a name is expected after & or *: put text that begins with one of them in quotes")
    case ("did not find expected node content", _):
      (at, "a value is expected here")
    case ("did not find expected comment or line break", _):
      (at, afterBlockMark)
    case ("did not find expected <document start>", _):
      (at, "the document has ended before this line: correct its indentation")
    case ("found incompatible YAML document", _):
      (at, "this version of YAML is not known: write %YAML 1.2, or delete the line")
    case ("found undefined tag handle", _): (at, unknownTag)
    case (_, "while scanning a tag"), (_, "while parsing a tag"): (from, unknownTag)
    case (_, "while scanning a block scalar"): (at, afterBlockMark)
    case ("found unknown directive name", _), (_, "while scanning a directive"),
      (_, "while scanning a %YAML directive"),
      (_, "while scanning a %TAG directive"), (_, "while parsing a %TAG directive"):
      (from, "a line that begins with % is a directive, and only '%YAML 1.2' is useful: put other text in quotes")
    default: nil
    }
  }
}
