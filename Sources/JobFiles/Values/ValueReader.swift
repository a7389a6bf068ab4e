import Foundation
import JobModel

/// Reads typed values; each method reports a fault and returns nil for a value that it can't read.
struct ValueReader {
  let faults: FaultLog
  let variables: Variables

  /// The text of any scalar with its variables expanded; `isArgument` marks an argument of a program.
  ///
  /// With `.outputs` allowed, it may hold references to values of other jobs.
  func text(
    _ node: YAMLNode, _ name: @autoclosure () -> String, takes: String, unknown: Variables.Unknown = .isFault,
    isArgument: Bool = false, allowing allowances: Variables.Allowances = []
  ) -> String? {
    guard let (text, _) = scalar(node, name(), takes: takes, unknown: unknown, allowing: allowances) else { return nil }
    guard !text.hasByte(0) else {
      return faults.fail(node.place, "\(name()) holds a NUL character, which no command or file name can: delete it")
    }
    if case .isFault = unknown, case .scalar(let written, _) = node.content {
      variables.warnOfShellNames(in: written, at: node, name(), isArgument: isArgument)
    }
    return text
  }

  /// Printable text of one line that is not blank.
  func line(
    _ node: YAMLNode, _ name: String, takes: String, allowing allowances: Variables.Allowances = []
  ) -> String? {
    guard let text = text(node, name, takes: takes, allowing: allowances) else { return nil }
    if text.allSatisfy(\.isWhitespace) { return faults.fail(node.place, "\(name) is empty: it takes \(takes)") }
    if let scalar = text.unicodeScalars.first(where: \.isUnprintable) {
      return faults.fail(node.place, "\(name) holds the control character \(scalar.escaped(asASCII: true)): delete it")
    }
    return text
  }

  func whole<Number: FixedWidthInteger>(_ node: YAMLNode, _ name: String, in range: ClosedRange<Number>) -> Number? {
    let isOpen = Number.self == Int.self && range.upperBound == .max
    let takes = "a whole number, \(range.lowerBound) " + (isOpen ? "or more" : "to \(range.upperBound)")
    guard let (text, isText) = scalar(node, name, takes: takes) else { return nil }
    let number = Self.integer(text, as: Number.self)
    guard !isText, let number, range.contains(number) else {
      let quotes = isText && number != nil ? ": write it without quotes" : ""
      return faults.fail(node.place, "\(name) takes \(takes); this is \(words(isText, text))\(quotes)")
    }
    return number
  }

  /// A number from 1; one above the limit is read too.
  func whole(_ node: YAMLNode, _ name: String, upTo limit: Int) -> Int? {
    guard let number = whole(node, name, in: 1 ... .max) else { return nil }
    if number > limit { faults.add(node.place, "\(name) takes at most \(limit)") }
    return number
  }

  func fraction(_ node: YAMLNode, _ name: String) -> Double? {
    let takes = "a number from 0 to 1"
    guard let (text, isText) = scalar(node, name, takes: takes) else { return nil }
    // `Double` would read nan, inf and hexadecimal too.
    let isDecimal = text.utf8.allSatisfy { "0123456789.eE+-".utf8.contains($0) }
    guard !isText, isDecimal, let number = Double(text), (0...1).contains(number) else {
      let share = text.hasSuffix("%") ? Double(text.dropLast()).map { $0 / 100 } : nil
      let advice = share.map { (0...1).contains($0) ? ": write \($0)" : "" } ?? ""
      return faults.fail(node.place, "\(name) takes \(takes); this is \(words(isText, text))\(advice)")
    }
    return number
  }

  func flag(_ node: YAMLNode, _ name: String, takes: String = "true or false") -> Bool? {
    guard let (text, isText) = scalar(node, name, takes: takes) else { return nil }
    switch (text, isText) {
    case ("true", false), ("True", false), ("TRUE", false): return true
    case ("false", false), ("False", false), ("FALSE", false): return false
    default:
      let advice = Self.flag(text).map { ": write \($0)\(isText ? " without quotes" : "")" } ?? ""
      return faults.fail(node.place, "\(name) takes \(takes); this is \(words(isText, text))\(advice)")
    }
  }

