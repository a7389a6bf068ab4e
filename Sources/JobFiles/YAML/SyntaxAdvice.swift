/// Finds the place of a mistake in text that libyaml can't read; libyaml often reports a later one.
struct SyntaxAdvice {
  typealias Finding = (place: Place, message: String)

  let source: SourceText

  init(_ source: SourceText) { self.source = source }

  /// The advice for text that YAML would read as something else.
  private func quoting(_ key: String?) -> String {
    key.map { "quote the whole text, or use '\(shown($0)): |'" } ?? "quote the whole text"
  }

  // MARK: A colon too many, or one too few

  /// For a ':' at a place where no value may begin.
  func unexpectedColon(at place: Place) -> Finding {
    guard let line = line(place.line) else { return (place, "': ' is not expected here: \(quoting(nil))") }
    if line.colon != place.column {
      if let first = line.value.first, first == "\"" || first == "'" { return afterQuotes(at: place) }
      let between = source.rest(from: Place(line: place.line, column: line.colon ?? 1)).dropFirst()
      if let word = between.firstMatch(of: /^ *([\w.-]+):(?: |$)/)?.1 {
        return (
          place,
          "'\(Quoted.bare(String(word))):' is the second key of this line: write it on a line of its own, indented, "
            + "or quote the whole text"
        )
      }
      return colonInText(of: line.key, at: place)
    }
    guard let previous = filledLine(before: line) else { return colonInText(of: nil, at: place) }
    if previous.key != nil {
      return (
        line.place,
        "this line continues the value of '\(shown(previous.key))' above, because it is indented further: "
          + "indent both lines alike"
      )
    }
    // Lines without a colon stand above: a key that lacks its colon, or text that goes on over several lines.
    var first = previous
    while let above = filledLine(before: first), above.key == nil, above.indent == first.indent { first = above }
    if let above = filledLine(before: first), above.key != nil, !above.value.isEmpty, above.indent < first.indent {
      return colonInText(of: above.key, at: place)
    }
    return missingColon(on: first)
  }

  private func colonInText(of key: String?, at place: Place) -> Finding {
    let whose = key.map { " of '\(shown($0))'" } ?? ""
    return (place, "the text\(whose) holds ': ', which begins a value in YAML: \(quoting(key))")
  }

  /// For a line that libyaml took for a key whose ':' is missing.
  func missingColon(at place: Place) -> Finding {
    guard let line = line(place.line) else { return (place, "a ':' is missing here: write 'key: value'") }
    if let above = filledLine(before: line), above.beginsBlock, above.indent >= line.indent {
      return (
        place,
        "text below '\(above.value.prefix(1))' must be indented further than '\(shown(above.key))': "
          + "put more blanks before each of its lines"
      )
    }
    return missingColon(on: line)
  }

  private func missingColon(on line: UnparsedLine) -> Finding {
    let (message, advice) = Self.missingColon(in: line.text)
    return (line.place, "\(message): write \(advice), or indent this line if it continues the one above")
  }

  /// The missing part of a line such as `run ls`, `run:ls` or `run = ls`, and the corrected line.
  static func missingColon(in text: String) -> (message: String, advice: String) {
    let word = String(text.prefix { $0.isLetter || $0.isNumber || "_-.".contains($0) })
    let rest = text.dropFirst(word.count).drop { $0 == " " }
    guard !word.isEmpty else { return ("a ':' is missing in this line", "'key: value'") }
    let value = rest.drop { ":= ".contains($0) }
    let advice = "'\(Quoted.bare(value.isEmpty ? "\(word):" : "\(word): \(value)"))'"
    if rest.first == ":" { return ("a blank is missing after '\(word):'", advice) }
    return rest.first == "="
      ? ("'=' stands where YAML has ':'", advice) : ("a ':' is missing after '\(Quoted.bare(word))'", advice)
  }

  // MARK: A line or text out of place

