extension Substring {
  /// The lines of a text from outside, without their ends, LF or CR LF; nothing follows a last end.
  ///
  /// `split(separator: "\n")` does not see CR LF, which is one `Character`, and `isNewline` also splits at characters that a
  /// line may hold.
  package var lines: [Substring] {
    var lines: [Substring] = []
    var start = startIndex
    while start < endIndex {
      let feed = utf8[start...].firstIndex(of: UInt8(ascii: "\n")) ?? endIndex
      let isReturned = feed > start && feed < endIndex && utf8[utf8.index(before: feed)] == UInt8(ascii: "\r")
      lines.append(self[start..<(isReturned ? utf8.index(before: feed) : feed)])
      start = feed < endIndex ? utf8.index(after: feed) : feed
    }
    return lines
  }
}

extension String {
  /// See `Substring.lines`.
  package var lines: [Substring] { self[...].lines }
}
