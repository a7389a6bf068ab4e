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
