/// Decodes UTF-8 one byte at a time.
///
/// A stray byte from 0x80 to 0x9F becomes the C1 control of that value, as 8-bit terminals take it; any other fault
/// becomes U+FFFD.
package struct ScalarDecoder: Sendable {
  private var value: UInt32 = 0
  private var missing = 0
  private var least: UInt32 = 0

  package init() {}

  /// Whether a scalar is incomplete.
  package var isWaiting: Bool { missing > 0 }

  package mutating func feed(_ byte: UInt8, _ take: (Unicode.Scalar) -> Void) {
    if missing > 0 {
      guard byte & 0xC0 == 0x80 else {
        missing = 0
        take("\u{FFFD}")
        return feed(byte, take)
      }
      value = value << 6 | UInt32(byte & 0x3F)
      missing -= 1
      if missing == 0 { take(value >= least ? Unicode.Scalar(value) ?? "\u{FFFD}" : "\u{FFFD}") }
      return
    }
    switch byte {
    case ..<0x80: take(Unicode.Scalar(byte))
    case 0x80..<0xA0: take(Unicode.Scalar(byte))
    case 0xC2..<0xE0: begin(UInt32(byte & 0x1F), missing: 1, least: 0x80)
    case 0xE0..<0xF0: begin(UInt32(byte & 0x0F), missing: 2, least: 0x800)
    case 0xF0..<0xF5: begin(UInt32(byte & 0x07), missing: 3, least: 0x10000)
    default: take("\u{FFFD}")
    }
  }

  /// Ends the input; an incomplete scalar becomes U+FFFD.
  package mutating func finish(_ take: (Unicode.Scalar) -> Void) {
    if missing > 0 { take("\u{FFFD}") }
    missing = 0
  }

  private mutating func begin(_ value: UInt32, missing: Int, least: UInt32) {
    self.value = value
    self.missing = missing
    self.least = least
  }
}
