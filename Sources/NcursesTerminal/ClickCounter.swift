import Screen

/// Recognizes double clicks.
package struct ClickCounter: Sendable {
  private var last: (x: Int, y: Int, at: Duration)?

  package init() {}

  /// Handles a button press at `now` on any monotonic clock.
  ///
  /// The first press of a double click is reported as a click at once.
  package mutating func press(x: Int, y: Int, at now: Duration) -> MouseEvent {
    if let last, last.x == x, last.y == y, now - last.at < Self.longest {
      self.last = nil
      return MouseEvent(.doubleClick, x: x, y: y)
    }
    last = (x, y, now)
    return MouseEvent(.click, x: x, y: y)
  }

  private static let longest = Duration.milliseconds(400)
}