  /// For text where a key of a map that begins at `start`, or an item of a list, is expected.
  func unexpectedText(at place: Place, isList: Bool, longQuote: (start: Place, end: Place)?) -> Finding {
    if let longQuote, longQuote.end.line == place.line, longQuote.end <= place {
      return (
        longQuote.start,
        "this quote is closed only at \(longQuote.end.words): add the closing quote where the text ends"
      )
    }
    let rest = source.rest(from: place)
    if let bracket = rest.first, "]}".contains(bracket) {
      return (place, "'\(bracket)' closes a bracket that is not open: delete it")
    }
    guard let line = line(place.line) else { return (place, "this text is not expected here: delete it") }
    let before = (source.line(place.line) ?? "").unicodeScalars.prefix(place.column - 1)
    if !before.allSatisfy({ " \t-".unicodeScalars.contains($0) }) { return afterQuotes(at: place) }
    if let head = blockHead(above: line) {
      return (
        place,
        "this line is indented less than the first line of the text below '\(shown(head.key)): "
          + "\(head.value.prefix(1))': indent all its lines at least as far as the first"
      )
    }
    let isItem = rest.hasPrefix("- ") || rest == "-"
    if isList, !isItem {
      return (
        place, "'- ' is expected here, as before the other items of the list: write it, or correct the indentation"
      )
    }
    let above = filledLine(before: line).flatMap { source.line($0.number) } ?? ""
    if isItem, !isList, !above.drop(while: { $0 == " " }).hasPrefix("-") {
      return (place, "a list item stands among keys here: delete its '- ', or correct the indentation")
    }
    return (place, "this line is indented unlike the lines above it: \(indentations(above: place))")
  }

  /// `indent it by 2 or 4 blanks, as they are`.
  private func indentations(above place: Place) -> String {
    let own = place.column - 1
    var below: Int?
    var above: Int?
    var number = place.line - 1
    while number > 0, place.line - number < 1000, below == nil {
      if let line = source.line(number), !UnparsedLine(number, line).isEmpty {
        let indent = line.unicodeScalars.prefix { $0 == " " }.count
        if indent == own { break }
        if indent < own { below = indent } else { above = min(above ?? indent, indent) }
      }
      number -= 1
    }
    let counts = [below, above].compactMap { $0 }.map(String.init).joined(separator: " or ")
    return counts.isEmpty ? "indent it as they are" : "indent it by \(counts) blanks, as they are, not by \(own)"
  }

  /// The line `key: |` of the block text that a line seems to belong to; nil for other lines.
  private func blockHead(above line: UnparsedLine) -> UnparsedLine? {
    var current = line
    while let above = filledLine(before: current) {
      if above.indent < line.indent { return above.beginsBlock ? above : nil }
      current = above
    }
    return nil
  }

  /// For text after a closing quote or bracket.
  private func afterQuotes(at place: Place) -> Finding {
    let before = (source.line(place.line) ?? "").unicodeScalars.prefix(place.column - 1)
    let last = before.last { $0 != " " }
    let what = last == "]" || last == "}" ? "bracket" : "quote"
    return (place, "nothing may follow the closing \(what) of a value: \(quoting(line(place.line)?.key))")
  }

  /// For `&` or `*` without a name after it.
  func mark(_ mark: Character, at place: Place) -> Finding {
    let before = (source.line(place.line) ?? "").unicodeScalars.prefix(place.column - 1)
    if let last = before.last(where: { $0 != " " }), "\"']}".unicodeScalars.contains(last) {
      return afterQuotes(at: place)
    }
    let role = mark == "&" ? "names a value" : "stands for a named value"
    return (place, "'\(mark)' \(role) in YAML: put text that begins with '\(mark)' in quotes")
  }

  // MARK: Brackets

