import CTerminal

/// The terminal of a program that was killed.
package enum CrashedTerminal {
  /// Returns a function that restores the terminal that this program shows something on when it is killed.
  ///
  /// To be called in a process that is forked from now on, once this program has ended; it makes system calls only.
  package static func restorer() -> @convention(c) () -> Void {
    terminal_guard_share()
    return terminal_guard_restore_killed
  }
}
