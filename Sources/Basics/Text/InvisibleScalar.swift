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
