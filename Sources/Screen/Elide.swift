/// Text cut to a number of cells, with a mark where something is left out.
package enum Elide {
  /// Keeps the beginning: `checkout-the…`.
  package static func end(_ text: String, to width: Int, mark: String = "…") -> String {
    guard TextWidth.of(text) > width else { return text }
    let markWidth = TextWidth.of(mark)
    guard width > markWidth else { return prefix(text, width) }
    return prefix(text, width - markWidth) + mark
  }

  /// Keeps the beginning and the end, the end first where one cell is left over: `/var/…/job.log`.
  package static func middle(_ text: String, to width: Int, mark: String = "…") -> String {
    guard TextWidth.of(text) > width else { return text }
    let markWidth = TextWidth.of(mark)
    guard width > markWidth + 1 else { return end(text, to: width, mark: mark) }
    let room = width - markWidth
    let head = prefix(text, room / 2)
    return head + mark + suffix(text, room - TextWidth.of(head))
  }

  /// Keeps the end: `…/build/job.log`.
  package static func start(_ text: String, to width: Int, mark: String = "…") -> String {
    guard TextWidth.of(text) > width else { return text }
    let markWidth = TextWidth.of(mark)
    guard width > markWidth else { return suffix(text, width) }
    return mark + suffix(text, width - markWidth)
  }

  /// As much of the beginning as fits.
  package static func prefix(_ text: String, _ width: Int) -> String {
    var left = width
    return String(text.prefix { take(TextWidth.of($0), &left) })
  }

  /// As much of the end as fits.
  package static func suffix(_ text: String, _ width: Int) -> String {
    var left = width
    return String(text.reversed().prefix { take(TextWidth.of($0), &left) }.reversed())
  }

  private static func take(_ width: Int, _ left: inout Int) -> Bool {
    left -= width
    return left >= 0
  }
}
