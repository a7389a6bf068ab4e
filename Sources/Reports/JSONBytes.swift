import JobModel

/// JSON appended to one buffer: reports write thousands of lines a second.
extension [UInt8] {
  mutating func append(_ text: String) { append(contentsOf: text.utf8) }

  mutating func append(number: some BinaryInteger) { append(String(number)) }

  /// Seconds with at most six decimals: `0`, `2.113`, `70.2`.
  mutating func append(seconds duration: Duration) {
    let microseconds = duration.microseconds
    if microseconds < 0 { append(UInt8(ascii: "-")) }
    let (whole, part) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
    append(number: whole)
    guard part > 0 else { return }
    append(UInt8(ascii: "."))
    var rest = part
    var unit: UInt64 = 100_000
    while rest > 0 {
      append(UInt8(ascii: "0") + UInt8(rest / unit))
      rest %= unit
      unit /= 10
    }
  }

  /// A quoted string, with all control characters escaped, U+007F to U+009F too, so that a terminal obeys none.
  mutating func append(quoted text: String) {
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
