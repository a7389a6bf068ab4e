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
