/// Reads a file of `NAME=VALUE` lines as Compose does.
///
/// No message holds a value: it may be a secret.
struct DotenvReader {
  private let file: Int
  private let faults: FaultLog
  private let scalars: [Unicode.Scalar]
  /// The variables that `$NAME` may have.
  private var known: [String: String]
  private var found: [String: String] = [:]
  /// The values that later lines replace; lines between them may have used them.
  private(set) var replaced: [(name: String, value: String)] = []
  private var index = 0
  private var line = 1
  private var lineStart = 0
  /// The bytes that references have been replaced by.
  private var total = 0

  /// The variable that is read.
  private struct Assignment {
    var name: String
    /// Where it begins.
    var start: Place
    /// Between double quotes it may have escapes and line breaks, else it ends with its line or a comment.
    var isQuoted: Bool
    /// Whether it has a fault, which does not end it: the rest of a quoted value is not read as lines.
    var isBroken = false
  }

  /// A part of a value: all of it, or the text of a `${NAME:-text}`.
  private struct Part {
    /// The `${` that it ends with the `}` of; nil for all of a value.
    var opening: Place?
    /// How many `${` it is in.
    var depth = 0
    /// Whether it becomes a part of the value; else its variables need no values.
    var isUsed = true
  }

  private static let depthLimit = 32
  private static let escapes: [Unicode.Scalar: Unicode.Scalar] = [
    "n": "\n", "r": "\r", "t": "\t", "a": "\u{7}", "b": "\u{8}", "v": "\u{B}", "f": "\u{C}", "\"": "\"",
    "\\": "\\", "$": "$",
  ]

  init(_ source: SourceText, file: Int, faults: FaultLog, known: [String: String]) {
    self.file = file
    self.faults = faults
    self.known = known
    let bytes = source.bytes
    // In CRLF, and at the end of a file that was cut in it, CR is a part of the line break.
    let kept = bytes.indices.filter { bytes[$0] != 0x0D || $0 + 1 < bytes.count && bytes[$0 + 1] != 0x0A }
    scalars = Array(String(decoding: kept.lazy.map { bytes[$0] }, as: UTF8.self).unicodeScalars)
  }

  /// The variables by name; of one that is given twice, the later value.
  mutating func read() -> [String: String] {
    while index < scalars.count {
      readLine()
      // A fault in one line does not hide the next line.
      while index < scalars.count, scalars[index] != "\n" { index += 1 }
      takeBreak()
    }
    return found
  }

  private var next: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  /// Where `next` is.
  private var place: Place { Place(line: line, column: index - lineStart + 1, file: file) }

  private mutating func takeBreak() {
    guard next == "\n" else { return }
    index += 1
    (line, lineStart) = (line + 1, index)
  }

  private mutating func skipBlanks() {
    while next == " " || next == "\t" { index += 1 }
  }

  private mutating func readLine() {
    skipBlanks()
    guard let first = next, first != "\n", first != "#" else { return }
    var start = place
    var name = takeName()
    if name == "export", next == " " || next == "\t" {
      skipBlanks()
      start = place
      name = takeName()
    }
    skipBlanks()
    guard next == "=", !name.isEmpty else {
      // The line may be a part of a value, so the message shows nothing of it.
      faults.add(start, "this line is no NAME=VALUE: write NAME=VALUE, or '#' before a comment")
      return
    }
    guard Variables.isName(name) else {
      faults.add(
        start,
        "the text before '=' can't name an environment variable: use letters, digits and '_', no digit first")
      return
    }
    index += 1
    skipBlanks()
    guard let value = takeValue(of: name) else { return }
    if let old = found.updateValue(value, forKey: name) { replaced.append((name, old)) }
    known[name] = value
  }

  private mutating func takeName() -> String {
    var name = ""
    while let scalar = next, !" \t\n=:#\"'".unicodeScalars.contains(scalar) {
      name.unicodeScalars.append(scalar)
      index += 1
    }
    return name
  }

  /// Nil after a fault.
  private mutating func takeValue(of name: String) -> String? {
    var value = Assignment(name: name, start: place, isQuoted: next == "\"")
    guard value.isQuoted || next == "'" else {
      let text = take(Part(), of: &value)
      return value.isBroken ? nil : text
    }
    index += 1
    guard let text = value.isQuoted ? take(Part(), of: &value) : takeLiteral(of: value) else { return nil }
    skipBlanks()
    guard next == nil || next == "\n" || next == "#" else {
      return faults.fail(
        place, "text follows the closing quote of \(name): delete it, or write a blank and '#' before a comment")
    }
    return value.isBroken ? nil : text
  }

