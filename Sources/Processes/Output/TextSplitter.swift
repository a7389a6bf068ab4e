/// Splits the bytes of one stream into whole lines, in whatever chunks they arrive; `LineSplitter` makes the lines of a
/// log.
struct TextSplitter {
  private var partial: [UInt8] = []

  /// The size of the unfinished line, in bytes.
  var unfinished: Int { partial.count }

  /// The lines that `bytes` complete.
  mutating func feed(_ bytes: [UInt8]) -> [String] {
    var lines: [String] = []
    var rest = bytes[...]
    while let end = rest.place(of: UInt8(ascii: "\n")) {
      if partial.isEmpty {
        lines.append(Self.text(rest[..<end]))
      } else {
        partial += rest[..<end]
        lines.append(Self.text(partial[...]))
        partial = []
      }
      rest = rest[(end + 1)...]
    }
    partial += rest
    return lines
  }

  /// The last line, if no line feed ended it.
  mutating func finish() -> String? {
    defer { partial = [] }
    return partial.isEmpty ? nil : Self.text(partial[...])
  }

  private static func text(_ line: ArraySlice<UInt8>) -> String {
    String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
  }
}
