import JobModel

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

  /// A quoted string, with all control characters escaped, U+007F to U+009F too, so that a terminal obeys none.
  fileprivate mutating func append(quoted text: String) {
    append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { bytes in
      var start = 0
      var index = 0
      while index < bytes.count {
        let byte = bytes[index]
        let isC1 = byte == 0xC2 && index + 1 < bytes.count && bytes[index + 1] < 0xA0
        guard byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F || isC1 else {
          index += 1
          continue
        }
        append(contentsOf: bytes[start..<index])
        append(escaped: isC1 ? bytes[index + 1] : byte)
        index += isC1 ? 2 : 1
        start = index
      }
      append(contentsOf: bytes[start...])
    }
    append(UInt8(ascii: "\""))
  }

  private mutating func append(escaped byte: UInt8) {
    switch byte {
    case 0x22: append("\\\"")
    case 0x5C: append("\\\\")
    case 0x0A: append("\\n")
    case 0x0D: append("\\r")
    case 0x09: append("\\t")
    default:
      let digits = Array("0123456789abcdef".utf8)
      append("\\u00")
      append(digits[Int(byte >> 4)])
      append(digits[Int(byte & 15)])
    }
  }
}
