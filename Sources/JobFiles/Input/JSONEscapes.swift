import Basics

/// Translates JSON's escaped surrogate pairs, `\ud83d\ude00`, to the form of YAML, `\U0001F600`.
enum JSONEscapes {
  /// The translated text; nil for text without pairs and for anything but JSON.
  static func joined(_ bytes: [UInt8]) -> [UInt8]? {
    let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
    guard bytes.first(where: { !blanks.contains($0) }) == UInt8(ascii: "{") else { return nil }
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    var index = 0
    var found = false
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count else {
        output.append(bytes[index])
        index += 1
        continue
      }
      if let high = unit(bytes, at: index), high & 0xFC00 == 0xD800, let low = unit(bytes, at: index + 6),
        low & 0xFC00 == 0xDC00
      {
        output += "\\U\(String(0x10000 + (high & 0x3FF) << 10 + low & 0x3FF, radix: 16, digits: 8))".utf8
        index += 12
        found = true
      } else {
        // Skips an escape, which may be an escaped backslash.
        output += bytes[index...(index + 1)]
        index += 2
      }
    }
    return found ? output : nil
  }

  /// The number of `\uNNNN` at `index`.
  private static func unit(_ bytes: [UInt8], at index: Int) -> Int? {
    guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
      return nil
    }
    var value = 0
    for byte in bytes[(index + 2)..<(index + 6)] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
      value = value << 4 | digit
    }
    return value
  }
}