  /// The value of a word that is meant as a flag, whichever tool the word is from.
  static func flag(_ word: String) -> Bool? {
    switch word.lowercased() {
    case "true", "yes", "y", "on", "1": true
    case "false", "no", "n", "off", "0": false
    default: nil
    }
  }

  func duration(_ node: YAMLNode, _ name: String, canBeZero: Bool) -> Duration? {
    guard let (text, _) = scalar(node, name, takes: "a duration as \(DurationText.examples)") else { return nil }
    guard let duration = DurationText.read(text) else {
      let advice = DurationAdvice.of(text) ?? DurationText.examples
      return faults.fail(node.place, "\(Quoted.text(text)) is not a duration: write \(advice)")
    }
    guard duration <= DurationText.limit else {
      let limit = DurationText.exact(DurationText.limit)
      return faults.fail(node.place, "\(name) takes at most \(limit); this is \(Quoted.text(text))")
    }
    guard canBeZero || duration > .zero else {
      return faults.fail(
        node.place, "\(name) takes a duration longer than 0; this is \(Quoted.text(text)): delete it for no limit")
    }
    return duration
  }

  /// One of the cases; `others` are words of other tools with the case that they mean.
  func choice<Choice>(
    _ node: YAMLNode, _ name: String, as type: Choice.Type, others: [String: String] = [:]
  ) -> Choice?
  where Choice: CaseIterable & RawRepresentable, Choice.RawValue == String {
    let names = Choice.allCases.map(\.rawValue)
    let takes = names.joined(last: "or")
    guard let (text, _) = scalar(node, name, takes: takes) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      let advice = others[text.lowercased()].map { ": write \($0)" } ?? NearestName.hint(for: text, in: names)
      return faults.fail(node.place, "\(name) takes \(takes); this is \(Quoted.text(text))\(advice)")
    }
    return choice
  }

  /// The items of a list, empty for a null; with `isSingleAllowed` a scalar is a list of one.
  func list(_ node: YAMLNode, _ name: String, takes: String, isSingleAllowed: Bool = false) -> [YAMLNode]? {
    switch node.content {
    case .list(let items): return items
    case .scalar where node.isNull: return []
    case .scalar where isSingleAllowed: return [node]
    default:
      return faults.fail(node.place, "\(name) takes \(takes); this is \(node.words)")
    }
  }

  /// The entries of a map with arbitrary keys, empty for a null.
  func map(_ node: YAMLNode, _ name: String, takes: String) -> [YAMLEntry]? {
    if case .map(let entries) = node.content { return entries }
    if node.isNull { return [] }
    return faults.fail(node.place, "\(name) takes \(takes); this is \(node.words)\(Self.mapAdvice(node))")
  }

  /// The advice for a list of `NAME=value` or `name: value` in place of a map.
  private static func mapAdvice(_ node: YAMLNode) -> String {
    if case .scalar(let text, _) = node.content, let pair = text.wholeMatch(of: /(\w+)=([\w.\/-]*)/) {
      return ": write '{ \(pair.1): \(pair.2) }'"
    }
    guard case .list(let items) = node.content, let first = items.first else { return "" }
    switch first.content {
    case .scalar(let text, _):
      guard let mark = text.firstIndex(where: { $0 == "=" || $0 == ":" }), mark > text.startIndex else { return "" }
      let value = text[text.index(after: mark)...].drop { $0 == " " }
      return ": write '\(Quoted.bare("\(text[..<mark]): \(value)"))' instead of '- \(Quoted.bare(text))'"
    case .map: return ": write its lines without '- '"
    case .list: return ""
    }
  }

  /// A scalar's expanded text, and whether it is quoted text without variables, which can't be a number or a flag.
  private func scalar(
    _ node: YAMLNode, _ name: @autoclosure () -> String, takes: String, unknown: Variables.Unknown = .isFault,
    allowing allowances: Variables.Allowances = []
  ) -> (text: String, isText: Bool)? {
    guard case .scalar(let written, let isPlain) = node.content, !node.isNull else {
      return faults.fail(node.place, "\(name()) takes \(takes); this is \(node.words)\(advice(for: node))")
    }
    guard let text = variables.expand(written, in: node, unknown: unknown, allowing: allowances) else { return nil }
    return (text, !isPlain && text == written)
  }

  /// The advice for text that YAML took for something else: `echo a: b`, `{{ x }}`, `#fff`.
  func advice(for node: YAMLNode, otherwise: String = "") -> String {
    switch node.content {
    case .map(let entries) where entries.count < 3:
      return ": quote text that holds ': ' or begins with '{'"
    case .scalar where node.isNull:
      let rest = faults.source(at: node.place).rest(from: node.place).drop { $0 == " " || $0 == "~" }
      return rest.hasPrefix("#") && !rest.hasPrefix("# ")
        ? ": '#' begins a comment in YAML, so put the text in quotes" : otherwise
    default: return otherwise
    }
  }

  private func words(_ isText: Bool, _ text: String) -> String { (isText ? "the text " : "") + Quoted.text(text) }

  /// The integers of YAML's core schema.
  private static func integer<Number: FixedWidthInteger>(_ text: String, as type: Number.Type) -> Number? {
    for (prefix, radix) in [("0x", 16), ("0o", 8)] where text.hasPrefix(prefix) {
      // No sign may follow the prefix.
      return text.dropFirst(2).first?.isHexDigit == true ? Number(text.dropFirst(2), radix: radix) : nil
    }
    return Number(text)
  }
}

