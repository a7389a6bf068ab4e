/// The part of a file that a 206 reply holds, as its `Content-Range` says.
struct ContentRange: Hashable {
  var start: Int64
  /// The last byte, inclusive.
  var end: Int64
  /// Nil where the server writes `*`.
  var total: Int64?

  /// Reads a header value, as in `bytes 200-1023/146515`; nil where it is malformed or contradicts itself.
  init?(_ value: String) {
    guard value.lowercased().hasPrefix("bytes ") else { return nil }
    let parts = value.dropFirst("bytes ".count).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let bounds = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2, let start = Self.number(bounds[0]), let end = Self.number(bounds[1]), start <= end else {
      return nil
    }
    self.start = start
    self.end = end
    guard parts[1] != "*" else { return }
    guard let total = Self.number(parts[1]), end < total else { return nil }
    self.total = total
  }

  private static func number(_ text: Substring) -> Int64? {
    let digits = text.trimming { $0 == " " }
    guard digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
    return Int64(digits)
  }
}
