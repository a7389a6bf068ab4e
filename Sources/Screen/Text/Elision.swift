/// Shortens text to a number of cells and marks the place of the part left out.
package struct Elision: Sendable {
  package let mark: String

  package init(mark: String) { self.mark = mark }

  /// Marks with `..` where only ASCII can be drawn.
  package init(isASCII: Bool) { mark = isASCII ? ".." : "…" }

  /// Keeps the beginning: `checkout-the…`.
  package func end(_ text: String, to width: Int) -> String {
    guard TextWidth.of(text) > width else { return text }
    let markWidth = TextWidth.of(mark)
    guard width > markWidth else { return Self.prefix(text, width) }
    return Self.prefix(text, width - markWidth) + mark
  }

  /// Keeps the beginning and the end, the end first where one cell is left over: `/var/…/job.log`.
  package func middle(_ text: String, to width: Int) -> String {
    guard TextWidth.of(text) > width else { return text }
    let markWidth = TextWidth.of(mark)
    guard width > markWidth + 1 else { return end(text, to: width) }
    let room = width - markWidth
    let head = Self.prefix(text, room / 2)
    return head + mark + Self.suffix(text, room - TextWidth.of(head))
  }

  /// Keeps the variant of a name that ends in brackets, `integ…[linux,arm64]`; the middle of other names is left out.
  package func name(_ text: String, to width: Int) -> String {
    guard TextWidth.of(text) > width else { return text }
    let openers: [Character: Character] = ["]": "[", ")": "("]
    guard let opener = text.last.flatMap({ openers[$0] }), let start = text.lastIndex(of: opener),
      start > text.startIndex
    else { return middle(text, to: width) }
    let variant = String(text[start...])
    let room = width - TextWidth.of(variant) - TextWidth.of(mark)
    return room < 3 ? middle(text, to: width) : Self.prefix(text, room) + mark + variant
  }

  /// The longest beginning of at most `width` cells, without a mark.
  package static func prefix(_ text: String, _ width: Int) -> String {
    var left = width
    return String(text.prefix { take(TextWidth.of($0), &left) })
  }

  /// The longest end of at most `width` cells, without a mark.
  package static func suffix(_ text: String, _ width: Int) -> String {
    var left = width
    return String(text.reversed().prefix { take(TextWidth.of($0), &left) }.reversed())
  }

  private static func take(_ width: Int, _ left: inout Int) -> Bool {
    left -= width
    return left >= 0
  }
}

/// Texts are shortened without their colors.
extension Elision {
  package func end(_ text: TerminalText, to width: Int) -> TerminalText {
    TerminalText(filtered: end(JobText(text.text).plain, to: width))
  }

  package func name(_ text: TerminalText, to width: Int) -> TerminalText {
    TerminalText(filtered: name(JobText(text.text).plain, to: width))
  }
}
