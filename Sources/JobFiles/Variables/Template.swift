/// Splits text at `${…}`.
enum Template {
  enum Piece {
    case text(String)
    /// The text between `${` and the next `}`, and the number of earlier references with the same text.
    case reference(String, count: Int)
    /// A `${` without a `}` after it.
    case unclosed
  }

  private static let nameLimit = 1024

  /// The place of the `}` that closes a `${` before `start`; a job reference may hold other references, as in
  /// `${jobs.build[${matrix.os}].path}`.
  static func close(of start: Int, in bytes: [UInt8]) -> Int? {
    let near = bytes[start..<min(bytes.count, start + nameLimit)]
    guard near.starts(with: "jobs.".utf8) else { return near.firstIndex(of: UInt8(ascii: "}")) }
    var depth = 0
    for index in near.indices {
      if near[index] == UInt8(ascii: "{"), near[index - 1] == UInt8(ascii: "$") { depth += 1 }
      guard near[index] == UInt8(ascii: "}") else { continue }
      if depth == 0 { return index }
      depth -= 1
    }
    return nil
  }

  /// Calls `take` with each piece in order; if it returns false for a reference, the `${` is text and scanning continues
  /// after it, so that a nested reference is found.
  static func scan(_ text: String, _ take: (Piece) -> Bool) {
    let bytes = Array(text.utf8)
    var counts: [String: Int] = [:]
    var start = 0
    var index = 0
    /// The name at `position` and the place of its closing brace; the limit keeps many open braces from taking
    /// quadratic time.
    func name(at position: Int) -> (text: String, close: Int)? {
      close(of: position, in: bytes).map { (String(decoding: bytes[position..<$0], as: UTF8.self), $0) }
    }
    func flush(to end: Int) {
      if start < end { _ = take(.text(String(decoding: bytes[start..<end], as: UTF8.self))) }
    }
    while let dollar = bytes[index...].firstIndex(of: UInt8(ascii: "$")) {
      if bytes[dollar...].starts(with: [UInt8(ascii: "$"), UInt8(ascii: "$"), UInt8(ascii: "{")]) {
        flush(to: dollar)
        start = dollar + 1
        index = dollar + 3
        if let name = name(at: index) { counts[name.text, default: 0] += 1 }
      } else if bytes[dollar...].starts(with: [UInt8(ascii: "$"), UInt8(ascii: "{")]) {
        flush(to: dollar)
        index = dollar + 2
        start = index
        guard let name = name(at: index) else {
          _ = take(.unclosed)
          continue
        }
        if take(.reference(name.text, count: counts[name.text, default: 0])) {
          index = name.close + 1
          start = index
        } else {
          start = dollar
        }
        counts[name.text, default: 0] += 1
      } else {
        index = dollar + 1
      }
    }
    flush(to: bytes.count)
  }
}
