import Screen

/// The key sequences of xterm and its relatives, rxvt, the Linux console and the VT220, in both cursor modes, and
/// the ones in the terminal's description.
package struct KeySequences: Sendable {
  private var keys: [[UInt8]: Key] = [:]
  private var beginnings: Set<[UInt8]> = []

  package init(described: [[UInt8]: Key] = [:]) {
    for (bytes, key) in described where bytes.count > 1 {
      keys[bytes] = key
      for length in 1..<bytes.count { beginnings.insert(Array(bytes.prefix(length))) }
    }
  }

  func key(_ bytes: [UInt8]) -> Key? { keys[bytes] }
  func begins(_ bytes: [UInt8]) -> Bool { beginnings.contains(bytes) }

  /// A byte below 0x20, or 0x7F.
  static func control(_ byte: UInt8) -> Key {
    switch byte {
    case 0x00: .control(" ")
    case 0x08, 0x7F: .backspace
    case 0x09: .tab
    case 0x0A, 0x0D: .enter
    case 0x1B: .escape
    case 0x01...0x1A: .control(Character(Unicode.Scalar(byte + 0x60)))
    default: .control(Character(Unicode.Scalar(byte + 0x40)))
    }
  }

  /// The key of CSI … with this final byte; modifiers are ignored.
  static func final(_ byte: UInt8) -> Key? { finals[Character(Unicode.Scalar(byte))] }

  private static let finals: [Character: Key] = [
    "A": .up, "B": .down, "C": .right, "D": .left, "F": .end, "H": .home, "Z": .backTab, "P": .function(1),
    "Q": .function(2), "R": .function(3), "S": .function(4),
  ]

  /// The key of ESC O with this byte: application mode and numeric keypad.
  static func single(_ byte: UInt8) -> Key? {
    if (UInt8(ascii: "j")...UInt8(ascii: "y")).contains(byte) {
      return .character(Character(Unicode.Scalar(byte - 0x40)))
    }
    return singles[Character(Unicode.Scalar(byte))] ?? final(byte)
  }

  private static let singles: [Character: Key] = [
    "M": .enter, "I": .tab, " ": .character(" "), "X": .character("="), "a": .up, "b": .down, "c": .right, "d": .left,
  ]

  /// The key of CSI number ~.
  static func numbered(_ number: Int) -> Key? {
    switch number {
    case 1, 7: .home
    case 3: .delete
    case 4, 8: .end
    case 5: .pageUp
    case 6: .pageDown
    case 11...15: .function(number - 10)
    case 17...21: .function(number - 11)
    case 23, 24: .function(number - 12)
    default: nil
    }
  }
}
