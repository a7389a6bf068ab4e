/// A text to look for, upper and lower case alike.
struct Needle: Equatable {
  private let bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.lowercased().utf8) }

  var isEmpty: Bool { bytes.isEmpty }

  /// What it can be looked for in.
  static func haystack(_ text: String) -> [UInt8] { Array(text.lowercased().utf8) }

  func isFound(in haystack: [UInt8]) -> Bool {
    guard let first = bytes.first else { return true }
    guard haystack.count >= bytes.count else { return false }
    return haystack.withUnsafeBufferPointer { hay in
      bytes.withUnsafeBufferPointer { needle in
        for start in 0...(hay.count - needle.count) where hay[start] == first {
          var length = 1
          while length < needle.count, hay[start + length] == needle[length] { length += 1 }
          if length == needle.count { return true }
        }
        return false
      }
    }
  }
}
