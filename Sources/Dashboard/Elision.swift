import Screen

/// Shortens text to a number of cells.
struct Elision {
  /// What stands for the part left out.
  let mark: String

  init(isASCII: Bool) { mark = isASCII ? ".." : "…" }

  /// Keeps both ends: names often differ in their last letters.
  func middle(_ text: String, to width: Int) -> String {
    guard width > 0 else { return "" }
    guard TextWidth.of(text) > width else { return text }
    let room = width - TextWidth.of(mark)
    guard room >= 2 else { return prefix(text, width) }
    let tail = suffix(text, room / 2)
    return prefix(text, room - TextWidth.of(tail)) + mark + tail
  }

  /// Keeps the beginning.
  func end(_ text: String, to width: Int) -> String {
    guard width > 0 else { return "" }
    guard TextWidth.of(text) > width else { return text }
    let room = width - TextWidth.of(mark)
    guard room >= 1 else { return prefix(text, width) }
    return prefix(text, room) + mark
  }

  private func prefix(_ text: String, _ width: Int) -> String {
    var used = 0
    var kept = ""
    for grapheme in text {
      used += TextWidth.of(grapheme)
      if used > width { break }
      kept.append(grapheme)
    }
    return kept
  }

  private func suffix(_ text: String, _ width: Int) -> String {
    var used = 0
    var kept: [Character] = []
    for grapheme in text.reversed() {
      used += TextWidth.of(grapheme)
      if used > width { break }
      kept.append(grapheme)
    }
    return String(kept.reversed())
  }
}
