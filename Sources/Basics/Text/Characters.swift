extension UInt8 {
  @inlinable package var isASCIIDigit: Bool { 0x30...0x39 ~= self }
  @inlinable package var isASCIILetter: Bool { 0x61...0x7A ~= self | 0x20 }
  @inlinable package var isASCIIAlphanumeric: Bool { isASCIIDigit || isASCIILetter }
  /// Whether a name of a variable in a shell can contain it.
  @inlinable package var isVariableByte: Bool { isASCIIAlphanumeric || self == UInt8(ascii: "_") }
}

extension Collection<UInt8> {
  /// Whether a shell can set a variable of this name.
  package var isVariableName: Bool { first?.isASCIIDigit == false && allSatisfy { $0.isVariableByte } }
}

extension Unicode.Scalar {
  /// Whether it shows nothing of its own: a bidirectional control, a zero-width or tag character, a filler or a separator.
  ///
  /// A name that has an invisible scalar can look like another name, or carry hidden text.
  package var isInvisible: Bool {
    switch value {
    case 0xAD, 0x061C, 0x115F...0x1160, 0x180E, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0x3164, 0xFEFF,
      0xFFA0, 0xFFF9...0xFFFB, 0x1BCA0...0x1BCA3, 0x1D173...0x1D17A, 0xE0000...0xE007F:
      true
    default: false
    }
  }
}

extension String {
  /// A number with zeros in front if it has fewer than `digits` digits.
  package init(_ number: some BinaryInteger, radix: Int = 10, uppercase: Bool = false, digits: Int) {
    let text = String(number, radix: radix, uppercase: uppercase)
    self = String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
  }
}
