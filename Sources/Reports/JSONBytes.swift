import JobModel
import Screen

/// A value that is appended to a buffer as JSON.
protocol JSONValue {
  func append(to bytes: inout [UInt8])
}

/// An object whose fields keep their order; a field that is nil is left out.
struct JSONObject: JSONValue, ExpressibleByDictionaryLiteral {
  private var fields: [(name: String, value: (any JSONValue)?)]

  init(dictionaryLiteral fields: (String, (any JSONValue)?)...) { self.fields = fields }

  static func + (left: JSONObject, right: JSONObject) -> JSONObject {
    var sum = left
    sum.fields += right.fields
    return sum
  }

  func append(to bytes: inout [UInt8]) {
    var separator = "{"
    for case (let name, let value?) in fields {
      bytes.append(separator)
      name.append(to: &bytes)
      bytes.append(":")
      value.append(to: &bytes)
      separator = ","
    }
    bytes.append(separator == "{" ? "{}" : "}")
  }
}

struct JSONNull: JSONValue {
  func append(to bytes: inout [UInt8]) { bytes.append("null") }
}

extension JSONValue where Self: BinaryInteger {
  func append(to bytes: inout [UInt8]) { bytes.append(String(self)) }
}

extension Int: JSONValue {}
extension Int32: JSONValue {}
extension Int64: JSONValue {}

extension Bool: JSONValue {
  func append(to bytes: inout [UInt8]) { bytes.append(self ? "true" : "false") }
}

extension String: JSONValue {
  func append(to bytes: inout [UInt8]) { bytes.append(quoted: self) }
}

extension Array: JSONValue where Element: JSONValue {
  func append(to bytes: inout [UInt8]) {
    bytes.append("[")
    for (index, element) in enumerated() {
      if index > 0 { bytes.append(",") }
      element.append(to: &bytes)
    }
    bytes.append("]")
  }
}

extension Duration: JSONValue {
  /// Seconds with at most six decimals: `0`, `2.113`, `70.2`.
  func append(to bytes: inout [UInt8]) {
    let (whole, part) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
    bytes.append((microseconds < 0 ? "-" : "") + String(whole))
    guard part > 0 else { return }
    let digits = String(part + 1_000_000).utf8.dropFirst()
    bytes.append(".")
    bytes += digits.dropLast(digits.reversed().prefix { $0 == UInt8(ascii: "0") }.count)
  }
}

extension [UInt8] {
  mutating func append(_ text: String) { append(contentsOf: text.utf8) }

  /// A quoted string, with all control characters escaped, U+007F to U+009F too, so that a terminal obeys none, and all
  /// invisible ones, the bidirectional controls and line separators among them.
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
        guard scalar.value < 0xA0 || TextWidth.isInvisible(scalar) else {
          index += length
          continue
        }
        append(contentsOf: bytes[start..<index])
        append(escaped: scalar)
        index += length
        start = index
      }
      append(contentsOf: bytes[start...])
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
