/// Reads a file of `NAME=VALUE` lines, as Compose and the dotenv libraries do.
///
/// No message holds a value: it may be a secret.
struct DotenvReader {
  private let file: Int
  private let faults: FaultLog
  private let scalars: [Unicode.Scalar]
  /// The variables that `${NAME}` may have.
  private var known: [String: String]
  private var found: [String: String] = [:]
  private var index = 0
  private var line = 1
  private var lineStart = 0

  init(_ source: SourceText, file: Int, faults: FaultLog, known: [String: String]) {
    self.file = file
    self.faults = faults
    self.known = known
    scalars = Array(
      String(decoding: source.bytes, as: UTF8.self).replacing("\r\n", with: "\n").unicodeScalars)
  }

  /// The variables by name; of one that is given twice, the later value.
  mutating func read() -> [String: String] {
    while index < scalars.count {
      readLine()
      // What is wrong in a line does not hide the next one.
      while index < scalars.count, scalars[index] != "\n" { index += 1 }
      takeBreak()
    }
    return found
  }

  private var next: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  private func place(_ index: Int) -> Place { Place(line: line, column: index - lineStart + 1, file: file) }

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
    var start = index
    var name = takeName()
    if name == "export", next == " " || next == "\t" {
      skipBlanks()
      start = index
      name = takeName()
    }
    skipBlanks()
    guard next == "=", !name.isEmpty else {
      let mend = next == ":" && !name.isEmpty ? "write \(name)=…" : "write NAME=VALUE, or '#' before a comment"
      faults.add(place(start), "this line is no NAME=VALUE: \(mend)")
      return
    }
    guard Variables.isName(name) else {
      faults.add(
        place(start),
        "\(Quoted.text(name)) can't name an environment variable: use letters, digits and '_', no digit first")
      return
    }
    index += 1
    skipBlanks()
    guard let value = takeValue(of: name) else { return }
    found[name] = value
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
    guard let quote = next, quote == "'" || quote == "\"" else { return takeUnquoted(of: name) }
    let start = place(index)
    index += 1
    guard let value = quote == "'" ? takeLiteral(of: name, from: start) : takeQuoted(of: name, from: start) else {
      return nil
    }
    skipBlanks()
    guard next == nil || next == "\n" || next == "#" else {
      return faults.fail(
        place(index), "text follows the closing quote of \(name): delete it, or write a blank and '#' before a comment")
    }
    return value
  }

  /// Up to the closing quote on the same line.
  private mutating func takeLiteral(of name: String, from start: Place) -> String? {
    var value = ""
    while let scalar = next, scalar != "\n" {
      index += 1
      if scalar == "'" { return value }
      value.unicodeScalars.append(scalar)
    }
    return unclosed(name, start)
  }

  private func unclosed(_ name: String, _ start: Place) -> String? {
    faults.fail(start, "the quote before the value of \(name) is never closed: add the closing quote")
  }

  /// Up to the closing quote, which may be on a later line.
  private mutating func takeQuoted(of name: String, from start: Place) -> String? {
    var value = ""
    while let scalar = next {
      switch scalar {
      case "\"":
        index += 1
        return value
      case "\\":
        index += 1
        guard let escaped = next else { return unclosed(name, start) }
        switch escaped {
        case "n": value += "\n"
        case "r": value += "\r"
        case "t": value += "\t"
        case "\"", "\\", "$": value.unicodeScalars.append(escaped)
        default:
          value += "\\"
          // It is read again, as it may be a line break.
          continue
        }
        index += 1
      case "\n":
        value += "\n"
        takeBreak()
      default:
        guard append(scalar, to: &value, of: name) else { return nil }
      }
    }
    return unclosed(name, start)
  }

  /// Up to the end of the line or a comment.
  private mutating func takeUnquoted(of name: String) -> String? {
    var value = ""
    var before: Unicode.Scalar = " "
    while let scalar = next, scalar != "\n" {
      if scalar == "#", before == " " || before == "\t", !value.isEmpty || scalars[index - 1] != "=" {
        break
      }
      before = scalar
      guard append(scalar, to: &value, of: name) else { return nil }
    }
    while value.last == " " || value.last == "\t" { value.removeLast() }
    return value
  }

  /// Appends the scalar or the value of the `${NAME}` that begins with it; false after a fault.
  private mutating func append(_ scalar: Unicode.Scalar, to value: inout String, of name: String) -> Bool {
    let start = index
    index += 1
    guard scalar == "$", next == "{" else {
      value.unicodeScalars.append(scalar)
      return true
    }
    var end = index + 1
    while end < scalars.count, scalars[end] != "}", scalars[end] != "\n" { end += 1 }
    guard end < scalars.count, scalars[end] == "}" else {
      faults.add(
        place(start), "'${' in the value of \(name) has no closing '}': add it, or use single quotes for a plain '${'")
      return false
    }
    var text = ""
    text.unicodeScalars.append(contentsOf: scalars[(index + 1)..<end])
    index = end + 1
    let other = String(text.prefix { $0 != ":" })
    let rest = text.dropFirst(other.count)
    guard Variables.isName(other), rest.isEmpty || rest.hasPrefix(":-") else {
      faults.add(
        place(start),
        "a '${…}' in the value of \(name) is not understood: write ${NAME} or ${NAME:-default}, or use single quotes "
          + "for a plain '${'")
      return false
    }
    if let found = known[other], !found.isEmpty || rest.isEmpty {
      value += found
    } else if !rest.isEmpty {
      value += rest.dropFirst(2)
    } else {
      faults.add(
        place(start), "\(other) has no value before this line: set it, or write ${\(other):-default}")
      return false
    }
    guard value.utf8.count <= Variables.lengthLimit else {
      faults.add(place(start), "the value of \(name) is longer than \(Variables.lengthLimit >> 20) MiB: shorten it")
      return false
    }
    return true
  }
}
