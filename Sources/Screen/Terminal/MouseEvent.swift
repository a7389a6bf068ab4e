/// A mouse action; `x` and `y` are cells from 0.
package struct MouseEvent: Sendable, Hashable {
  package enum Action: Sendable, Hashable, CaseIterable {
    /// The left button went down.
    case click
    /// The left button went down for the second time in the same cell.
    case doubleClick
    /// The pointer moved to another cell with the button down.
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
