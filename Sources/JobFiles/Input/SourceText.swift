import Basics

/// The bytes of a job file or of another text, validated as UTF-8 with the characters that YAML allows.
final class SourceText {
  /// Without a byte order mark.
  let bytes: [UInt8]

  static let limit = 64 << 20
  /// The bytes of a line that `line` and excerpts show.
  static let lineLimit = 4096

  /// Throws the first fault of the encoding; `isYAML` says whether YAML reads the text.
  init(_ bytes: [UInt8], file: String, isYAML: Bool = true) throws(JobFileFaults) {
    guard bytes.count <= Self.limit else {
      throw JobFileFaults(
        file, .start, "the file is larger than \(Self.limit >> 20) MiB: split it into several job files")
    }
    if let message = Self.kindFault(bytes) { throw JobFileFaults(file, .start, message) }
    self.bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes[3...]) : bytes
    if let (offset, message) = Self.firstFault(self.bytes, isYAML) {
      let place = place(ofByte: offset)
      throw JobFileFaults(file, place, message, excerpt: excerpt(at: place))
    }
  }

  /// The fault of a file that is not written as UTF-8 text at all.
  private static func kindFault(_ bytes: [UInt8]) -> String? {
    let utf16 = "the file is UTF-16: save it as UTF-8"
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { return utf16 }
    let head = bytes.prefix(512)
    let zeros = head.indices.filter { head[$0] == 0 }
    // Without a byte order mark, every second byte of English text is 0.
    if zeros.count > 2, zeros.count * 3 > head.count, Set(zeros.map { $0 % 2 }).count == 1 { return utf16 }
    let signatures: [[UInt8]] = [
      Array("\u{7F}ELF".utf8), [0x1F, 0x8B], Array("PK\u{3}\u{4}".utf8), [0x89, 0x50, 0x4E, 0x47],
    ]
    guard zeros.count > 3 || signatures.contains(where: head.starts) else { return nil }
    return "the file is binary, not text: name a job file"
  }

  init(checked bytes: [UInt8]) { self.bytes = bytes }

  /// The first byte that is not UTF-8 or begins a character that YAML forbids.
  private static func firstFault(_ bytes: [UInt8], _ isYAML: Bool) -> (offset: Int, message: String)? {
    var offset = 0
    while offset < bytes.count {
      let byte = bytes[offset]
      if byte >= 0x20, byte < 0x7F {
        offset += 1
        continue
      }
      guard let (scalar, length) = scalar(in: bytes, at: offset) else {
        return (offset, "the file is not UTF-8 here (byte 0x\(hex(UInt32(byte), 2))): save it as UTF-8")
      }
      switch scalar {
      case 0x85, 0x2028, 0x2029:
        // A line break to libyaml, as in YAML 1.1; to YAML 1.2, JSON and editors it is none.
        let advice = "delete it, or write \"\\u\(hex(scalar, 4))\" in double quotes"
        if isYAML { return (offset, "U+\(hex(scalar, 4)) is a line break that few editors show: \(advice)") }
      case 0x09, 0x0A, 0x0D, 0xA0...0xFFFD, 0x10000...0x10FFFF: break
      default:
        // No text of a job file may have a NUL, however it is written.
        let escape = isYAML && scalar != 0 ? ", or write \"\\x\(hex(scalar, 2))\" in double quotes" : ""
        return (offset, "control character U+\(hex(scalar, 4)): delete it\(escape)")
      }
      offset += length
    }
    return nil
  }

  private static func hex(_ value: UInt32, _ digits: Int) -> String {
    String(value, radix: 16, uppercase: true, digits: digits)
  }

  /// The scalar at `offset`; nil if its bytes are not UTF-8.
  private static func scalar(in bytes: [UInt8], at offset: Int) -> (value: UInt32, length: Int)? {
    var rest = bytes[offset...].makeIterator()
    var parser = Unicode.UTF8.ForwardParser()
    guard case .valid(let encoded) = parser.parseScalar(from: &rest) else { return nil }
    return (Unicode.UTF8.decode(encoded).value, encoded.count)
  }

  /// The place of a byte, which is not before line `first`; CR LF is one line break.
  func place(ofByte offset: Int, from first: Int = 1) -> Place {
    let line = lineStarts[first...].firstIndex { $0 > offset } ?? lineStarts.count
    return Place(line: line, column: 1 + bytes[lineStarts[line - 1]..<offset].count { $0 & 0xC0 != 0x80 })
  }

  /// The place after the last character.
  var end: Place { place(ofByte: bytes.count) }

  /// The place of occurrence `count` (0 is the first) of `needle` between two places; nil if it isn't written there.
  func place(of needle: String, count: Int, from: Place, to: Place) -> Place? {
    guard let start = offset(of: from), let end = offset(of: to), start < end, !needle.isEmpty else { return nil }
    let wanted = Array(needle.utf8)
    let places = bytes[start..<end].indices.lazy.filter { [bytes] index in
      index + wanted.count <= end && bytes[index] == wanted[0] && bytes[index...].starts(with: wanted)
    }
    return places.dropFirst(count).first.map { place(ofByte: $0, from: from.line) }
  }

  private func offset(of place: Place) -> Int? {
    guard place.line <= lineStarts.count else { return nil }
    var (column, index) = (1, lineStarts[place.line - 1])
    if let last = lastPlace, last.place.line == place.line, last.place <= place {
      (column, index) = (last.place.column, last.offset)
    }
    while column < place.column {
      guard index < bytes.count else { return nil }
      index += 1
      while index < bytes.count, bytes[index] & 0xC0 == 0x80 { index += 1 }
      column += 1
    }
    lastPlace = (place, index)
    return index
  }

  /// The place whose offset was asked for last: faults come in order, and a line can have millions of columns.
  private var lastPlace: (place: Place, offset: Int)?

  // MARK: Lines

  /// The text of a line without its line break, which is cut after `lineLimit` bytes; nil after the last line.
  func line(_ number: Int) -> String? {
    guard (1...lineStarts.count).contains(number) else { return nil }
    let start = lineStarts[number - 1]
    return text(from: start, to: min(endOfLine(number), start + Self.lineLimit))
  }

  /// Whether `line` cuts a line.
  func isCut(_ number: Int) -> Bool { endOfLine(number) > lineStarts[number - 1] + Self.lineLimit }

  /// The text between a place and the end of its line.
  func rest(from place: Place) -> String {
    guard let start = offset(of: place) else { return "" }
    return text(from: start, to: min(endOfLine(place.line), start + Self.lineLimit))
  }

  /// The place of the `#` of a comment that follows a place on its line, after blanks; nil without one.
  func comment(after place: Place) -> Place? {
    guard let start = offset(of: place) else { return nil }
    let end = bytes[start...].firstIndex { $0 != 0x20 && $0 != 0x09 } ?? start
    guard end > start, bytes[end] == UInt8(ascii: "#") else { return nil }
    return Place(line: place.line, column: place.column + end - start)
  }

  /// The line of a place; nil if nothing is on it.
  func excerpt(at place: Place) -> SourceExcerpt? {
    guard let offset = offset(of: place) else { return nil }
    let start = lineStarts[place.line - 1]
    let (before, after) = (text(from: max(start, offset - Self.lineLimit), to: offset), rest(from: place))
    guard !(before + after).allSatisfy(\.isWhitespace) || before.contains("\t") || after.contains("\t") else {
      return nil
    }
    return SourceExcerpt(number: place.line, before: before, after: after)
  }

  private func endOfLine(_ number: Int) -> Int {
    let start = lineStarts[number - 1]
    let next = number < lineStarts.count ? lineStarts[number] : bytes.count
    // A line break has at most three bytes.
    return (max(start, next - 3)..<next).first { Self.endOfBreak(bytes, at: $0) == next } ?? next
  }

  private func text(from start: Int, to end: Int) -> String {
    var start = start
    // A cut does not divide a character.
    while start < end, bytes[start] & 0xC0 == 0x80 { start += 1 }
    var end = max(start, end)
    while end > start, end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }

  /// The offset of each line; computed for the first fault.
  private lazy var lineStarts: [Int] = {
    var starts = [0]
    var index = 0
    while index < bytes.count {
      switch bytes[index] {
      case 0x0A, 0x0D, 0xC2, 0xE2:
        let next = Self.endOfBreak(bytes, at: index)
        if let next { starts.append(next) }
        index = next ?? index + 1
      default: index += 1
      }
    }
    return starts
  }()

  /// The start of the next line if a line break is at `index`; libyaml counts the same breaks.
  private static func endOfBreak(_ bytes: [UInt8], at index: Int) -> Int? {
    func follows(_ distance: Int, _ byte: UInt8) -> Bool {
      index + distance < bytes.count && bytes[index + distance] == byte
    }
    switch bytes[index] {
    case 0x0A: return index + 1
    case 0x0D: return follows(1, 0x0A) ? index + 2 : index + 1
    case 0xC2: return follows(1, 0x85) ? index + 2 : nil
    case 0xE2: return follows(1, 0x80) && (follows(2, 0xA8) || follows(2, 0xA9)) ? index + 3 : nil
    default: return nil
    }
  }
}
