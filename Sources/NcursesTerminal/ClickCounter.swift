import Screen

/// Tells a double click from two clicks.
package struct ClickCounter: Sendable {
  private var last: (x: Int, y: Int, at: Duration)?

  package init() {}

  /// A button went down at `now` on any steady clock.
  ///
  /// The first of a double click is a click as well: nobody waits.
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