  /// Up to the closing single quote, which may be on a later line.
  private mutating func takeLiteral(of value: Assignment) -> String? {
    var text = ""
    while let scalar = next {
      if scalar == "\n" {
        takeBreak()
      } else {
        index += 1
      }
      if scalar == "'" { return text }
      if scalar == "\\", let escaped = next, escaped == "'" || escaped == "\\" {
        text += escaped == "'" ? "'" : "\\\\"
        index += 1
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return unclosed(value)
  }

  private func unclosed(_ value: Assignment) -> String? {
    faults.fail(value.start, "the quote before the value of \(value.name) is never closed: add the closing quote")
  }

  // MARK: Text with variables

  /// Reads a part of a value and what ends it; nil if the end is missing, which has been reported.
  private mutating func take(_ part: Part, of value: inout Assignment) -> String? {
    var text = ""
    let isLine = !value.isQuoted && part.opening == nil
    /// Blanks of a line, which are dropped at its end and before a comment.
    var blanks = ""
    while let scalar = next {
      if isLine, scalar == " " || scalar == "\t" {
        index += 1
        blanks.unicodeScalars.append(scalar)
        continue
      }
      if isLine, scalar == "\n" || scalar == "#" && " \t".unicodeScalars.contains(scalars[index - 1]) { return text }
      text += blanks
      blanks = ""
      switch scalar {
      case "}" where part.opening != nil:
        index += 1
        return text
      case "\"" where value.isQuoted:
        guard part.opening == nil else { return unclosed(part, of: value) }
        index += 1
        return text
      case "\n":
        guard value.isQuoted else { return unclosed(part, of: value) }
        text += "\n"
        takeBreak()
      case "\\": takeEscape(of: value, to: &text)
      case "$":
        let start = place
        guard let found = takeReference(part, of: &value) else { return nil }
        total += found.utf8.count
        check(text.utf8.count + found.utf8.count, of: &value, at: start)
        if !value.isBroken { text += found }
      default:
        index += 1
        text.unicodeScalars.append(scalar)
      }
    }
    if isLine { return text }
    return part.opening == nil ? unclosed(value) : unclosed(part, of: value)
  }

  private func unclosed(_ part: Part, of value: Assignment) -> String? {
    faults.fail(
      part.opening ?? value.start,
      "'${' in the value of \(value.name) has no closing '}': add it, or use single quotes for a plain '${'")
  }

  /// Reads an escape, which stands between double quotes unless it is `\$`.
  private mutating func takeEscape(of value: Assignment, to text: inout String) {
    index += 1
    if let escaped = next, value.isQuoted || escaped == "$", let scalar = Self.escapes[escaped] {
      index += 1
      text.unicodeScalars.append(scalar)
    } else {
      text += "\\"
    }
  }

  /// The value of the `$NAME` or `${NAME…}` that is next; nil as of `take`.
  private mutating func takeReference(_ part: Part, of value: inout Assignment) -> String? {
    let start = place
    index += 1
    if next == "$" {
      index += 1
      return "$"
    }
    let hasBraces = next == "{"
    if hasBraces { index += 1 }
    let name = takeVariable()
    guard hasBraces else {
      // The name may be a part of a secret.
      let fault =
        "a '$' in the value of \(value.name) stands before a name without a value: use single quotes for a plain '$', "
        + "or set the name before this line"
      return name.isEmpty ? "$" : use(name, part, of: &value, at: start, fault)
    }

    var sign = ""
    if next == ":" {
      sign = ":"
      index += 1
    }
    if let scalar = next, "-+?".unicodeScalars.contains(scalar) {
      sign.unicodeScalars.append(scalar)
      index += 1
    }
    guard part.depth < Self.depthLimit else {
      return faults.fail(
        start, "more than \(Self.depthLimit) '${' stand in each other in the value of \(value.name): use fewer")
    }
    let set = known[name]
    let isSet = sign.hasPrefix(":") ? set?.isEmpty == false : set != nil
    let isKnownForm = !name.isEmpty && sign != ":" && (sign != "" || next == "}")
    var inner = Part(opening: start, depth: part.depth + 1, isUsed: false)
    if isKnownForm, part.isUsed {
      inner.isUsed = sign.hasSuffix("-") && !isSet || sign.hasSuffix("+") && isSet
    }
    let first = index
    guard let text = take(inner, of: &value) else { return nil }
    guard isKnownForm else {
      value.isBroken = true
      faults.add(
        start,
        "a '${…}' in the value of \(value.name) is not understood: write ${NAME} or ${NAME:-default}, or use single "
          + "quotes for a plain '${'")
      return ""
    }
    switch sign.last {
    case "+": return isSet ? text : ""
    case "-" where !isSet: return text
    case "?" where !isSet:
      if part.isUsed {
        value.isBroken = true
        let reason = reason(scalars[first..<(index - 1)]) ?? "set it before this line"
        faults.add(start, "\(name) has no value: \(reason)")
      }
      return ""
    default:
      let fault = "\(name) has no value before this line: set it, or write ${\(name):-default}"
      return use(name, part, of: &value, at: start, fault)
    }
  }

  /// The text of a `${NAME:?text}` as it is written, since values are not shown; nil if it is empty.
  private func reason(_ written: ArraySlice<Unicode.Scalar>) -> String? {
    var text = ""
    text.unicodeScalars.append(contentsOf: written)
    return text.allSatisfy(\.isWhitespace) ? nil : Quoted.bare(text, limit: 200)
  }

  private mutating func takeVariable() -> String {
    var name = ""
    while let scalar = next, Variables.isName(String(scalar)) || !name.isEmpty && ("0"..."9").contains(scalar) {
      name.unicodeScalars.append(scalar)
      index += 1
    }
    return name
  }

  /// The value of a variable; empty after a fault, and where it is not used.
  private mutating func use(
    _ name: String, _ part: Part, of value: inout Assignment, at start: Place, _ fault: String
  ) -> String {
    guard part.isUsed else { return "" }
    if let text = known[name] { return text }
    value.isBroken = true
    faults.add(start, fault)
    return ""
  }

  private func check(_ length: Int, of value: inout Assignment, at start: Place) {
    guard !value.isBroken else { return }
    if length > Variables.lengthLimit {
      value.isBroken = true
      faults.add(
        start, "the value of \(value.name) is longer than \(Variables.lengthLimit >> 20) MiB: shorten it")
    } else if total > Variables.totalLimit {
      value.isBroken = true
      faults.add(
        start, "up to here, variables made \(Variables.totalLimit >> 20) MiB of text: shorten their values")
    }
  }
}
