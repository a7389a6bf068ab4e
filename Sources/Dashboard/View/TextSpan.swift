import Screen

/// Text in one style; the panes build their lines from it.
struct TextSpan: Equatable {
  var text: String
  var style: Style

  init(_ text: String, _ style: Style = .plain) {
    self.text = text
    self.style = style
  }

  static func blanks(_ count: Int) -> TextSpan { TextSpan(String(repeating: " ", count: max(0, count))) }

  var width: Int { TextWidth.of(text) }
}

extension [TextSpan] {
  var width: Int { reduce(0) { $0 + $1.width } }

  /// The spans within `room` cells; the last that is shown is elided if there are more.
  func fitted(to room: Int, _ elision: Elision) -> [TextSpan] {
    guard width > room else { return self }
    var fitted: [TextSpan] = []
    var left = room
    for span in self {
      guard span.width >= left else {
        fitted.append(span)
        left -= span.width
        continue
      }
      // The blank makes it too long, so that it is marked as elided.
      fitted.append(TextSpan(elision.end(span.text + " ", to: left), span.style))
      break
    }
    return fitted
  }
}

extension [[TextSpan]] {
  /// The lines with the lines of `right` beside them, from cell `x` on.
  func beside(_ right: [[TextSpan]], at x: Int) -> [[TextSpan]] {
    (0..<Swift.max(count, right.count)).map { row in
      let line = row < count ? self[row] : []
      return row < right.count ? line + [.blanks(x - line.width)] + right[row] : line
    }
  }
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

  /// Writes the lines from `top` on; if more than fit, their place is at the right of the first.
  mutating func putPage(_ lines: [[TextSpan]], from top: Int, _ area: Rect, _ theme: Theme) {
    guard area.height > 0 else { return }
    let place = lines.count > area.height ? "\(min(lines.count, top + area.height))/\(lines.count)" : ""
    for (offset, line) in lines.dropFirst(top).prefix(area.height).enumerated() {
      let taken = offset == 0 && !place.isEmpty ? place.count + 2 : 0
      let shown = taken > 0 ? line.fitted(to: area.width - 2 - taken, theme.elision) : line
      put(shown, x: area.x + 1, y: area.y + offset, limit: area.width - 2)
    }
    put(place, endingAt: area.maxX - 1, y: area.y, style: theme.dim)
  }

  /// Writes `text` right-aligned; its last cell is the one before `end`.
  mutating func put(_ text: String, endingAt end: Int, y: Int, style: Style = .plain) {
    put(text, x: end - TextWidth.of(text), y: y, style: style)
  }
}