/// Texts with rules of their own: paths, URLs and regular expressions.
extension ValueReader {
  /// A path as written; `~`, which is not expanded, is a fault.
  func path(
    _ node: YAMLNode, _ name: String, takes: String, allowing allowances: Variables.Allowances = []
  ) -> String? {
    if case .scalar("~", isPlain: true) = node.content {
      return faults.fail(node.place, "\(name) takes \(takes); '~' is an empty value in YAML: write ${env.HOME}")
    }
    guard let path = line(node, name, takes: takes, allowing: allowances) else { return nil }
    guard path != "~", !path.hasPrefix("~/") else {
      return faults.fail(
        node.place, "\(name): '~' is not expanded here: write ${env.HOME}\(Quoted.bare(String(path.dropFirst())))")
    }
    return path
  }

  /// The absolute folder of relative paths in the file of a place.
  func folder(of place: Place) -> String { faults.files[place.file].directory }

  /// A path of a place's file, made absolute.
  func absolute(_ path: String, at place: Place) -> String { FilePath.absolute(path, in: folder(of: place)) }

  /// A URL of HTTP.
  func address(_ node: YAMLNode, _ name: String, allowing allowances: Variables.Allowances = []) -> String? {
    guard let url = line(node, name, takes: "a URL", allowing: allowances) else { return nil }
    if let message = WebAddress.fault(in: url) { return faults.fail(node.place, "\(name): \(message)") }
    return url
  }

  /// A regular expression; `${…}` is not expanded in it.
  func pattern(_ node: YAMLNode, _ name: String, takes: String) -> String? {
    guard case .scalar(let pattern, _) = node.content, !node.isNull else {
      return faults.fail(node.place, "\(name) takes \(takes); this is \(node.words)")
    }
    guard !pattern.isEmpty else { return faults.fail(node.place, "\(name) is empty: it takes \(takes)") }
    if (try? NSRegularExpression(pattern: pattern)) != nil { return pattern }
    let subject = "\(Quoted.text(pattern)) is not a regular expression"
    guard let fault = PatternFault(in: pattern) else {
      return faults.fail(
        node.place, "\(subject): write \\ before a character that stands for itself, as in '\\['")
    }
    // Where the pattern is written as it is, the fault has a place of its own.
    let written = faults.source(at: node.place).place(of: pattern, count: 0, from: node.place, to: node.end)
    let place = written.map { Place(line: $0.line, column: $0.column + fault.offset, file: node.place.file) }
    return faults.fail(place ?? node.place, "\(subject): \(fault.message)")
  }

  /// Reports a version of the format that is not this one.
  func check(version node: YAMLNode) {
    guard let text = text(node, "version", takes: "1"), text != "1" else { return }
    faults.add(
      node.place,
      "the format has only version 1; this is \(node.words): write 'version: 1', or delete the line")
  }
}

extension String {
  /// Whether a byte is in its UTF-8, in a quarter of the time that `utf8.contains` takes for a short text.
  func hasByte(_ byte: UInt8) -> Bool {
    utf8.withContiguousStorageIfAvailable { $0.contains(byte) } ?? utf8.contains(byte)
  }
}
