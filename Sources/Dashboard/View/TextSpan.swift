import Screen

/// Text in one style; the panes build their lines from it.
struct TextSpan: Equatable {
  var text: String
  var style: Style

  init(_ text: String, _ style: Style = .plain) {
    self.text = text
    self.style = style
  }
}

extension [TextSpan] {
  var width: Int { reduce(0) { $0 + TextWidth.of($1.text) } }
}

extension Frame {
  /// Writes spans one after the other within `limit` cells; returns the number of cells used.
  @discardableResult
  mutating func put(_ spans: [TextSpan], x: Int, y: Int, limit: Int = .max) -> Int {
    var used = 0
    for span in spans where used < limit {
      used += put(span.text, x: x + used, y: y, limit: limit - used, style: span.style)
    }
    return used
  }

  /// Writes `text` right-aligned; its last cell is the one before `end`.
  mutating func put(_ text: String, endingAt end: Int, y: Int, style: Style = .plain) {
    put(text, x: end - TextWidth.of(text), y: y, style: style)
  }
}
