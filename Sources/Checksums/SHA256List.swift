/// A list of files and their SHA-256 sums, read as `sha256sum -c` reads it.
///
/// A line is `SUM  NAME`, `SUM *NAME` or `SHA256 (NAME) = SUM`. A leading backslash marks a name with escapes: `\\`,
/// `\n`, `\r`. Lines may end with CRLF; lines that begin with `#` are comments.
package struct SHA256List: Equatable, Sendable {
  package struct Entry: Equatable, Sendable {
    /// The path of the file, not made safe; nil where it is not UTF-8.
    package var name: String?
    /// In lower-case hexadecimal.
    package var sum: String
    /// From 1.
    package var line: Int

    package init(name: String?, sum: String, line: Int) {
      self.name = name
      self.sum = sum
      self.line = line
    }
  }

  /// The lines with a sum, in their order; other lines, such as comments and signatures, are left out.
  package private(set) var entries: [Entry] = []

  package init(_ bytes: [UInt8]) {
    let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    // As sha256sum, which takes one form for the whole list: where the first line has one blank, so have the others.
    var hasOneBlank: Bool?
    for (index, line) in lines.enumerated() where line.first != UInt8(ascii: "#") {
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      guard let (name, sum) = Self.parse(line, &hasOneBlank) else { continue }
      let text = String(decoding: name, as: UTF8.self)
      let isText = text.utf8.elementsEqual(name)
      entries.append(Entry(name: isText ? text : nil, sum: sum, line: index + 1))
    }
  }

  private static func parse(
    _ line: ArraySlice<UInt8>, _ hasOneBlank: inout Bool?
  ) -> (name: [UInt8], sum: String)? {
    var rest = line.drop(while: isBlank)
    let isEscaped = rest.first == UInt8(ascii: "\\")
    if isEscaped { rest = rest.dropFirst() }
    guard let (name, sum) = tagged(rest) ?? untagged(rest, &hasOneBlank), !name.isEmpty else { return nil }
    guard isEscaped else { return (Array(name), sum) }
    return unescaped(name).map { ($0, sum) }
  }

  /// `SHA256 (NAME) = SUM`, also without the blanks, as OpenSSL writes it.
  private static func tagged(_ line: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, sum: String)? {
    guard line.starts(with: "SHA256".utf8) else { return nil }
    let rest = line.dropFirst("SHA256".utf8.count).drop(while: isBlank)
    guard rest.first == UInt8(ascii: "("), let end = rest.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let value = rest[(end + 1)...].drop(while: isBlank)
    guard value.first == UInt8(ascii: "="), let sum = sum(value.dropFirst().drop(while: isBlank)) else { return nil }
    return (rest[(rest.startIndex + 1)..<end], sum)
  }

  private static func untagged(
    _ line: ArraySlice<UInt8>, _ hasOneBlank: inout Bool?
  ) -> (name: ArraySlice<UInt8>, sum: String)? {
    guard let sum = sum(line.prefix(64)) else { return nil }
    let rest = line.dropFirst(64)
    guard rest.count > 1, let blank = rest.first, isBlank(blank) else { return nil }
    let name = rest.dropFirst()
    let hasMark = name.count > 1 && (name.first == UInt8(ascii: " ") || name.first == UInt8(ascii: "*"))
    if !hasMark, hasOneBlank == false { return nil }
    let isWhole = hasOneBlank ?? !hasMark
    hasOneBlank = isWhole
    return (isWhole ? name : name.dropFirst(), sum)
  }

  private static func sum(_ digits: ArraySlice<UInt8>) -> String? {
    let text = String(decoding: digits, as: UTF8.self)
    return SHA256Sum.isHex(text) ? text.lowercased() : nil
  }

  /// Nil for an escape that has no meaning.
  private static func unescaped(_ name: ArraySlice<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = name.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "\\") else {
        bytes.append(byte)
        continue
      }
      switch rest.next() {
      case UInt8(ascii: "\\"): bytes.append(byte)
      case UInt8(ascii: "n"): bytes.append(UInt8(ascii: "\n"))
      case UInt8(ascii: "r"): bytes.append(UInt8(ascii: "\r"))
      default: return nil
      }
    }
    return bytes
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
