import Operations

/// Splits the bytes of one stream into lines, however they arrive.
struct LineSplitter {
  /// Longer lines are cut, in bytes.
  static let limit = 4096

  private let source: OperationLogLine.Source
  private var partial: [UInt8] = []
  private var isCut = false

  init(_ source: OperationLogLine.Source) { self.source = source }

  /// The lines that `bytes` complete.
  mutating func feed(_ bytes: [UInt8]) -> [OperationLogLine] {
    var lines: [OperationLogLine] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      take(rest[..<end])
      lines.append(flush())
      rest = rest[(end + 1)...]
    }
    take(rest)
    return lines
  }

  /// The last line, where the stream ended without a line feed.
  mutating func finish() -> OperationLogLine? {
    partial.isEmpty && !isCut ? nil : flush()
  }

  private mutating func take(_ bytes: ArraySlice<UInt8>) {
    var bytes = bytes
    // A line that is redrawn after carriage returns shows its last state, and must not fill up.
    if partial.count + bytes.count > Self.limit, let last = bytes.dropLast().lastIndex(of: UInt8(ascii: "\r")) {
      partial.removeAll(keepingCapacity: true)
      isCut = false
      bytes = bytes[(last + 1)...]
    }
    let room = Self.limit - partial.count
    if bytes.count > room { isCut = true }
    partial.append(contentsOf: bytes.prefix(max(0, room)))
  }

  private mutating func flush() -> OperationLogLine {
    if partial.last == UInt8(ascii: "\r") { partial.removeLast() }
    if isCut { dropBrokenScalar() }
    defer {
      partial.removeAll(keepingCapacity: true)
      isCut = false
    }
    return OperationLogLine(text: String(decoding: partial, as: UTF8.self), source: source, isCut: isCut)
  }

  /// A cut may have gone through the middle of a scalar.
  private mutating func dropBrokenScalar() {
    guard let lead = partial.lastIndex(where: { $0 & 0xC0 != 0x80 }), partial.count - lead < 4 else { return }
    let length =
      switch partial[lead] {
      case 0xC0..<0xE0: 2
      case 0xE0..<0xF0: 3
      case 0xF0...: 4
      default: 1
      }
    if partial.count - lead < length { partial.removeSubrange(lead...) }
  }
}
