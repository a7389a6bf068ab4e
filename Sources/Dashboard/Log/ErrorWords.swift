/// Recognizes lines of output that report an error.
///
/// Looks for words that compilers, test runners, shells and servers use. A word that is part of a path, an option or a
/// name does not count, nor one that is negated: `0 errors`, `no failures`, `failed: 0`.
enum ErrorWords {
  static func areIn(_ line: String) -> Bool {
    let bytes = Array(line.utf8)
    let text = bytes.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
    if text.starts(with: "not ok ".utf8) || phrases.contains(where: { $0.isFound(in: text) }) { return true }
    var start = 0
    while start < text.count {
      guard text[start].isLetter else {
        start += 1
        continue
      }
      var end = start
      while end < text.count, text[end].isOfWord { end += 1 }
      let word = start..<end
      if isBad(word, text, bytes), stands(alone: word, text), !isDenied(word, text) { return true }
      start = end
    }
    return false
  }

  private static let words: Set<[UInt8]> = Set(
    [
      "error", "errors", "fatal", "panic", "panicked", "exception", "exceptions", "fail", "fails", "failed", "failure",
      "failures", "traceback", "aborted", "segfault", "undefined", "unhandled", "uncaught",
    ].map { Array($0.utf8) })

  private static let phrases = [
    "segmentation fault", "core dumped", "command not found", "no such file or directory", "permission denied",
    "undefined reference", "out of memory", "assertion failed", "cannot open", "connection refused",
  ].map { Needle($0) }

  /// Also accepts `E:` of apt, `ERR!` of npm, and names of error classes: `TypeError`, `java.io.IOException`.
  private static func isBad(_ word: Range<Int>, _ text: [UInt8], _ bytes: [UInt8]) -> Bool {
    let (lower, exact) = (Array(text[word]), bytes[word])
    // JavaScript prints missing values as `undefined`; only `undefined symbol` is an error.
    if lower == Array("undefined".utf8) { return text[word.upperBound...].starts(with: Array(" symbol".utf8)) }
    if words.contains(lower) { return true }
    let next = word.upperBound < text.count ? text[word.upperBound] : 0
    if lower.count == 1, exact.first == UInt8(ascii: "E"), next == UInt8(ascii: ":") { return word.lowerBound == 0 }
    if lower == Array("err".utf8) { return next == UInt8(ascii: "!") || next == UInt8(ascii: "]") }
    let isCapital = (0x41...0x5A).contains(bytes[word.lowerBound])
    return isCapital && ["Error", "Exception"].contains { exact.suffix($0.utf8.count).elementsEqual($0.utf8) }
  }

  /// Whether the word is not part of a path, an option or a longer name.
  private static func stands(alone word: Range<Int>, _ text: [UInt8]) -> Bool {
    let joiners = Array("-/\\@$".utf8)
    if word.lowerBound > 0 {
      let before = text[word.lowerBound - 1]
      if joiners.contains(before) || before.isOfWord { return false }
      // A class name may follow its package; a plain word after a period is an attribute or a file name extension.
      if before == UInt8(ascii: "."), words.contains(Array(text[word])) { return false }
    }
    guard word.upperBound < text.count else { return true }
    let after = text[word.upperBound]
    if joiners.contains(after) { return false }
    let isFollowed = word.upperBound + 1 < text.count && text[word.upperBound + 1].isOfWord
    return !(isFollowed && (after == UInt8(ascii: ".") || after == UInt8(ascii: "(")))
  }

  /// Whether a zero or a negation precedes or follows the word.
  private static func isDenied(_ word: Range<Int>, _ text: [UInt8]) -> Bool {
    var end = word.lowerBound
    for _ in 0..<2 {
      while end > 0, text[end - 1] == UInt8(ascii: " ") { end -= 1 }
      var start = end
      while start > 0, text[start - 1].isOfWord { start -= 1 }
      guard start < end else { break }
      if denials.contains(Array(text[start..<end])) { return true }
      end = start
    }
    // A message follows the name of an error class, not a count.
    guard words.contains(Array(text[word])) else { return false }
    var place = word.upperBound
    while place < text.count, " \"':=".utf8.contains(text[place]) { place += 1 }
    guard place > word.upperBound, place < text.count else { return false }
    let value = text[place...].prefix { $0.isOfWord }
    guard nothings.contains(Array(value)) else { return false }
    // In a sentence it isn't a value: `error: none of the files`.
    return value.count == 1 || value.endIndex == text.count || text[value.endIndex] != UInt8(ascii: " ")
  }

  private static let denials = Set(["0", "no", "zero", "without", "not"].map { Array($0.utf8) })
  private static let nothings = Set(["0", "null", "nil", "none", "false"].map { Array($0.utf8) })
}

extension UInt8 {
  fileprivate var isLetter: Bool { (0x61...0x7A).contains(self) }
  /// Bytes of other scripts count as word characters, so that no part of a longer word matches.
  fileprivate var isOfWord: Bool {
    isLetter || (0x30...0x39).contains(self) || self == UInt8(ascii: "_") || self >= 0x80
  }
}
