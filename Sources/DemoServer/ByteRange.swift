/// The `Range` header of a request for content of known size.
enum ByteRange: Equatable {
  /// No range, or one that may be ignored.
  case whole
  case part(Range<Int>)
  case unsatisfiable

  /// Reads `bytes=a-b`, `bytes=a-` and `bytes=-n`; several ranges are ignored, as RFC 9110 allows.
  init(_ header: String?, size: Int) {
    guard let header, header.hasPrefix("bytes=") else {
      self = .whole
      return
    }
    let ends = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard ends.count == 2, ends.allSatisfy({ $0.allSatisfy(\.isWholeNumber) }) else {
      self = .whole
      return
    }
    switch (Int(ends[0]), Int(ends[1])) {
    case (let first?, let last) where ends[1].isEmpty || last != nil:
      if let last, last < first {
        self = .whole
      } else if first >= size {
        self = .unsatisfiable
      } else {
        self = .part(first..<min(size - 1, last ?? size - 1) + 1)
      }
    case (nil, let count?) where ends[0].isEmpty:
      self = count == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - count)..<size)
    default: self = .whole
    }
  }
}