  /// For a list or map in brackets, opened at `start`, in which something else than ',' or its end came at `place`.
  func brackets(from start: Place, at place: Place) -> Finding {
    let open = source.rest(from: start).first ?? "["
    let close: Character = open == "[" ? "]" : "}"
    let found = source.rest(from: place).first
    if let found, "]}".contains(found), found != close {
      return (place, "'\(found)' does not close the '\(open)' of \(start.words): write '\(close)' before it")
    }
    if let comment = comment(from: start.line, to: place.line) { return comment }
    guard isClosed(from: start) else {
      return (start, "this '\(open)' is never closed: add '\(close)', or put text that begins with '\(open)' in quotes")
    }
    if found == ":", let finding = longKey(before: place) { return finding }
    if found == ":" {
      return (place, "text in brackets holds ': ', which begins a value in YAML: quote the whole text")
    }
    if let found, "[{".contains(found) {
      return (place, "text in brackets holds '\(found)', which begins brackets of its own: quote the whole text")
    }
    return (place, "a ',' or '\(close)' is missing before this, in the brackets that begin at \(start.words): add it")
  }

  /// For a quoted key that is too long for YAML as it is written; nil for any other text before the ':' at `place`.
  private func longKey(before place: Place) -> Finding? {
    let before = (source.line(place.line) ?? "").unicodeScalars.prefix(place.column - 1)
    guard let end = before.lastIndex(where: { $0 != " " }), before[end] == "\"" || before[end] == "'",
      let start = before[..<end].lastIndex(of: before[end]), before[start...end].count > Self.keyLimit
    else { return nil }
    let column = before[..<start].count + 1
    return (
      Place(line: place.line, column: column),
      "this key has more than \(Self.keyLimit) characters as it is written: shorten it, or write them without escapes"
    )
  }

  /// The most characters of a key, for libyaml.
  private static let keyLimit = 1024

  /// For a '#' in one of these lines that hides the end of a list or map in brackets; nil without one.
  func comment(from first: Int, to last: Int) -> Finding? {
    for number in max(first, last - 50)...max(first, last) {
      var depth = 0
      var before: Unicode.Scalar = " "
      for (index, scalar) in (source.line(number) ?? "").unicodeScalars.enumerated() {
        if "[{".unicodeScalars.contains(scalar) { depth += 1 }
        if "]}".unicodeScalars.contains(scalar) { depth -= 1 }
        if scalar == "#", before == " ", depth > 0 {
          let place = Place(line: number, column: index + 1)
          guard source.rest(from: place).contains(where: { "]}".contains($0) }) else { break }
          return (place, "'#' begins a comment in YAML, which hides the rest of the line: quote the text that holds it")
        }
        before = scalar
      }
    }
    return nil
  }

  /// Whether the bracket at a place has its counterpart, as far as text with mistakes can tell.
  private func isClosed(from start: Place) -> Bool {
    var depth = 0
    var quote: Character?
    var number = start.line
    var text = source.rest(from: start)
    while true {
      var last: Character = " "
      for character in text {
        if let open = quote {
          if character == open { quote = nil }
        } else if character == "#", last == " " {
          break
        } else if "\"'".contains(character), " [{,:".contains(last) {
          quote = character
        } else if "[{".contains(character) {
          depth += 1
        } else if "]}".contains(character) {
          depth -= 1
          if depth == 0 { return true }
        }
        last = character
      }
      number += 1
      guard number - start.line < 10_000, let next = source.line(number) else { return false }
      text = next
    }
  }

  // MARK: Lines

  private func line(_ number: Int) -> UnparsedLine? { source.line(number).map { UnparsedLine(number, $0) } }

  /// The nearest line above with more than a comment; nil at the start of the file.
  private func filledLine(before line: UnparsedLine) -> UnparsedLine? {
    var number = line.number - 1
    while number > 0, line.number - number < 1000 {
      if let found = self.line(number), !found.isEmpty { return found }
      number -= 1
    }
    return nil
  }

  private func shown(_ key: String?) -> String { Quoted.bare(key ?? "") }
}
