import JobModel
import Screen

/// Takes values of the kinds that job files know; each answers nil after reporting what is wrong.
struct ValueReader {
  let faults: FaultLog
  let variables: Variables

  /// The text of a scalar with its variables put in, numbers and the like as they are written.
  func text(_ node: YAMLNode, _ name: String, takes: String, unknown: Variables.Unknown = .isFault) -> String? {
    guard let (text, _) = scalar(node, name, takes: takes, unknown: unknown) else { return nil }
    guard !text.unicodeScalars.contains("\0") else {
      faults.add(node.place, "\(name) holds a NUL character, which no command or file name can: delete it")
      return nil
    }
    return text
  }

  /// Text that is not empty, and stays on one line of a terminal.
  func line(_ node: YAMLNode, _ name: String, takes: String) -> String? {
    guard let text = text(node, name, takes: takes) else { return nil }
    if text.allSatisfy(\.isWhitespace) {
      faults.add(node.place, "\(name) is empty: it takes \(takes)")
      return nil
    }
    if let scalar = text.unicodeScalars.first(where: Self.isUnprintable) {
      faults.add(node.place, "\(name) holds the control character \(scalar.escaped(asASCII: true)): delete it")
      return nil
    }
    return text
  }

  func whole(_ node: YAMLNode, _ name: String, in range: ClosedRange<Int>) -> Int? {
    let takes =
      "a whole number, \(range.lowerBound) " + (range.upperBound < .max ? "to \(range.upperBound)" : "or more")
    guard let (text, isText) = scalar(node, name, takes: takes) else { return nil }
    guard !isText, let number = Self.integer(text), range.contains(number) else {
      let quotes = isText && Self.integer(text) != nil ? ": write it without quotes" : ""
      faults.add(node.place, "\(name) takes \(takes); this is \(words(isText, text))\(quotes)")
      return nil
    }
    return number
  }

  /// Any unsigned 64-bit number.
  func seed(_ node: YAMLNode, _ name: String) -> UInt64? {
    let takes = "a whole number, 0 to \(UInt64.max)"
    guard let (text, isText) = scalar(node, name, takes: takes) else { return nil }
    guard !isText, let number = Self.integer(text).flatMap(UInt64.init(exactly:)) ?? UInt64(text) else {
      faults.add(node.place, "\(name) takes \(takes); this is \(words(isText, text))")
      return nil
    }
    return number
  }

  func fraction(_ node: YAMLNode, _ name: String) -> Double? {
    let takes = "a number from 0 to 1"
    guard let (text, isText) = scalar(node, name, takes: takes) else { return nil }
    // The only characters of a plain decimal number: `Double` would read nan, inf and hexadecimal too.
    let isDecimal = text.utf8.allSatisfy { "0123456789.eE+-".utf8.contains($0) }
    guard !isText, isDecimal, let number = Double(text), (0...1).contains(number) else {
      faults.add(node.place, "\(name) takes \(takes); this is \(words(isText, text))")
      return nil
    }
    return number
  }

  func flag(_ node: YAMLNode, _ name: String) -> Bool? {
    guard let (text, isText) = scalar(node, name, takes: "true or false") else { return nil }
    switch (text, isText) {
    case ("true", false), ("True", false), ("TRUE", false): return true
    case ("false", false), ("False", false), ("FALSE", false): return false
    default:
      faults.add(node.place, "\(name) takes true or false; this is \(words(isText, text))")
      return nil
    }
  }

  func duration(_ node: YAMLNode, _ name: String, canBeZero: Bool) -> Duration? {
    guard let (text, _) = scalar(node, name, takes: "a duration as \(DurationText.examples)") else { return nil }
    guard let duration = DurationText.parse(text) else {
      faults.add(node.place, "\(Quoted.text(text)) is no duration: write \(DurationText.examples)")
      return nil
    }
    guard canBeZero || duration > .zero else {
      faults.add(node.place, "\(name) takes a duration longer than 0")
      return nil
    }
    return duration
  }

  func choice<Choice>(_ node: YAMLNode, _ name: String, as type: Choice.Type) -> Choice?
  where Choice: CaseIterable & RawRepresentable, Choice.RawValue == String {
    let names = Choice.allCases.map(\.rawValue)
    let takes = names.joined(last: "or")
    guard let (text, _) = scalar(node, name, takes: takes) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      faults.add(
        node.place, "\(name) takes \(takes); this is \(Quoted.text(text))\(NearestName.hint(for: text, in: names))")
      return nil
    }
    return choice
  }

  /// The items of a list; one scalar counts as a list of itself where `isSingleAllowed`.
  ///
  /// Empty means none.
  func list(_ node: YAMLNode, _ name: String, takes: String, isSingleAllowed: Bool = false) -> [YAMLNode]? {
    switch node.content {
    case .list(let items): return items
    case .scalar where node.isNull: return []
    case .scalar where isSingleAllowed: return [node]
    default:
      faults.add(node.place, "\(name) takes \(takes); this is \(node.words)")
      return nil
    }
  }

  /// The entries of a map with names of the author's own.
  ///
  /// Empty means none.
  func map(_ node: YAMLNode, _ name: String, takes: String) -> [YAMLEntry]? {
    if case .map(let entries) = node.content { return entries }
    if node.isNull { return [] }
    faults.add(node.place, "\(name) takes \(takes); this is \(node.words)")
    return nil
  }

  /// Whether a terminal might obey it, or show the text in another order.
  static func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
    default: TextWidth.isReordering(scalar)
    }
  }

  /// A scalar's text, and whether YAML says that it is text whatever it looks like; a variable's value is what it looks like.
  private func scalar(
    _ node: YAMLNode, _ name: String, takes: String, unknown: Variables.Unknown = .isFault
  ) -> (text: String, isText: Bool)? {
    guard case .scalar(let written, let isPlain) = node.content, !node.isNull else {
      faults.add(node.place, "\(name) takes \(takes); this is \(node.words)")
      return nil
    }
    guard let text = variables.expand(written, in: node, unknown: unknown) else { return nil }
    return (text, !isPlain && text == written)
  }

  private func words(_ isText: Bool, _ text: String) -> String { (isText ? "the text " : "") + Quoted.text(text) }

  /// The integers of YAML's core schema.
  private static func integer(_ text: String) -> Int? {
    if text.hasPrefix("0x") {
      return text.dropFirst(2).first?.isHexDigit == true ? Int(text.dropFirst(2), radix: 16) : nil
    }
    if text.hasPrefix("0o") {
      return text.dropFirst(2).first?.isNumber == true ? Int(text.dropFirst(2), radix: 8) : nil
    }
    return Int(text)
  }
}
