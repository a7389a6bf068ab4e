/// Strings for C: an array of pointers to zero-terminated strings, ended by a null pointer.
struct CStrings {
  private var bytes: [CChar] = []
  private var starts: [Int] = []

  /// Appends one string of several parts; returns false, and appends nothing, if it contains a zero byte.
  mutating func append(_ parts: String...) -> Bool {
    let start = bytes.count
    for part in parts {
      for byte in part.utf8 {
        guard byte != 0 else {
          bytes.removeSubrange(start...)
          return false
        }
        bytes.append(CChar(bitPattern: byte))
      }
    }
    bytes.append(0)
    starts.append(start)
    return true
  }

  /// Calls `body` with the pointers of `before` followed by these; they are valid during the call.
  mutating func withPointers<Result>(
    after before: [UnsafeMutablePointer<CChar>] = [],
    _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>?) throws -> Result
  ) rethrows -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = []
    pointers.reserveCapacity(before.count + starts.count + 1)
    pointers.append(contentsOf: before)
    return try bytes.withUnsafeMutableBufferPointer { bytes in
      for start in starts { pointers.append(bytes.baseAddress.map { $0 + start }) }
      pointers.append(nil)
      return try pointers.withUnsafeBufferPointer { try body($0.baseAddress) }
    }
  }
}
