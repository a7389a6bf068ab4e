import Screen

/// Breaks text between words, and within words that are longer than a line.
enum WordWrap {
  static func lines(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      var word = String(word)
      let joined = line.isEmpty ? word : line + " " + word
      if TextWidth.of(joined) <= width {
        line = joined
        continue
      }
      if !line.isEmpty { lines.append(line) }
      while TextWidth.of(word) > width {
        let head = Elision.prefix(word, width)
        guard !head.isEmpty else { break }
        lines.append(head)
        word.removeFirst(head.count)
      }
      line = word
    }
    return lines + [line]
  }
}
