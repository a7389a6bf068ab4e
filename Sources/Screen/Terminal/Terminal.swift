/// A screen with a keyboard.
@MainActor
package protocol Terminal: AnyObject {
  var size: Size { get }

  /// Takes over the screen; `receive` gets the input until `close`. Throws if the screen can't be used.
  func open(_ receive: @escaping @MainActor (TerminalInput) -> Void) throws

  /// Shows a frame of exactly `size`, writing only the difference to the one before.
  func present(_ frame: Frame)

  /// Has the next frame written whole.
  func invalidate()

  func setTitle(_ title: TerminalText)

  /// Sets the progress mark of the window or tab (OSC 9;4): 0 ... 100, nil for none; `failed` colors it.
  func setProgress(_ percent: Int?, failed: Bool)

  /// Copies text to the clipboard of the terminal (OSC 52).
  func copy(_ text: TerminalText)

  /// Turns mouse reports on or off; before `open`, for when it opens.
  func setMouse(_ enabled: Bool)

  /// Announces the end of the run by `notice`.
  func notify(_ notice: EndNotice, _ text: TerminalText)

  /// Returns the terminal to the shell and stops the process; takes over the screen again when the process continues.
  func suspend()

  /// Restores the terminal. Further calls do nothing.
  func close()
}

package enum TerminalInput: Sendable, Hashable {
  case key(Key)
  /// A key with Alt, or one that follows Escape at once.
  case alt(Key)
  case mouse(MouseEvent)
  /// Pasted text, in terminals with bracketed paste.
  case paste(String)
  case resized(Size)
  /// The terminal's answer about its background.
  case background(ScreenTraits.Background)
  /// The terminal is gone.
  case closed
}

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

/// When the dashboard stays open after the last job has ended; the raw values are the words of `--keep-open`.
package enum KeepOpen: String, Sendable, CaseIterable {
  /// Stays if a job failed that was not allowed to, or if a person cancelled one that can be retried.
  case onFailure = "on-failure"
  case always
  case never
}

/// How the end of the run is announced; the raw values are the words of `--notify` and the settings file.
package enum EndNotice: String, Sendable, CaseIterable {
  case none
  /// The terminal's bell.
  case bell
  /// A desktop notification (OSC 9), in terminals that have them.
  case message
}
