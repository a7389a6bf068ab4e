import Basics

/// A pattern for a name in a folder: `*` is any text, `?` a character, `[…]` one of several, and `\` takes a character
/// literally.
///
/// A character is a Unicode scalar, or a byte that is not UTF-8. Unlike with `fnmatch`, neither the locale nor the
/// number of asterisks matters.
struct NamePattern {
  /// A scalar; a byte that is not UTF-8 has a number above all scalars.
  private struct Unit: Comparable, ExpressibleByUnicodeScalarLiteral {
    let value: UInt32

    init(value: UInt32) { self.value = value }
    init(unicodeScalarLiteral scalar: Unicode.Scalar) { value = scalar.value }

    static func < (left: Unit, right: Unit) -> Bool { left.value < right.value }
  }

  private enum Part: Equatable {
    case text
    case one
    case scalar(Unit)
    case oneOf([ClosedRange<Unit>], isNegated: Bool)
  }

  private let parts: [Part]

  init(_ name: BytePath) {
    let units = Self.units(of: name.bytes)
    var parts: [Part] = []
    var index = 0
    while index < units.count {
      let unit = units[index]
      index += 1
      switch unit {
      case "*": parts.append(.text)
      case "?": parts.append(.one)
      case "[": parts.append(Self.set(in: units, &index) ?? .scalar(unit))
      case "\\" where index < units.count:
        parts.append(.scalar(units[index]))
        index += 1
      default: parts.append(.scalar(unit))
      }
    }
    self.parts = parts
  }

  /// Whether a text contains a character with a meaning in patterns.
  static func isPattern(_ path: BytePath) -> Bool { path.bytes.contains { "*?[".utf8.contains($0) } }

  /// Whether the pattern matches a name; only a dot matches a dot at the start.
  func matches(_ name: BytePath) -> Bool {
    let units = Self.units(of: name.bytes)
    if units.first == ".", parts.first != .scalar(".") { return false }
    return matchesWildcards(parts, units, isStar: { $0 == .text }, takes: Self.takes)
  }

  private static func takes(_ part: Part, _ unit: Unit) -> Bool {
    switch part {
    case .text: false
    case .one: true
    case .scalar(let other): other == unit
    case .oneOf(let ranges, let isNegated): ranges.contains { $0.contains(unit) } != isNegated
    }
  }

  /// The set whose `[` is before `index`, which is moved behind its `]`; nil if it has no `]`.
  private static func set(in units: [Unit], _ index: inout Int) -> Part? {
    var next = index
    let isNegated = next < units.count && (units[next] == "!" || units[next] == "^")
    if isNegated { next += 1 }
    let first = next
    var ranges: [ClosedRange<Unit>] = []
    while next < units.count {
      // A `]` at the start is one of the characters.
      if units[next] == "]", next > first {
        index = next + 1
        return .oneOf(ranges, isNegated: isNegated)
      }
      if let known = classes.first(where: { units[next...].starts(with: $0.name) }) {
        ranges += known.ranges
        next += known.name.count
        continue
      }
      guard let low = scalar(in: units, &next) else { return nil }
      guard next + 1 < units.count, units[next] == "-", units[next + 1] != "]" else {
        ranges.append(low...low)
        continue
      }
      next += 1
      guard let high = scalar(in: units, &next) else { return nil }
      if low <= high { ranges.append(low...high) }
    }
    return nil
  }

  private static func scalar(in units: [Unit], _ index: inout Int) -> Unit? {
    if units[index] == "\\" { index += 1 }
    guard index < units.count else { return nil }
    index += 1
    return units[index - 1]
  }

  private static let classes: [(name: [Unit], ranges: [ClosedRange<Unit>])] = [
    ("[:digit:]", ["0"..."9"]), ("[:lower:]", ["a"..."z"]), ("[:upper:]", ["A"..."Z"]),
    ("[:alpha:]", ["a"..."z", "A"..."Z"]), ("[:alnum:]", ["0"..."9", "a"..."z", "A"..."Z"]),
    ("[:xdigit:]", ["0"..."9", "a"..."f", "A"..."F"]), ("[:space:]", [" "..." ", "\t"..."\r"]),
  ].map { (units(of: Array($0.0.utf8)), $0.1) }

  private static func units(of bytes: [UInt8]) -> [Unit] {
    var units: [Unit] = []
    units.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      var (parser, rest) = (UTF8.ForwardParser(), bytes[index...].makeIterator())
      if case .valid(let encoded) = parser.parseScalar(from: &rest) {
        units.append(Unit(value: UTF8.decode(encoded).value))
        index += encoded.count
      } else {
        units.append(Unit(value: 0x11_0000 + UInt32(bytes[index])))
        index += 1
      }
    }
    return units
  }
}
