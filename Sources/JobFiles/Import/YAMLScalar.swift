import Basics

/// Writes texts so that YAML reads the same text back.
enum YAMLScalar {
  /// A key of a map.
  static func key(_ text: String) -> String { of(text, inFlow: true) }

  /// The text on one line: plain where nothing in it has a meaning, else in quotes; `inFlow` is inside brackets.
  static func of(_ text: String, inFlow: Bool) -> String {
    if isPlain(text, inFlow: inFlow) { return text }
    guard text.unicodeScalars.allSatisfy(isShown) else {
      return "\"" + text.unicodeScalars.reduce(into: "") { $0 += escaped($1) } + "\""
    }
    return "'\(text.escaping(["'": "''"]))'"
  }

  /// The mark and the lines of a block of several lines; nil for text that a block can't hold, or on one line.
  static func block(_ text: String) -> (mark: String, lines: [Substring])? {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count > 1, lines[0].first.map({ $0 != " " }) == true else { return nil }
    let isClosed = lines.last?.isEmpty == true
    if isClosed { lines.removeLast() }
    let areShown = lines.allSatisfy { line in
      line.isEmpty || line.contains { $0 != " " } && line.unicodeScalars.allSatisfy(isShown)
    }
    guard areShown, lines.count > 1, lines.last?.isEmpty == false else { return nil }
    return (isClosed ? "|" : "|-", lines)
  }

  private static let marks = Set("_./+-=@%~();^|<>&*?! $\"'\\,[]{}:".unicodeScalars)
  private static let flowMarks = Set(",[]{}:".unicodeScalars)
  /// Words that other readers of YAML take for something else than text.
  private static let words: Set = [
    "true", "false", "yes", "no", "on", "off", "y", "n", "null", ".inf", ".nan", "...", "---",
  ]

  private static func isPlain(_ text: String, inFlow: Bool) -> Bool {
    let scalars = text.unicodeScalars
    // An option of a program, as '-c'.
    let option = scalars.drop { $0 == "-" }
    let isOption = option.startIndex != scalars.startIndex && option.first.map(isLetter) == true
    guard let first = scalars.first, isWord(first) || isOption || "_./$".unicodeScalars.contains(first),
      scalars.last != " ", scalars.last != ":", !text.contains(": "),
      scalars.contains(where: isLetter) || text.contains("/")
    else { return false }
    let isPlain = scalars.allSatisfy { scalar in
      isWord(scalar) || marks.contains(scalar) && !(inFlow && flowMarks.contains(scalar))
    }
    return isPlain && !words.contains(text.lowercased()) && Double(text) == nil && !text.hasPrefix("...")
  }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
  }

  private static func isWord(_ scalar: Unicode.Scalar) -> Bool { isLetter(scalar) || ("0"..."9").contains(scalar) }

  /// Whether it may stand as it is in a file, and in a terminal that shows it.
  private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: false
    default: scalar.value < 0x7F || !scalar.isUnprintable && !scalar.isInvisible
    }
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\"": "\\\""
    case "\\": "\\\\"
    case "\n": "\\n"
    case "\t": "\\t"
    default: isShown(scalar) ? String(scalar) : numbered(scalar.value)
    }
  }

  private static func numbered(_ value: UInt32) -> String {
    let (letter, digits) = value < 0x100 ? ("x", 2) : value < 0x10000 ? ("u", 4) : ("U", 8)
    return "\\\(letter)" + String(value, radix: 16, uppercase: true, digits: digits)
  }
}
