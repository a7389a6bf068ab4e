/// A parsed JSON value; a number is kept as its text, which no conversion has rounded.
package enum JSONItem: Sendable {
  case null
  case bool(Bool)
  case number(String)
  case text(String)
  case list([JSONItem])
  case object(JSONFields)
}

/// The fault of a line, without its number.
package struct JSONFault: Error {
  package let message: String

  package init(_ message: String) { self.message = message }
}

/// The fields of a parsed object, and the checks of their values; a field that is null counts as missing.
package struct JSONFields: Sendable {
  private(set) var all: [(name: String, value: JSONItem)] = []

  /// More than any run's; each of them can be added to another without an overflow.
  static let countLimit = 1_000_000_000
  /// Far beyond the times of job files, which end at `DurationText.limit`.
  private static let longest = Duration.seconds(1_000_000_000_000)

  mutating func append(_ name: String, _ value: JSONItem) {
    if all.isEmpty { all.reserveCapacity(12) }
    all.append((name, value))
  }

  private subscript(name: String) -> JSONItem? {
    for field in all where field.name == name {
      if case .null = field.value { return nil }
      return field.value
    }
    return nil
  }

  /// Whether the field is there, null or not.
  func has(_ name: String) -> Bool { all.contains { $0.name == name } }

  /// Each field by itself, for an object of any number of names, where a search for each of them takes too long.
  private var each: some Sequence<(name: String, value: JSONFields)> {
    // The first one of a name counts.
    all.reversed().lazy.map { (name: $0.name, value: JSONFields(all: [$0])) }
  }

  private func fault(_ name: String, _ expected: String) -> JSONFault {
    JSONFault(self[name] == nil ? "'\(name)' is missing" : "'\(name)' must be \(expected)")
  }

  // MARK: Values that may be missing

  package func text(ifAny name: String) throws(JSONFault) -> String? {
    guard let item = self[name] else { return nil }
    guard case .text(let text) = item else { throw fault(name, "a string") }
    return text
  }

  package func flag(ifAny name: String) throws(JSONFault) -> Bool? {
    guard let item = self[name] else { return nil }
    guard case .bool(let value) = item else { throw fault(name, "true or false") }
    return value
  }

  package func whole<Number: FixedWidthInteger>(
    ifAny name: String, in range: ClosedRange<Number>
  ) throws(JSONFault) -> Number? {
    guard let item = self[name] else { return nil }
    guard case .number(let text) = item, let value = Number(text), range.contains(value) else {
      throw fault(name, "a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }

  package func number(ifAny name: String) throws(JSONFault) -> Double? {
    guard let item = self[name] else { return nil }
    guard case .number(let text) = item, let value = Double(text), value.isFinite else { throw fault(name, "a number") }
    return value
  }

  package func duration(ifAny name: String) throws(JSONFault) -> Duration? {
    guard let item = self[name] else { return nil }
    guard case .number(let text) = item, let value = Duration(eventText: text), value <= Self.longest else {
      throw fault(name, "a number of seconds, not negative and with at most 18 decimals")
    }
    return value
  }

  package func word<Word: RawRepresentable<String>>(ifAny name: String) throws(JSONFault) -> Word? {
    guard let text = try text(ifAny: name) else { return nil }
    guard let word = Word(rawValue: text) else { throw unknown(name, text) }
    return word
  }

  func object(ifAny name: String) throws(JSONFault) -> JSONFields? {
    guard let item = self[name] else { return nil }
    guard case .object(let fields) = item else { throw fault(name, "an object") }
    return fields
  }

  func list(ifAny name: String) throws(JSONFault) -> [JSONItem]? {
    guard let item = self[name] else { return nil }
    guard case .list(let items) = item else { throw fault(name, "a list") }
    return items
  }

  package func texts(ifAny name: String) throws(JSONFault) -> [String]? {
    guard let items = try list(ifAny: name) else { return nil }
    var texts: [String] = []
    for item in items {
      guard case .text(let text) = item else { throw fault(name, "a list of strings") }
      texts.append(text)
    }
    return texts
  }

  /// An object of numbers by name.
  func counts(ifAny name: String) throws(JSONFault) -> [String: Int] {
    guard let fields = try object(ifAny: name) else { return [:] }
    var counts: [String: Int] = [:]
    for field in fields.each { counts[field.name] = try field.value.count(field.name) }
    return counts
  }

  /// An object of texts by name.
  func textMap(ifAny name: String) throws(JSONFault) -> [String: String]? {
    guard let fields = try object(ifAny: name) else { return nil }
    var texts: [String: String] = [:]
    for field in fields.each { texts[field.name] = try field.value.text(field.name) }
    return texts
  }

  /// A list of whole numbers; empty where it is missing.
  package func numbers<Number: FixedWidthInteger>(_ name: String) throws(JSONFault) -> [Number] {
    var numbers: [Number] = []
    for item in try list(ifAny: name) ?? [] {
      guard case .number(let text) = item, let number = Number(text) else {
        throw fault(name, "a list of whole numbers")
      }
      numbers.append(number)
    }
    return numbers
  }

  // MARK: Values that must be there

  package func text(_ name: String) throws(JSONFault) -> String { try required(name, text(ifAny: name)) }
  package func flag(_ name: String) throws(JSONFault) -> Bool { try required(name, flag(ifAny: name)) }
  package func duration(_ name: String) throws(JSONFault) -> Duration { try required(name, duration(ifAny: name)) }
  package func word<Word: RawRepresentable<String>>(_ name: String) throws(JSONFault) -> Word {
    try required(name, word(ifAny: name))
  }
  package func count(_ name: String) throws(JSONFault) -> Int { try required(name, count(ifAny: name)) }
  package func count(ifAny name: String) throws(JSONFault) -> Int? { try whole(ifAny: name, in: 0...Self.countLimit) }

  package func required<Value>(_ name: String, _ value: Value?) throws(JSONFault) -> Value {
    guard let value else { throw fault(name, "") }
    return value
  }

  package func unknown(_ name: String, _ word: String) -> JSONFault {
    JSONFault("'\(name)' is '\(word)', which this version of opdash does not know")
  }
}

extension Duration {
  /// Seconds as an event writes them; nil if negative or with an exponent.
  init?(eventText text: String) {
    var whole: Int64 = 0
    var part: Int64 = 0
    var unit: Int64 = 0
    for byte in text.utf8 {
      guard byte != UInt8(ascii: ".") else {
        unit = 1_000_000_000_000_000_000
        continue
      }
      guard (0x30...0x39).contains(byte) else { return nil }
      let digit = Int64(byte - 0x30)
      if unit == 0 {
        guard whole < 1_000_000_000_000_000 else { return nil }
        whole = whole * 10 + digit
      } else {
        unit /= 10
        guard unit > 0 else { return nil }
        part += digit * unit
      }
    }
    self.init(secondsComponent: whole, attosecondsComponent: part)
  }
}
