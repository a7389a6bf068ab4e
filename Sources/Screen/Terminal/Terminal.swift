/// A screen with a keyboard; everything of it happens on the main actor.
@MainActor
package protocol Terminal: AnyObject {
  var size: Size { get }

  /// Takes the screen over; input arrives at `receive` until `close`. Throws what keeps the screen from being had.
  func open(_ receive: @escaping @MainActor (TerminalInput) -> Void) throws

  /// Shows a frame of exactly `size`, writing only what differs from the one before.
  func present(_ frame: Frame)

  /// Forgets what is on the screen, so that the next frame is written whole.
  func invalidate()

  /// The window's title.
  func setTitle(_ title: String)

  /// The mark on the window or its tab (OSC 9;4): 0 ... 100, nil for none; `failed` colours it.
  func setProgress(_ percent: Int?, failed: Bool)

  /// Puts text on the clipboard of the person's terminal (OSC 52).
  func copy(_ text: String)

  /// Takes the mouse or leaves it to the terminal; before `open` it says what `open` does.
  func setMouse(_ enabled: Bool)

  /// Tells the person that something is over, as they want to be told.
  func notify(_ notice: EndNotice, _ text: String)

  /// Gives the terminal back to the shell and stops the process; returns when it goes on, with the screen taken over again.
  func suspend()

  /// Restores the terminal. Further calls do nothing.
  func close()
}

package enum TerminalInput: Sendable, Hashable {
  case key(Key)
  case mouse(MouseEvent)
  /// Text pasted as one, in terminals that tell.
  case paste(String)
  case resized(Size)
  /// The terminal has said what it draws on.
  case background(ScreenTraits.Background)
  /// The terminal has gone: nobody can see or type any more.
  case closed
}
