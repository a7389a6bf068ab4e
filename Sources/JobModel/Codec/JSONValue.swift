import Basics

/// A value that is appended to a buffer as JSON.
package protocol JSONValue {
  func append(to bytes: inout [UInt8])
}

extension JSONValue where Self: BinaryInteger {
  package func append(to bytes: inout [UInt8]) {
    if self < 0 { bytes.append(UInt8(ascii: "-")) }
    bytes.append(digits: UInt64(magnitude))
  }
}

extension Int: JSONValue {}
extension Int32: JSONValue {}
extension Int64: JSONValue {}
extension UInt64: JSONValue {}

extension Double: JSONValue {
  /// The shortest number that is read back as the same; null for what JSON has no number for.
  package func append(to bytes: inout [UInt8]) { bytes.append(isFinite ? String(describing: self) : "null") }
}

extension Bool: JSONValue {
  package func append(to bytes: inout [UInt8]) { bytes.append(self ? "true" : "false") }
}

extension String: JSONValue {
  package func append(to bytes: inout [UInt8]) { bytes.append(quoted: self) }
}

extension Array: JSONValue where Element: JSONValue {
  package func append(to bytes: inout [UInt8]) {
    bytes.append("[")
    for (index, element) in enumerated() {
      if index > 0 { bytes.append(",") }
      element.append(to: &bytes)
    }
    bytes.append("]")
  }
}

extension Dictionary: JSONValue where Key == String, Value: JSONValue {
  /// An object, sorted by name.
  package func append(to bytes: inout [UInt8]) {
    bytes.append(object: sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
  }
}

extension Duration: JSONValue {
  /// Seconds with the decimals that are needed, at most 18: `0`, `2.113`, `70.2`.
  package func append(to bytes: inout [UInt8]) {
    let (seconds, part) = components
    if seconds < 0 || part < 0 { bytes.append(UInt8(ascii: "-")) }
    bytes.append(digits: seconds.magnitude)
    guard part != 0 else { return }
    // Mostly whole microseconds.
    let micro: UInt64 = 1_000_000_000_000
    bytes.append(UInt8(ascii: "."))
    if part.magnitude % micro == 0 {
      bytes.append(digits: part.magnitude / micro, width: 6)
    } else {
      bytes.append(digits: part.magnitude, width: 18)
    }
    while bytes.last == UInt8(ascii: "0") { bytes.removeLast() }
  }
}

extension [UInt8] {
  package mutating func append(_ text: String) { append(contentsOf: text.utf8) }

  /// Appends an object with these fields; one without a value is left out.
  package mutating func append(object fields: [(name: String, value: (any JSONValue)?)]) {
    var separator = "{"
    for case (let name, let value?) in fields {
      append(separator)
      append(quoted: name)
      append(":")
      value.append(to: &self)
      separator = ","
    }
    append(separator == "{" ? "{}" : "}")
  }

  fileprivate mutating func append(digits number: UInt64, width: Int = 1) {
    var (rest, length, unit) = (number / 10, 1, UInt64(1))
    while rest > 0 || length < width {
      rest /= 10
      length += 1
      unit *= 10
    }
    rest = number
    for _ in 0..<length {
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / unit))
      rest %= unit
      unit = Swift.max(1, unit / 10)
    }
  }

  /// Appends a field of the object that was begun with `{`.
  package mutating func append(field name: StaticString, _ value: some JSONValue) {
    append(key: name)
    value.append(to: &self)
  }

  /// Appends a field, or nothing if it has no value.
  package mutating func append(field name: StaticString, _ value: (some JSONValue)?) {
    if let value { append(field: name, value) }
  }

  /// Appends a field, with null for no value.
  mutating func append(field name: StaticString, orNull value: (some JSONValue)?) {
    append(key: name)
    if let value { value.append(to: &self) } else { append("null") }
  }

  /// Appends a field whose value is an object with the fields that `body` appends.
  package mutating func append(object name: StaticString, _ body: (inout [UInt8]) -> Void) {
    append(key: name)
    append("{")
    body(&self)
    append("}")
  }

  private mutating func append(key name: StaticString) {
    if last != UInt8(ascii: "{") { append(UInt8(ascii: ",")) }
    append(UInt8(ascii: "\""))
    append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    append(UInt8(ascii: "\""))
    append(UInt8(ascii: ":"))
  }

  /// Appends a quoted string, with all control characters escaped, U+007F to U+009F too, so that a terminal obeys none,
  /// and all invisible ones, the bidirectional controls and line separators among them.
  fileprivate mutating func append(quoted text: String) {
    append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { bytes in
      var start = 0
      var index = 0
      while index < bytes.count {
        let byte = bytes[index]
        guard byte < 0x20 || byte == 0x22 || byte == 0x5C || byte >= 0x7F else {
          index += 1
          continue
        }
        let (scalar, length) = Self.scalar(in: bytes, at: index)
        guard scalar.value < 0xA0 || scalar.isInvisible else {
          index += length
          continue
        }
        append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start..<index]))
        append(escaped: scalar)
        index += length
        start = index
      }
      append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start...]))
    }
    append(UInt8(ascii: "\""))
  }

  /// The scalar whose encoding, which is valid, begins at `index`.
  private static func scalar(in bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> (Unicode.Scalar, length: Int) {
    let lead = bytes[index]
    let length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
    var value = length == 1 ? UInt32(lead) : UInt32(lead) & (0x7F >> UInt32(length))
    for byte in bytes[(index + 1)..<(index + length)] { value = value << 6 | UInt32(byte & 0x3F) }
    return (Unicode.Scalar(value) ?? "\u{FFFD}", length)
  }

  private mutating func append(escaped scalar: Unicode.Scalar) {
    switch scalar {
    case "\"": append("\\\"")
    case "\\": append("\\\\")
    case "\n": append("\\n")
    case "\r": append("\\r")
    case "\t": append("\\t")
    default:
      let digits = Array("0123456789abcdef".utf8)
      for unit in String(scalar).utf16 {
        append("\\u")
        for shift in [12, 8, 4, 0] { append(digits[Int(unit >> shift & 15)]) }
      }
    }
  }
}
