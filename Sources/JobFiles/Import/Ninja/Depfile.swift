/// Reads the files that a compiler has found, as it writes them in the form of make: `a.o: a.c a.h`.
enum Depfile {
  /// The paths behind the colons, in their order; words that are not UTF-8 are left out.
  static func inputs(of bytes: [UInt8]) -> [String] {
    var paths: [String] = []
    var word: [UInt8] = []
    var isBehindColon = false
    func endWord() {
      defer { word = [] }
      guard !word.isEmpty else { return }
      if isBehindColon {
        if let path = String(validating: word, as: UTF8.self) { paths.append(path) }
      } else if word.last == UInt8(ascii: ":") {
        isBehindColon = true
      }
    }
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      let next = index + 1 < bytes.count ? bytes[index + 1] : UInt8(ascii: "\n")
      index += 1
      switch byte {
      case UInt8(ascii: "\\") where next == UInt8(ascii: "\n") || next == UInt8(ascii: "\r"):
        endWord()
        // The line continues after its break, LF or CR LF.
        index += next == UInt8(ascii: "\r") ? 2 : 1
      case UInt8(ascii: "\\") where " #:".utf8.contains(next), UInt8(ascii: "$") where next == byte:
        word.append(next)
        index += 1
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): endWord()
      case UInt8(ascii: "\n"):
        endWord()
        isBehindColon = false
      default: word.append(byte)
      }
    }
    endWord()
    return paths
  }
}
