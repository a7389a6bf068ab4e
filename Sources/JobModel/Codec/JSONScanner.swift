/// Parses one JSON text; nested deeper than an event ever is, it is refused.
package struct JSONScanner {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var place = 0
  private static let depthLimit = 8

  private init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// The fields of an object that is the whole text, but for white space around it.
  package static func fields(of bytes: UnsafeBufferPointer<UInt8>) throws(JSONFault) -> JSONFields {
    var scanner = JSONScanner(bytes)
    scanner.skipSpace()
    guard case .object(let fields) = try scanner.value(depth: 0) else { throw JSONFault("this is no JSON object") }
    scanner.skipSpace()
    guard scanner.place == bytes.count else { throw scanner.fault() }
    return fields
  }

  private func fault() -> JSONFault {
    JSONFault(
      place < bytes.count ? "not JSON from column \(place + 1) on" : "the JSON object ends before its closing brace")
  }

  /// 0 at the end, which no valid JSON contains.
  private var next: UInt8 { place < bytes.count ? bytes[place] : 0 }

  private mutating func skipSpace() {
    while next == 0x20 || next == 0x09 || next == 0x0A || next == 0x0D { place += 1 }
  }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == UInt8(truncatingIfNeeded: scalar.value) else { return false }
    place += 1
    return true
  }

  private mutating func expect(_ byte: Unicode.Scalar) throws(JSONFault) {
    guard take(byte) else { throw fault() }
  }

  private mutating func value(depth: Int) throws(JSONFault) -> JSONItem {
    switch next {
    case UInt8(ascii: "\""): return .text(try string())
    case UInt8(ascii: "{"): return .object(try object(depth: depth))
    case UInt8(ascii: "["): return .list(try list(depth: depth))
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return .number(try number())
    }
  }

  private mutating func word(_ word: StaticString, _ item: JSONItem) throws(JSONFault) -> JSONItem {
    for offset in 0..<word.utf8CodeUnitCount {
      guard next == word.utf8Start[offset] else { throw fault() }
      place += 1
    }
    return item
  }

  private mutating func object(depth: Int) throws(JSONFault) -> JSONFields {
    guard depth < Self.depthLimit else { throw fault() }
    var fields = JSONFields()
    place += 1
    skipSpace()
    if take("}") { return fields }
    repeat {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw fault() }
      let name = try string()
      skipSpace()
      try expect(":")
      skipSpace()
      fields.append(name, try value(depth: depth + 1))
      skipSpace()
    } while take(",")
    try expect("}")
    return fields
  }

  private mutating func list(depth: Int) throws(JSONFault) -> [JSONItem] {
    guard depth < Self.depthLimit else { throw fault() }
    var items: [JSONItem] = []
    place += 1
    skipSpace()
    if take("]") { return items }
    repeat {
      skipSpace()
      items.append(try value(depth: depth + 1))
      skipSpace()
    } while take(",")
    try expect("]")
    return items
  }

  /// `-0.5e+7`, as JSON has it: digits on both sides of the point, and no leading zeros.
  private mutating func number() throws(JSONFault) -> String {
    let start = place
    _ = take("-")
    if !take("0") { try digits() }
    if take(".") { try digits() }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      try digits()
    }
    return String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<place]), as: UTF8.self)
  }

  private mutating func digits() throws(JSONFault) {
    let start = place
    while (0x30...0x39).contains(next) { place += 1 }
    guard place > start else { throw fault() }
  }

  private mutating func string() throws(JSONFault) -> String {
    place += 1
    let start = place
    var all: UInt8 = 0
    while place < bytes.count {
      let byte = bytes[place]
      guard byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else { break }
      all |= byte
      place += 1
    }
    let plain = UnsafeBufferPointer(rebasing: bytes[start..<place])
    if next == UInt8(ascii: "\"") {
      place += 1
      return all < 0x80 ? String(decoding: plain, as: UTF8.self) : try text(plain)
    }
    var buffer = Array(plain)
    while !take("\"") {
      if next == UInt8(ascii: "\\") {
        buffer += String(try escape()).utf8
      } else {
        guard next >= 0x20 else { throw fault() }
        buffer.append(next)
        place += 1
      }
    }
    return try text(buffer)
  }

  private func text(_ bytes: some Sequence<UInt8>) throws(JSONFault) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw JSONFault("not UTF-8 before column \(place + 1)")
    }
    return text
  }

  private mutating func escape() throws(JSONFault) -> Unicode.Scalar {
    place += 1
    let byte = next
    place += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default:
      place -= 1
      throw fault()
    }
    let unit = try hexadecimal()
    if let scalar = Unicode.Scalar(unit) { return scalar }
    // The first half of a pair; without the second half it stands for no character.
    guard unit < 0xDC00 else { throw fault() }
    try expect("\\")
    try expect("u")
    let second = try hexadecimal()
    guard second >= 0xDC00, second <= 0xDFFF else { throw fault() }
    let (high, low) = (UInt32(unit) - 0xD800, UInt32(second) - 0xDC00)
    guard let scalar = Unicode.Scalar(0x10000 + high << 10 + low) else { throw fault() }
    return scalar
  }

  private mutating func hexadecimal() throws(JSONFault) -> UInt16 {
    var value: UInt16 = 0
    for _ in 0..<4 {
      guard next < 0x80, let digit = Character(Unicode.Scalar(next)).hexDigitValue else { throw fault() }
      value = value << 4 | UInt16(digit)
      place += 1
    }
    return value
  }
}
