/// What a person did at the keyboard.
package enum Key: Sendable, Hashable {
  /// A printable grapheme, as typed: `a`, `G`, `/`, `é`.
  case character(Character)
  /// Ctrl with a lower-case letter: `control("d")`.
  case control(Character)
  /// 1 ... 12.
  case function(Int)
  case up
  case down
  case left
  case right
  case pageUp
  case pageDown
  case home
  case end
  case enter
  case escape
  case tab
  case backTab
  case backspace
  case delete
}

/// What a person did with the mouse; `x` and `y` are cells from 0.
package struct MouseEvent: Sendable, Hashable {
  package enum Action: Sendable, Hashable, CaseIterable {
    /// The left button went down.
    case click
    /// It went down for the second time in one place.
    case doubleClick
    /// The pointer is in another cell, the button still down.
    case drag
    case release
    case wheelUp
    case wheelDown
  }

  package var action: Action
  package var x: Int
  package var y: Int

  package init(_ action: Action, x: Int, y: Int) {
    self.action = action
    self.x = x
    self.y = y
  }
}
